// HAKMEM_ variables that are no boxes.
#pragma once

#include "base/types.hpp"

namespace hakmem::boxes {

/// Sets the option whose name is the first `n` bytes of `name`. False when there is none; else
/// `complaint` is null, or says what is wrong with the value and what is done instead.
bool set_option(const char* name, std::size_t n, const char* value, const char** complaint);

/// Name of the i-th option; null behind the last.
const char* option_name(std::size_t i);

template <class Fn>
void for_option_names(Fn fn) {
  for (std::size_t i = 0; option_name(i) != nullptr; ++i) fn(option_name(i));
}

bool starts_with(const char* text, const char* prefix);
std::size_t length(const char* s);

/// Decimal integer with optional sign, the whole of it. False on anything else.
bool parse_integer(const char* text, std::int64_t& value);

}  // namespace hakmem::boxes
