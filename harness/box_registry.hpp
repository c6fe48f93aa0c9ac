// The registry of boxes as the harness uses it: look-up by ENV name, legal combinations, listing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "boxes/registry.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {

/// Value of each box by ENV name.
using BoxValues = std::map<std::string, std::int64_t>;

/// The box with that ENV name or id, or null.
const boxes::NamedBox* find_box(std::string_view name);

/// ENV names of all boxes, in registry order.
std::vector<std::string> box_names();

const char* kind_name(boxes::Kind kind);
const char* status_name(boxes::Status status);

/// Default of every box.
BoxValues default_values();

/// True where the box is "on" in the sense of excludes and requires: a switch that is not 0, a
/// number away from its default.
bool is_on(const boxes::Box& box, std::int64_t value);

/// Why this combination is not allowed (a box excludes another, or requires one that is off), or
/// "" where it is.
std::string combination_problem(const BoxValues& values);

/// What to say where the lab library of this build has no variant for the values of the shape and
/// boot boxes, or "" where it has.
std::string missing_variant(const BoxValues& values);

/// All boxes, each an object with `id` and the fields of boxes::Box; lists for excludes and
/// requires_ids.
Json boxes_json();

/// The page docs/boxes.md.
std::string boxes_markdown();

/// A table for a terminal.
std::string boxes_table();

}  // namespace hakmem::harness
