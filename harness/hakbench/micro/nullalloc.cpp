// libnullalloc.so: the least that a malloc can do, as a physical limit to compare with.
//
// malloc pops from a thread's list of its class, free pushes; nothing is checked, counted, or given
// back. A block has no header: each class owns a region of the address space, so its class is its
// address shifted. Blocks freed by another thread join that thread's lists. A thread that ends
// leaves its lists to whoever refills next. Not for use: it never returns memory.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kSmallStep = 16;
constexpr std::size_t kSmallMax = 1024;
constexpr unsigned kSmallClasses = kSmallMax / kSmallStep + 1;  // class 0: size 0
constexpr unsigned kBigClasses = 15;  // 2 KiB to 32 MiB by doubling; above that, direct mappings
constexpr unsigned kClasses = kSmallClasses + kBigClasses;
constexpr unsigned kRegionShift = 35;
constexpr std::size_t kRegion = std::size_t{1} << kRegionShift;
constexpr std::size_t kMax = kSmallMax << kBigClasses;
constexpr std::size_t kCarve = 4096;  // least bytes carved at once
constexpr std::size_t kPage = 4096;

struct Free {
  Free* next;
  Free* next_list;  // in the first block of a list that was left behind
};
static_assert(sizeof(Free) <= kSmallStep);

struct Thread {
  Free* lists[kClasses];
  bool registered;
};

[[gnu::tls_model("initial-exec")]] thread_local constinit Thread tls{};

std::atomic<char*> arena{nullptr};
std::atomic<std::size_t> carved[kClasses];
pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
Free* left_lists[kClasses];
pthread_key_t exit_key;
pthread_once_t once = PTHREAD_ONCE_INIT;

constexpr unsigned class_of(std::size_t size) {
  if (size <= kSmallMax) [[likely]] {
    return static_cast<unsigned>((size + kSmallStep - 1) / kSmallStep);
  }
  return kSmallClasses + static_cast<unsigned>(63 - std::countl_zero((size - 1) / kSmallMax));
}

constexpr std::size_t size_of(unsigned cls) {
  if (cls < kSmallClasses) return cls == 0 ? kSmallStep : cls * kSmallStep;
  return kSmallMax << (cls - kSmallClasses + 1);
}
static_assert(size_of(class_of(0)) >= 1 && size_of(class_of(kSmallMax)) == kSmallMax);
static_assert(size_of(class_of(kSmallMax + 1)) == 2 * kSmallMax);
static_assert(class_of(kMax) == kClasses - 1 && size_of(kClasses - 1) == kMax);

void leave_lists(void*) {
  pthread_mutex_lock(&left_lock);
  for (unsigned cls = 0; cls < kClasses; ++cls) {
    if (tls.lists[cls] == nullptr) continue;
    tls.lists[cls]->next_list = left_lists[cls];
    left_lists[cls] = tls.lists[cls];
    tls.lists[cls] = nullptr;
  }
  tls.registered = false;
  pthread_mutex_unlock(&left_lock);
}

void start() {
  void* base = mmap(nullptr, kRegion * (kClasses + 1), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) __builtin_trap();
  pthread_key_create(&exit_key, leave_lists);
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  // Regions begin at the same cache set: start each class at another one.
  for (unsigned cls = 0; cls < kSmallClasses; ++cls) carved[cls] = 5 * cls * size_of(cls);
  arena.store(reinterpret_cast<char*>((address + kRegion - 1) & ~(kRegion - 1)));
}

Free* take_left_list(unsigned cls) {
  pthread_mutex_lock(&left_lock);
  Free* list = left_lists[cls];
  if (list != nullptr) left_lists[cls] = list->next_list;
  pthread_mutex_unlock(&left_lock);
  return list;
}

/// A list of fresh blocks, or null where the region is used up.
Free* carve(unsigned cls) {
  const std::size_t size = size_of(cls);
  const std::size_t bytes = size > kCarve ? size : kCarve;
  const std::size_t offset = carved[cls].fetch_add(bytes, std::memory_order_relaxed);
  if (offset + bytes > kRegion) return nullptr;
  char* first = arena.load(std::memory_order_relaxed) + cls * kRegion + offset;
  Free* list = nullptr;
  for (std::size_t i = bytes / size; i-- > 0;) {
    auto* block = reinterpret_cast<Free*>(first + i * size);
    block->next = list;
    list = block;
  }
  return list;
}

[[gnu::noinline]] void* refill(unsigned cls) {
  pthread_once(&once, start);
  if (!tls.registered) {
    tls.registered = true;
    pthread_setspecific(exit_key, &tls);
  }
  Free* list = take_left_list(cls);
  if (list == nullptr) list = carve(cls);
  if (list == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  tls.lists[cls] = list->next;
  return list;
}

/// Above kMax: a mapping, with its length in a page before the block.
[[gnu::noinline]] void* map_direct(std::size_t size) {
  const std::size_t length = (size + 2 * kPage - 1) & ~(kPage - 1);
  void* base = size > PTRDIFF_MAX ? MAP_FAILED
                                  : mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    errno = ENOMEM;
    return nullptr;
  }
  *static_cast<std::size_t*>(base) = length;
  return static_cast<char*>(base) + kPage;
}

std::size_t region_of(const void* block) {
  return (reinterpret_cast<std::uintptr_t>(block) -
          reinterpret_cast<std::uintptr_t>(arena.load(std::memory_order_relaxed))) >>
         kRegionShift;
}

[[gnu::noinline]] void free_direct(void* block) {
  if (block == nullptr) return;
  char* base = static_cast<char*>(block) - kPage;
  munmap(base, *reinterpret_cast<std::size_t*>(base));
}

std::size_t usable(const void* block) {
  const std::size_t cls = region_of(block);
  if (cls < kClasses) return size_of(static_cast<unsigned>(cls));
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - kPage) - kPage;
}

/// Blocks of a power of two are aligned to their size.
void* align(std::size_t alignment, std::size_t size) {
  const std::size_t least = size > alignment ? size : alignment;
  if (least > kMax) {
    errno = ENOMEM;
    return nullptr;
  }
  return malloc(std::bit_ceil(least));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  if (size > kMax) [[unlikely]] {
    return map_direct(size);
  }
  const unsigned cls = class_of(size);
  Free* block = tls.lists[cls];
  if (block == nullptr) [[unlikely]] {
    return refill(cls);
  }
  tls.lists[cls] = block->next;
  return block;
}

[[gnu::visibility("default")]] void free(void* pointer) {
  const std::size_t cls = region_of(pointer);
  if (cls >= kClasses) [[unlikely]] {
    free_direct(pointer);
    return;
  }
  auto* block = static_cast<Free*>(pointer);
  block->next = tls.lists[cls];
  tls.lists[cls] = block;
}

[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* block = malloc(bytes);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}

[[gnu::visibility("default")]] void* realloc(void* old, std::size_t size) {
  if (old == nullptr) return malloc(size);
  const std::size_t had = usable(old);
  if (size <= had && size > had / 2) return old;
  void* block = malloc(size);
  if (block == nullptr) return nullptr;
  std::memcpy(block, old, had < size ? had : size);
  free(old);
  return block;
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return align(alignment, size);
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t size) {
  return align(alignment, size);
}

[[gnu::visibility("default")]] int posix_memalign(void** result, std::size_t alignment,
                                                  std::size_t size) {
  void* block = align(alignment, size);
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

[[gnu::visibility("default")]] std::size_t malloc_usable_size(void* block) {
  return block == nullptr ? 0 : usable(block);
}
}
