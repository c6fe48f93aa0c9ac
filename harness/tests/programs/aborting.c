/* A preloaded library under which no program gets as far as main. */
#include <stdlib.h>

__attribute__((constructor)) static void end_here(void) { abort(); }
