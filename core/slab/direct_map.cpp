#include "slab/direct_map.hpp"

#include "base/lock.hpp"
#include "os/memory.hpp"

namespace hakmem {

namespace {

struct Entry {
  std::uintptr_t start;  ///< 0: never used; kDeleted: free again
  std::size_t size;
  std::uintptr_t mapping;  ///< where the mapping itself begins (at or before start)
};

constexpr std::uintptr_t kDeleted = 1;
constexpr std::size_t kFirstCapacity = 64;

Entry first_table[kFirstCapacity];
Entry* table = first_table;
std::size_t capacity = kFirstCapacity;
std::size_t occupied;  // live and deleted
std::size_t live;
std::size_t live_bytes;

Lock& map_lock() { return lock_of(Rank::direct_map); }

std::size_t slot_of(std::uintptr_t start) {
  return (start / kPageSize) * 0x9E3779B97F4A7C15ULL >> 20 & (capacity - 1);
}

Entry* find(std::uintptr_t start) {
  for (std::size_t i = slot_of(start);; i = (i + 1) & (capacity - 1)) {
    if (table[i].start == start) return &table[i];
    if (table[i].start == 0) return nullptr;
  }
}

void put(const Entry& entry) {
  std::size_t i = slot_of(entry.start);
  while (table[i].start > kDeleted) i = (i + 1) & (capacity - 1);
  if (table[i].start == 0) ++occupied;
  table[i] = entry;
}

/// Keeps the table under half full. False when the system has no memory for a larger one.
bool make_room() {
  if (occupied * 2 < capacity) return true;
  const std::size_t old_capacity = capacity;
  const std::size_t new_capacity = live * 4 > capacity ? capacity * 2 : capacity;
  auto* fresh = static_cast<Entry*>(os::map(align_up(new_capacity * sizeof(Entry), kPageSize)));
  if (fresh == nullptr) return false;
  Entry* old = table;
  table = fresh;
  capacity = new_capacity;
  occupied = 0;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].start > kDeleted) put(old[i]);
  }
  if (old != first_table) os::unmap(old, align_up(old_capacity * sizeof(Entry), kPageSize));
  return true;
}

bool insert(const Entry& entry) {
  if (!make_room()) return false;
  put(entry);
  ++live;
  live_bytes += entry.size;
  return true;
}

void erase(Entry* entry) {
  --live;
  live_bytes -= entry->size;
  entry->start = kDeleted;
}

}  // namespace

void* direct_alloc(std::size_t size, std::size_t alignment) {
  const std::size_t slack = alignment > kPageSize ? alignment : 0;
  if (size > PTRDIFF_MAX - slack - kPageSize) return nullptr;
  const std::size_t mapped = align_up(size, kPageSize) + slack;
  void* mapping = os::map(mapped);
  if (mapping == nullptr) return nullptr;
  const std::uintptr_t start =
      slack != 0 ? align_up(address(mapping), alignment) : address(mapping);
  const Entry entry{start, address(mapping) + mapped - start, address(mapping)};
  Guard guard(map_lock());
  if (insert(entry)) return pointer(start);
  os::unmap(mapping, mapped);
  return nullptr;
}

std::size_t direct_size(const void* p) {
  Guard guard(map_lock());
  const Entry* entry = address(p) > kDeleted ? find(address(p)) : nullptr;
  return entry != nullptr ? entry->size : 0;
}

bool direct_free(void* p) {
  Entry found;
  {
    Guard guard(map_lock());
    Entry* entry = address(p) > kDeleted ? find(address(p)) : nullptr;
    if (entry == nullptr) return false;
    found = *entry;
    erase(entry);
  }
  os::unmap(pointer(found.mapping), found.start + found.size - found.mapping);
  return true;
}

void* direct_realloc(void* p, std::size_t size) {
  if (size > PTRDIFF_MAX - kPageSize) return nullptr;
  Guard guard(map_lock());
  Entry* entry = find(address(p));
  const Entry old = *entry;
  const std::size_t lead = old.start - old.mapping;
  const std::size_t wanted = align_up(size, kPageSize);
  if (!make_room()) return nullptr;
  void* mapping = os::remap(pointer(old.mapping), lead + old.size, lead + wanted);
  if (mapping == nullptr) return nullptr;
  erase(find(address(p)));
  const Entry moved{address(mapping) + lead, wanted, address(mapping)};
  put(moved);
  ++live;
  live_bytes += wanted;
  return pointer(moved.start);
}

DirectUsage direct_usage() {
  Guard guard(map_lock());
  return {live, live_bytes};
}

DirectUsage direct_usage_unlocked() { return {live, live_bytes}; }

}  // namespace hakmem
