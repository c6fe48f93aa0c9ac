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

/// True for letters, digits, '.', '_' and '-', not beginning with '.' or '-'.
bool is_plain_name(const std::string& name);

}  // namespace hakmem::harness
