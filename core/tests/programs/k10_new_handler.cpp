// Kind 10: operator new when memory is out, and afterwards. Where memory has to run out, the
// process is started with an RLIMIT_AS of 256 MiB.
#include <sys/resource.h>

#include <new>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t kImpossible = SIZE_MAX / 2 - 4096;
int calls;

/// Gives up by taking itself away at the third call.
void third_call_gives_up() {
  if (++calls == 3) std::set_new_handler(nullptr);
}

void throwing_handler() {
  ++calls;
  throw std::bad_alloc();
}

template <class New>
void throws_after_three_calls(New allocate) {
  calls = 0;
  std::set_new_handler(third_call_gives_up);
  bool thrown = false;
  try {
    allocate(opaque(kImpossible));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK(calls == 3);
}

void handler_in_a_loop() {
  throws_after_three_calls([](std::size_t n) { return operator new(n); });
  throws_after_three_calls([](std::size_t n) { return operator new[](n); });
  throws_after_three_calls([](std::size_t n) { return operator new (n, std::align_val_t{64}); });
  throws_after_three_calls([](std::size_t n) { return operator new[](n, std::align_val_t{64}); });
}

template <class New>
void null_after_three_calls(New allocate) {
  calls = 0;
  std::set_new_handler(third_call_gives_up);
  CHECK(allocate(opaque(kImpossible)) == nullptr);
  CHECK(calls == 3);
}

void nothrow_gives_null() {
  using std::nothrow;
  null_after_three_calls([](std::size_t n) { return operator new(n, nothrow); });
  null_after_three_calls([](std::size_t n) { return operator new[](n, nothrow); });
  null_after_three_calls(
      [](std::size_t n) { return operator new (n, std::align_val_t{64}, nothrow); });
  null_after_three_calls(
      [](std::size_t n) { return operator new[](n, std::align_val_t{64}, nothrow); });
}

void handler_that_throws() {
  calls = 0;
  std::set_new_handler(throwing_handler);
  bool thrown = false;
  try {
    operator delete(operator new(opaque(kImpossible)));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown && calls == 1);
  std::set_new_handler(nullptr);
}

/// The standard's nothrow form catches what the handler throws.
void nothrow_with_handler_that_throws() {
  calls = 0;
  std::set_new_handler(throwing_handler);
  CHECK(operator new(opaque(kImpossible), std::nothrow) == nullptr);
  CHECK(operator new[](opaque(kImpossible), std::nothrow) == nullptr);
  CHECK(operator new (opaque(kImpossible), std::align_val_t{64}, std::nothrow) == nullptr);
  CHECK(calls == 3);
  std::set_new_handler(nullptr);
}

void* reserve_block;

void handler_that_frees() {
  ++calls;
  operator delete(reserve_block);
  reserve_block = nullptr;
  std::set_new_handler(nullptr);
}

constexpr std::size_t kLimit = std::size_t{256} << 20;

void address_space_is_limited() {
  struct rlimit limit {};
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(limit.rlim_cur == kLimit);
}

/// All memory is taken in pieces of `size`; then half of it is freed, and as much can be had again.
void exhaust_and_recover(std::size_t size) {
  std::vector<void*> blocks;
  blocks.reserve(kLimit / (size < 64 ? 64 : size));
  try {
    for (;;) blocks.push_back(operator new(opaque(size)));
  } catch (const std::bad_alloc&) {
  }
  CHECK(blocks.size() * size > std::size_t{32} << 20);
  CHECK(operator new(opaque(kLimit / 2), std::nothrow) == nullptr);
  const std::size_t half = blocks.size() / 2;
  for (std::size_t i = half; i < blocks.size(); ++i) operator delete(blocks[i]);
  for (std::size_t i = half; i < half + half * 8 / 10; ++i) {
    blocks[i] = operator new(opaque(size), std::nothrow);
    CHECK(blocks[i] != nullptr);
  }
  for (std::size_t i = 0; i < half + half * 8 / 10; ++i) operator delete(blocks[i]);
}

void recovers_small() {
  address_space_is_limited();
  exhaust_and_recover(200);
}

void recovers_c7() {
  address_space_is_limited();
  exhaust_and_recover(1000);
}

void recovers_medium() {
  address_space_is_limited();
  exhaust_and_recover(20000);
}

void recovers_large() {
  address_space_is_limited();
  exhaust_and_recover(std::size_t{1} << 20);
}

/// One size has taken everything and gives it back: another size can have it.
void recovers_in_other_sizes() {
  address_space_is_limited();
  for (const std::size_t size : Sizes{100, 100000, 1000, 3 << 20, 40}) exhaust_and_recover(size);
}

/// As many blocks as there is room for; the handler gives the last one back.
void handler_frees_and_new_succeeds() {
  address_space_is_limited();
  const std::size_t size = opaque(std::size_t{60} << 20);
  while (void* p = operator new(size, std::nothrow)) reserve_block = p;
  CHECK(reserve_block != nullptr);
  calls = 0;
  std::set_new_handler(handler_that_frees);
  void* p = operator new(size);
  CHECK(p != nullptr && calls == 1);
  operator delete(p);
}

constexpr Case kCases[] = {{"handler_in_a_loop", handler_in_a_loop},
                           {"nothrow_gives_null", nothrow_gives_null},
                           {"handler_that_throws", handler_that_throws},
                           {"nothrow_with_handler_that_throws", nothrow_with_handler_that_throws},
                           {"recovers_small", recovers_small},
                           {"recovers_c7", recovers_c7},
                           {"recovers_medium", recovers_medium},
                           {"recovers_large", recovers_large},
                           {"recovers_in_other_sizes", recovers_in_other_sizes},
                           {"handler_frees_and_new_succeeds", handler_frees_and_new_succeeds}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
