// hakmem_thread_paths: a slow path counts for the thread that took it, a fast path for nobody.
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

#include "statistics.hpp"

namespace {

hakmem_paths paths() {
  static auto* read = preloaded<void(hakmem_paths*)>("hakmem_thread_paths");
  hakmem_paths now{};
  read(&now);
  return now;
}

/// What the calling thread did since a reading.
struct Difference {
  explicit Difference(const hakmem_paths& before) {
    const hakmem_paths now = paths();
    CHECK(now.front == before.front);
    refills = now.refills - before.refills;
    remote = now.remote - before.remote;
    slabs = now.slabs - before.slabs;
    purges = now.purges - before.purges;
    system_calls = now.system_calls - before.system_calls;
  }
  std::uint64_t refills, remote, slabs, purges, system_calls;
};

constexpr int kBlocks = 5000;
void* blocks[kBlocks];

void take_all(std::size_t size) {
  for (void*& p : blocks) p = malloc(opaque(size));
}

void* give_all(void*) {
  for (void* p : blocks) free(p);
  return nullptr;
}

void in_thread(void* (*body)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
}

void fast_paths_count_nothing() {
  for (const std::size_t size : Sizes{1, 64, 700, 1000}) {
    free(malloc(opaque(size)));
    const hakmem_paths before = paths();
    for (int i = 0; i < 10; ++i) free(malloc(opaque(size)));
    const Difference did(before);
    CHECK((did.refills | did.remote | did.slabs | did.purges | did.system_calls) == 0);
  }
}

void refills_trims_and_slabs() {
  const hakmem_paths before = paths();
  take_all(200);
  const Difference took(before);
  CHECK(took.refills > 0 && took.slabs > 0 && took.remote == 0);
  const hakmem_paths between = paths();
  give_all(nullptr);
  const Difference gave(between);
  CHECK(gave.refills > 0 && gave.slabs > 0 && gave.remote == 0);
}

void large_blocks() {
  const hakmem_paths before = paths();
  void* run = malloc(opaque<std::size_t>(200'000));
  const Difference took(before);
  CHECK(took.slabs == 1 && took.refills == 0);
  const hakmem_paths between = paths();
  void* mapping = malloc(opaque<std::size_t>(64 << 20));
  const Difference mapped(between);
  CHECK(mapped.slabs == 1 && mapped.system_calls > 0);
  free(run);
  free(mapping);
}

void purges() {
  free(malloc(opaque<std::size_t>(200'000)));
  take_all(3000);
  give_all(nullptr);
  const hakmem_paths before = paths();
  // Where pages go back at once there may be nothing left.
  const int gave = malloc_trim(0);
  const Difference did(before);
  CHECK(did.purges == static_cast<std::uint64_t>(gave) && did.system_calls >= did.purges);
}

void* give_from_afar(void*) {
  free(malloc(opaque<std::size_t>(1)));  // now it has a front
  const hakmem_paths before = paths();
  give_all(nullptr);
  CHECK(Difference(before).remote > 0);
  return nullptr;
}

void remote_frees() {
  take_all(32);
  const hakmem_paths before = paths();
  in_thread(give_from_afar);
  CHECK(Difference(before).remote == 0);
  take_all(32);
  CHECK(Difference(before).remote > 0);
  give_all(nullptr);
}

std::uint64_t front_of_first;

void* work(void*) {
  const hakmem_paths none = paths();
  CHECK((none.front | none.refills | none.remote | none.slabs | none.purges) == 0);
  free(malloc(opaque<std::size_t>(100)));
  const hakmem_paths one = paths();
  CHECK(one.front != 0 && one.refills > 0);
  CHECK(front_of_first == 0 || one.front == front_of_first);
  front_of_first = one.front;
  take_all(100);
  give_all(nullptr);
  CHECK(Difference(one).refills > 10);
  return nullptr;
}

/// The second thread takes the first one's front over, with its counts.
void threads_have_fronts() {
  in_thread(work);
  in_thread(work);
}

void child_of_fork_counts_on() {
  const hakmem_paths before = paths();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(paths().refills >= before.refills);
    take_all(300);
    CHECK(Difference(before).refills > 0);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

constexpr Case kCases[] = {{"fast_paths_count_nothing", fast_paths_count_nothing},
                           {"refills_trims_and_slabs", refills_trims_and_slabs},
                           {"large_blocks", large_blocks},
                           {"purges", purges},
                           {"remote_frees", remote_frees},
                           {"threads_have_fronts", threads_have_fronts},
                           {"child_of_fork_counts_on", child_of_fork_counts_on}};

}  // namespace

int main(int argc, char** argv) {
  free(malloc(opaque<std::size_t>(1)));
  return run_cases(argc, argv, kCases);
}
