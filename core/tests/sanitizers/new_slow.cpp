// Stands in for api/operator_new.cpp in the sanitizer programs, whose operator new is the
// sanitizer's.
#include "front/slow.hpp"

namespace hakmem {

void* new_slow(std::size_t size) { return malloc_slow(size); }

}  // namespace hakmem
