// A preloaded malloc with one fault, to prove that hakbench catches it. BROKEN_MALLOC says which:
//   twice    a block is handed out to two owners
//   overlap  a block begins in the last 8 bytes of another one
//   head, middle, tail  one byte of a live block changes
//   misalign a block is 8 bytes off
//   null     a call fails
// Some thousand calls into the run, one block becomes the victim; the fault comes at the call that
// follows, if the victim still lives then.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void __libc_free(void* block);

namespace {

constexpr unsigned kFirstCall = 5000;
constexpr std::size_t kLeast = 64;
constexpr std::size_t kRoom = 16384;  // behind the victim, so that an overlap breaks only blocks

std::atomic<unsigned> calls{0};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
char* victim = nullptr;
std::size_t victim_size = 0;
char* handed_out = nullptr;  // what no true free may see
bool done = false;

bool is(const char* fault) {
  const char* wanted = std::getenv("BROKEN_MALLOC");
  return wanted != nullptr && std::strcmp(wanted, fault) == 0;
}

void flip(std::size_t offset) { victim[offset] = static_cast<char>(victim[offset] ^ 1); }

void* break_it(std::size_t size) {
  done = true;
  if (is("null")) return nullptr;
  if (is("twice")) return handed_out = victim;
  if (is("overlap")) return handed_out = victim + victim_size - 8;
  if (is("misalign")) return handed_out = static_cast<char*>(__libc_malloc(size + 8)) + 8;
  if (is("head")) flip(0);
  if (is("middle")) flip(victim_size / 2);
  if (is("tail")) flip(victim_size - 1);
  return __libc_malloc(size);
}

void* choose(std::size_t size) {
  if (done || size < kLeast || size > kRoom / 2) return __libc_malloc(size);
  if (victim != nullptr) return break_it(size);
  victim = static_cast<char*>(__libc_malloc(size + kRoom));
  victim_size = size;
  return victim;
}

void lock() {
  while (busy.test_and_set(std::memory_order_acquire)) {
  }
}
void unlock() { busy.clear(std::memory_order_release); }

}  // namespace

extern "C" [[gnu::visibility("default")]] void* malloc(std::size_t size) {
  if (calls.fetch_add(1, std::memory_order_relaxed) < kFirstCall) return __libc_malloc(size);
  lock();
  void* block = choose(size);
  unlock();
  return block;
}

extern "C" [[gnu::visibility("default")]] void free(void* block) {
  lock();
  const bool true_block = block == nullptr || block != handed_out;
  if (block == victim && !done) victim = nullptr;
  unlock();
  if (true_block) __libc_free(block);
}
