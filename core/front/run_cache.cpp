#include "front/run_cache.hpp"

namespace hakmem {

void release_runs(Front& front, std::uint32_t length, std::uint32_t most) {
  RunCache& cache = front.run_cache;
  Slab** link = &cache.runs[length - 1];
  for (std::uint32_t i = 0; i < most && *link != nullptr; ++i) link = &(*link)->next;
  Slab* record = *link;
  *link = nullptr;
  while (record != nullptr) {
    Slab* next = record->next;
    --cache.count[length - 1];
    cache.slices -= length;
    arena_release(record, length);
    record = next;
  }
  cache.fewest[length - 1] = cache.count[length - 1];
}

void release_idle_runs(Front& front, std::uint32_t length) {
  const RunCache& cache = front.run_cache;
  release_runs(front, length, cache.count[length - 1] - cache.fewest[length - 1]);
}

}  // namespace hakmem
