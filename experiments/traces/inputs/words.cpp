// Templates and containers, as in many a small program.
#include <vector>

struct Word {
  const char* text;
  int length;
};

std::vector<std::vector<Word>> by_length(const std::vector<Word>& words) {
  std::vector<std::vector<Word>> groups;
  for (const Word& word : words) {
    const auto length = static_cast<std::size_t>(word.length);
    if (groups.size() <= length) groups.resize(length + 1);
    groups[length].push_back(word);
  }
  return groups;
}
