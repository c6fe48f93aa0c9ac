// The report of a process: what ran, with which boxes, and what it did. One line of JSON.
#pragma once

#include "base/text.hpp"

namespace hakmem {

/// Appends the report, without the line's end. `event` says why it is written.
void write_report(Text& out, const char* event);

}  // namespace hakmem
