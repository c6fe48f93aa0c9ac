// Parts of text without std::string_view::substr, whose range check would need libstdc++.
#pragma once

#include <algorithm>
#include <string_view>

namespace hakbench {

/// At most the first `count` characters; npos: all.
constexpr std::string_view first_of(std::string_view text, std::size_t count) {
  return {text.data(), std::min(count, text.size())};
}

/// What stands behind position `index`; nothing where that is the end or npos.
constexpr std::string_view behind(std::string_view text, std::size_t index) {
  if (index >= text.size()) return {};
  return {text.data() + index + 1, text.size() - index - 1};
}

}  // namespace hakbench
