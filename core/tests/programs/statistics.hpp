// hakmem.h of the preloaded library, found at run time.
#pragma once

#include <dlfcn.h>

#include "api/hakmem.h"
#include "check.hpp"

template <class Fn>
Fn* preloaded(const char* name) {
  auto* fn = reinterpret_cast<Fn*>(dlsym(RTLD_DEFAULT, name));
  if (fn == nullptr) dprintf(STDERR_FILENO, "no symbol %s\n", name);
  CHECK(fn != nullptr);
  return fn;
}

inline hakmem_stats statistics() {
  static auto* get = preloaded<void(hakmem_stats*)>("hakmem_get_stats");
  hakmem_stats stats{};
  get(&stats);
  return stats;
}
