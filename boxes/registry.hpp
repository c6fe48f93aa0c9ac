// The registry of boxes, as types: what a box is, and the table that boxes.def fills.
//
// boxes.def is the only list. Everything else (ENV parser, `hak boxes`, docs/boxes.md, the
// declarations in core/) is made from the constants in this header, by the allocator, which
// has no libstdc++, and by the harness alike: keep it free of anything that needs a runtime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakmem::boxes {

/// What a box changes, and so how it is selected (docs/design/boxes.md).
enum class Kind : std::uint8_t {
  data,   ///< a number written once at start-up
  slow,   ///< a decision on a slow path, read from the sealed page
  shape,  ///< code of the fast path: its own variant of the hot translation unit
  boot,   ///< memory layout, fixed at the first allocation; implies a shape
};

enum class Status : std::uint8_t { default_on, research, archived };

/// One box. Values are integers; a switch is the range 0…1.
struct Box {
  const char* env;  ///< ENV name, begins with HAKMEM_
  Kind kind;
  std::int64_t minimum;        ///< smallest legal value
  std::int64_t maximum;        ///< largest legal value
  std::int64_t default_value;  ///< `hak promote` edits this, nothing else does
  const char* unit;            ///< "" for a switch
  Status status;
  const char* phase;              ///< the experiment that decides it
  const char* hypothesis;         ///< one sentence
  const char* excludes = "";      ///< blank-separated ids that must not be on as well
  const char* requires_ids = "";  ///< blank-separated ids that must be on as well
  bool live = false;              ///< can be switched in a running process
  const char* expiry = "";        ///< YYYY-MM-DD; a research box is decided or gone by then
  const char* profile = "";       ///< the only build profile that has the box; "" for all
  const char* brittle = "";  ///< what the box does not guard against, unlike the default; "" else
  const char* counter = "";  ///< what its use count counts; "" for shapes (observe build)
};

struct NamedBox {
  const char* id;
  Box box;
};

/// What the allocator need not know stays out of its libraries: text for people.
constexpr Box stored(Box box) {
#ifdef HAKMEM_CORE
  // Not even a relocation.
  box.unit = box.phase = box.hypothesis = box.expiry = box.brittle = nullptr;
#endif
  return box;
}

inline constexpr NamedBox kBoxes[] = {
#define HAKMEM_BOX(id, ...) {#id, stored(Box{__VA_ARGS__})},
#include "boxes/boxes.def"
#undef HAKMEM_BOX
};

inline constexpr std::size_t kBoxCount = sizeof(kBoxes) / sizeof(kBoxes[0]);

/// Index of each box in kBoxes: Id::refill_batch, …
enum class Id : std::uint8_t {
#define HAKMEM_BOX(id, ...) id,
#include "boxes/boxes.def"
#undef HAKMEM_BOX
#ifdef HAKMEM_WITHOUT
  HAKMEM_WITHOUT,  // boxes that boxes/compliance.py left out: the source names them, no table does
#endif
};

/// What is known of the boxes in HAKMEM_WITHOUT.
inline constexpr Box kLeftOut{};

constexpr const Box& box(Id id) {
  const auto i = static_cast<std::size_t>(id);
  return i < kBoxCount ? kBoxes[i].box : kLeftOut;
}

}  // namespace hakmem::boxes
