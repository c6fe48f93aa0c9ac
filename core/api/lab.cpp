// hakmem_lab.h: the lab library's control of live boxes.
#include "api/hakmem_lab.h"
#include "boxes/state.hpp"
#include "front/entries.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "observe/stats.hpp"
#include "os/memory.hpp"

#define HAK_API extern "C" [[gnu::visibility("default")]]

using namespace hakmem;

namespace {

/// The sealed page, writable for as long as the object lives.
class Unsealed {
 public:
  Unsealed() : open_(os::commit(&sealed, sizeof sealed)) {}
  ~Unsealed() { os::protect_read_only(&sealed, sizeof sealed); }
  Unsealed(const Unsealed&) = delete;
  Unsealed& operator=(const Unsealed&) = delete;
  explicit operator bool() const { return open_; }

 private:
  bool open_;
};

}  // namespace

HAK_API int hakmem_lab_set_box(const char* env, int64_t value) {
  ensure_ready();
  const std::size_t i = boxes::find_by_env(env);
  if (i == boxes::kBoxCount) return -1;
  const boxes::Box& box = boxes::kBoxes[i].box;
  if (!box.live || value < box.minimum || value > box.maximum) return -1;
  const Unsealed page;
  if (!page) return -1;
  sealed.box_value[i] = value;
  return 0;
}

HAK_API int hakmem_lab_apply(void) {
  ensure_ready();
  const Unsealed page;
  return page && find_variant() ? 0 : -1;
}

HAK_API void hakmem_lab_flush(void) {
  Front* front = this_front;
  if (is_stub(front)) return;
  flush_all(*front);
  drain(*front);
}

HAK_API uint64_t hakmem_lab_uses(const char* env) {
  const std::size_t i = boxes::find_by_env(env);
  return i == boxes::kBoxCount ? 0 : total_uses(i);
}

HAK_API const char* hakmem_lab_variant(void) {
  ensure_ready();
  return sealed.variant;
}
