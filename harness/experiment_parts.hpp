// The two larger parts of reading an experiment; experiment.cpp puts them together.
#pragma once

#include <string>
#include <vector>

#include "harness/checker.hpp"
#include "harness/experiment.hpp"

namespace hakmem::harness {

/// Expands box/values or arms, base_env and references into arms, checks their boxes.
void read_arms(const Checker& check, const Json& root, const Places& places,
               Experiment* experiment);

/// Expands workloads and their lists of parameters into cells, one of them primary.
void read_cells(const Checker& check, const Json& root, Experiment* experiment);

/// Adds mimalloc as a reference of a few blocks of the primary cell, so that a report can say where
/// an arm of ours stands against it. Does nothing where the file names its references, an arm is
/// mimalloc already, or none is ours. Gives why it is not there, "" where nothing is to be said.
std::string add_quoted_peer(const Places& places, unsigned blocks, Experiment* experiment);

/// A library from NAME=PATH of the command line: {"name", "library"}; PATH may be a name of
/// library_names(). Paths start where the user stands, not at the repository. Throws
/// Failure(usage).
Json library_argument(const std::string& text);

/// True for letters, digits, '.', '_' and '-', not beginning with '.' or '-'.
bool is_plain_name(const std::string& name);

}  // namespace hakmem::harness
