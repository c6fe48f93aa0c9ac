// HAKMEM_STATS: statistics by class, the balance, and what is still out at exit, as text or JSON.
#pragma once

#include "base/text.hpp"

namespace hakmem {

enum class StatsFormat : std::uint8_t { none, text, json };

/// Appends the statistics; JSON is one line without its end. `event` says why they are written.
/// Takes no lock and allocates nothing: may be called from a signal handler.
void write_statistics(Text& out, StatsFormat format, const char* event);

/// Writes what HAKMEM_STATS and HAKMEM_LEAK_REPORT ask for.
void statistics_at_exit();

/// Installs the handlers of SIGABRT and of HAKMEM_STATS_SIGNAL; once, at start-up.
void watch_signals();

}  // namespace hakmem
