// Checks of the debug profile: every free is of a block's start, once; freed memory is poisoned.
#pragma once

#include "base/types.hpp"

namespace hakmem {

/// Aborts unless `p` is the start of a small block that is out of its slab and not free; poisons
/// it.
void debug_check_free(void* p);

/// Fills a block that is handed out, so that reads of uninitialised memory show.
void debug_fill(void* p);

}  // namespace hakmem
