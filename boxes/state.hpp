// The effective value of every box in this process, and where the ENV is turned into it.
#pragma once

#include "base/sealed.hpp"
#include "boxes/registry.hpp"

namespace hakmem::boxes {

static_assert(kBoxCount <= kMaxBoxes);

/// Effective value; constant after start-up.
HAK_INLINE std::int64_t value_of(Id id) {
  const auto i = static_cast<std::size_t>(id);
  return i < kBoxCount ? sealed.box_value[i] : 0;  // the test is of two constants
}

/// Index of the box with this ENV name; kBoxCount when there is none.
std::size_t find_by_env(const char* env);

/// Whether the environment has any HAKMEM_* variable at all.
bool any_variable();

/// Reads HAKMEM_* from the environment into the sealed page, says what is wrong on stderr, one line
/// each, and stops the process (status 78) where HAKMEM_STRICT=1. Ignored in privileged processes.
/// `has_variants`: whether this library can serve other than the default shapes.
void read_environment(bool has_variants);

/// True when the effective shape and boot boxes differ from the defaults exactly in `flips`.
bool shapes_match(const Id* flips, std::size_t count);

/// Resets shape and boot boxes to the default, saying that `reason`. Used when no variant fits.
void refuse_shapes(const char* reason);

}  // namespace hakmem::boxes
