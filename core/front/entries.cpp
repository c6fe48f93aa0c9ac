// Compiled once for each library: which variants there are, and which one serves.
#include "front/entries.hpp"

#include "base/sealed.hpp"
#include "base/size_classes.hpp"
#include "boxes/state.hpp"
#include "front/header_byte.hpp"
#include "front/slow.hpp"

namespace hakmem {

namespace {

constexpr std::uint8_t default_code(std::size_t size) {
  return static_cast<std::uint8_t>(route_code(class_of(size)));
}

#ifdef HAKMEM_LAB
bool serves_c7_ultra;
#endif

}  // namespace

#ifdef HAKMEM_LAB

using boxes::Id;

#define HAKMEM_VARIANT_ENTRY(name, ...) extern const VariantEntries variant_##name;
#include "variants.inc"
#undef HAKMEM_VARIANT_ENTRY

const bool has_variants = true;
const char* const library_name = "lab";

bool find_variant() {
  const VariantEntries* chosen = nullptr;
#define HAKMEM_VARIANT_ENTRY(name, ...)                                   \
  if (chosen == nullptr) {                                                \
    constexpr Id flips[] = {Id::refill_batch __VA_OPT__(, ) __VA_ARGS__}; \
    constexpr std::size_t count = sizeof flips / sizeof flips[0] - 1;     \
    if (boxes::shapes_match(flips + 1, count)) chosen = &variant_##name;  \
  }
#include "variants.inc"
#undef HAKMEM_VARIANT_ENTRY
  if (chosen == nullptr) return false;
  __atomic_store_n(&sealed.entry_malloc, chosen->malloc, __ATOMIC_RELEASE);
  __atomic_store_n(&sealed.entry_free, chosen->free, __ATOMIC_RELEASE);
  __atomic_store_n(&sealed.entry_new, chosen->operator_new, __ATOMIC_RELEASE);
  sealed.variant = chosen->name;
  serves_c7_ultra = chosen->c7_ultra;
  return true;
}

void select_variant() {
  if (find_variant()) return;
  boxes::refuse_shapes("this build has no variant for the combination (see boxes/combos.def)");
  find_variant();
}

std::uint8_t tiny_code(std::size_t size) {
  // `hak new box` puts the calls of boot boxes here.
  if (serves_c7_ultra && size > kMaxTiny / 2) {
    return static_cast<std::uint8_t>(route_code(kC7UltraClass));
  }
  return default_code(serves_headers() && size < kSmallestHeaded ? kSmallestHeaded : size);
}

namespace {

// Until start-up the slots lead here.
void* first_malloc(std::size_t size) {
  ensure_ready();
  return sealed.entry_malloc(size);
}

void first_free(void* p) {
  ensure_ready();
  sealed.entry_free(p);
}

void* first_new(std::size_t size) {
  ensure_ready();
  return sealed.entry_new(size);
}

}  // namespace

Sealed sealed = {.entry_malloc = first_malloc, .entry_free = first_free, .entry_new = first_new};

// The only thing that the lab adds to a call: one jump. The slots change once, when the first calls
// of two threads may meet, and where hakmem_lab_apply() is called.
#define HAK_SLOT(name) __atomic_load_n(&sealed.entry_##name, __ATOMIC_RELAXED)
extern "C" {
[[gnu::visibility("default")]] void* malloc(std::size_t size) { return HAK_SLOT(malloc)(size); }
[[gnu::visibility("default")]] void free(void* p) { return HAK_SLOT(free)(p); }
[[gnu::visibility("default")]] void* _Znwm(std::size_t size) { return HAK_SLOT(new)(size); }
}
#undef HAK_SLOT

#else

Sealed sealed{};
const bool has_variants = false;
const char* const library_name = "standard";

void select_variant() { sealed.variant = "baseline"; }

std::uint8_t tiny_code(std::size_t size) { return default_code(size); }

#endif

}  // namespace hakmem
