// The effective value of every box in this process, and where the ENV is turned into it.
#pragma once

#include "base/sealed.hpp"
#include "boxes/registry.hpp"

namespace hakmem::boxes {

static_assert(kBoxCount <= kMaxBoxes);

/// Whether this library can set the box: libhakmem.so holds no code of research boxes.
HAK_INLINE constexpr bool is_here(const Box& box) {
  return kLab || box.status == Status::default_on;
}

/// Effective value; constant after start-up, and the default where the box is not here.
HAK_INLINE std::int64_t value_of(Id id) {
  const auto i = static_cast<std::size_t>(id);
  if (i >= kBoxCount) return 0;  // the test is of two constants
  return is_here(box(id)) ? sealed.box_value[i] : box(id).default_value;
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

/// Resets shape and boot boxes, and those that are not here, to the default, saying that `reason`.
/// Used when no variant fits.
void refuse_shapes(const char* reason);

}  // namespace hakmem::boxes
