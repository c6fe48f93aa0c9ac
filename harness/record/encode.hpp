// From what the preload library wrote to a trace.
#pragma once

#include <cstdint>
#include <string>

namespace hakmem::record {

struct Encoded {
  std::string bytes;  ///< the whole file, header included
  std::uint64_t events = 0;
  std::uint32_t threads = 0;
};

/// Encodes the chunks of one process. Events of threads that were still writing are kept as far as
/// they are whole. Throws Failure where there are more threads or live blocks than a trace can
/// hold.
Encoded encode(const std::string& raw);

}  // namespace hakmem::record
