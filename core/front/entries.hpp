// Which variant serves. In the lab library malloc, free and new jump through slots in the sealed
// page.
#pragma once

#include "base/types.hpp"

namespace hakmem {

struct VariantEntries {
  const char* name;
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*operator_new)(std::size_t);
  bool c7_ultra;  ///< sizes 513…1024 are of the C7 class
};

/// Chooses the variant that the effective boxes ask for, fills the slots, and says so when there is
/// none. In libhakmem.so: names the only one.
void select_variant();

#ifdef HAKMEM_LAB
/// Fills the slots for the effective boxes. False, with the slots as they were, where this build
/// has no such variant. The sealed page must be writable.
bool find_variant();
#endif

/// Whether this library holds more than the default variant.
extern const bool has_variants;
extern const char* const library_name;

/// Route code of a size up to kMaxTiny in the selected variant.
std::uint8_t tiny_code(std::size_t size);

}  // namespace hakmem
