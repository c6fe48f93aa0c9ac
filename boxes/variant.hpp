// The box set of the variant that is being compiled: constants, so that the hot code tests no flag.
//
// meson compiles core/front/hot.cpp once per variant with
//   -DHAKMEM_VARIANT=name                   name of the variant, a namespace
//   -DHAKMEM_VARIANT_FLIPS=Id::a,Id::b      shape and boot boxes that differ from the default
#pragma once

#include "boxes/registry.hpp"

namespace hakmem::boxes {

#ifdef HAKMEM_VARIANT_FLIPS
inline constexpr Id kFlips[] = {HAKMEM_VARIANT_FLIPS};
inline constexpr std::size_t kFlipCount = sizeof(kFlips) / sizeof(kFlips[0]);
#else
inline constexpr const Id* kFlips = nullptr;
inline constexpr std::size_t kFlipCount = 0;
#endif

/// Whether a shape or boot box is on in this variant.
consteval bool on(Id id) {
  if (static_cast<std::size_t>(id) >= kBoxCount) return false;
  bool value = box(id).default_value != 0;
  for (std::size_t i = 0; i < kFlipCount; ++i) value ^= kFlips[i] == id;
  return value;
}

}  // namespace hakmem::boxes
