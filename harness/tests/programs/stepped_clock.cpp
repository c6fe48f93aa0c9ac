// The wall clock as somebody sets it all the time: forward two hours, back one. Linked into a hak
// of the tests; durations that came from it would be hours or negative.
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace {

time_t step() {
  static long calls = 0;
  return ++calls % 2 == 0 ? -3600 : 7200;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long status = syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += step();
  return static_cast<int>(status);
}

extern "C" time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
