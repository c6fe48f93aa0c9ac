#include "harness/callgrind.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/files.hpp"
#include "harness/spawner.hpp"
#include "harness/text.hpp"
#include "harness/under_tool.hpp"

namespace hakmem::harness {

namespace {

// callgrind's word for code outside .text, where our hot code lies.
constexpr std::string_view kNoFile = "???";

/// What the C library's allocator is made of; its other functions are not the allocator's.
bool is_libc_malloc(std::string_view name) {
  for (const char* const part : {"malloc", "free", "calloc", "realloc", "memalign", "tcache",
                                 "unlink_chunk", "systrim", "arena_get", "heap_trim", "ptmalloc"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// malloc, free or new: the function itself, or a lab variant's (hakmem_NAME_malloc).
std::string entry_of(std::string_view name) {
  if (name.starts_with("operator new")) return "new";
  for (const std::string word : {"malloc", "free", "new"}) {
    const bool other = name == "__libc_" + word || name == "mi_" + word || name == "je_" + word ||
                       name == "tc_" + word;
    const bool variant = name.starts_with("hakmem_") && name.ends_with("_" + word);
    if (name == word || other || variant || (word == "free" && name == "cfree")) return word;
  }
  return {};
}

/// The number at the start of `text`, decimal or 0x…; what it read is cut off.
std::uint64_t take_number(std::string_view* text) {
  const std::string word(text->substr(0, text->find(' ')));
  text->remove_prefix(std::min(text->size(), word.size() + 1));
  return std::strtoull(word.c_str(), nullptr, 0);
}

class Reader {
 public:
  explicit Reader(const std::string& library) : library_(base_of(library)) {}

  CallCounts read(std::string_view text) {
    bool known = false;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      known = known || line.starts_with("events: Ir");
      take(line);
    }
    if (!known) counts_.problem = "callgrind wrote no counts";
    return finish();
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("0x")) return take_cost(line);
    if (line.starts_with("calls=")) inclusive_ = true;
    if (line.starts_with("ob=")) object_ = base_of(std::string(line.substr(3)));
    if (!line.starts_with("fn=")) return;
    const std::string_view name = line.substr(3);
    // The levels of a recursion (name'2) are one function.
    name_ = std::string(name.substr(0, name.find('\'')));
  }

  void take_cost(std::string_view line) {
    if (std::exchange(inclusive_, false)) return;  // of what was called
    const std::uint64_t address = take_number(&line);
    take_number(&line);  // the source line
    const std::uint64_t cost = take_number(&line);
    counts_.instructions += cost;
    if (is_allocators()) functions_[name_][address] += cost;
  }

  [[nodiscard]] bool is_allocators() const {
    if (library_.empty()) return object_.starts_with("libc.so") && is_libc_malloc(name_);
    // Without a file: only our own hot section has a name there.
    return object_ == library_ || (object_ == kNoFile && name_ != kNoFile);
  }

  CallCounts finish() {
    for (auto& [name, addresses] : functions_) {
      CountedFunction& function = counts_.functions.emplace_back();
      function.name = name;
      function.entry = entry_of(name);
      const std::uint64_t first = addresses.begin()->first;
      function.entries = addresses.begin()->second;
      for (const auto& [address, cost] : addresses) {
        function.executions[address - first] = cost;
        function.instructions += cost;
      }
      std::uint64_t* const calls = function.entry == "malloc" ? &counts_.mallocs
                                   : function.entry == "free" ? &counts_.frees
                                                              : nullptr;
      // A lab's entry jumps to a variant: one call, two functions.
      if (calls != nullptr) *calls = std::max(*calls, function.entries);
    }
    std::stable_sort(counts_.functions.begin(), counts_.functions.end(),
                     [](const auto& a, const auto& b) { return a.instructions > b.instructions; });
    return std::move(counts_);
  }

  std::string library_, object_, name_;
  bool inclusive_ = false;
  std::map<std::string, Executions> functions_;  ///< by name, at addresses
  CallCounts counts_;
};

std::optional<double> per_call(const CallCounts& counts, const std::string& entry,
                               std::uint64_t calls) {
  if (calls == 0) return std::nullopt;
  std::uint64_t sum = 0;
  for (const CountedFunction& function : counts.functions) {
    if (function.entry == entry) sum += function.instructions;
  }
  return static_cast<double>(sum) / static_cast<double>(calls);
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::optional<double> CallCounts::per_malloc() const { return per_call(*this, "malloc", mallocs); }
std::optional<double> CallCounts::per_free() const { return per_call(*this, "free", frees); }
std::optional<double> CallCounts::slow_per_op() const {
  return per_call(*this, "", mallocs + frees);
}

std::string callgrind_refusal() {
  const ToolResult version = run_tool({"valgrind", "--version"}, {}, 20, false);
  return version.status == 0 ? "" : "valgrind is not installed; type: apt-get install valgrind";
}

CallCounts read_callgrind(const std::string& text, const std::string& library) {
  return Reader(library).read(text);
}

CallCounts count_calls(const RunRequest& request, const std::string& library,
                       const std::string& folder) {
  CallCounts counts;
  const std::string file = folder + "/callgrind.out";
  const ProcessResult ran =
      run_process(under_tool(request, {"valgrind", "--tool=callgrind", "--dump-instr=yes",
                                       "--quiet", "--trace-children=yes", "--compress-strings=no",
                                       "--compress-pos=no", "--callgrind-out-file=" + file}));
  const std::string text = read_file(file).value_or("");
  unlink(file.c_str());
  if (ran.ending != Ending::exited) {
    counts.problem = "callgrind: " + ran.detail;
  } else if (ran.exit_code != 0) {
    const std::vector<std::string> said = split(trim(ran.err), '\n');
    counts.problem = "callgrind ended with exit code " + std::to_string(ran.exit_code) +
                     (said.empty() ? "" : " (" + to_utf8(said.back()) + ")");
  } else {
    counts = read_callgrind(text, library);
  }
  counts.record = ran.out;
  return counts;
}

Json counts_json(const CallCounts& counts) {
  if (!counts.problem.empty()) return {{"problem", counts.problem}};
  Json functions = Json::array();
  for (const CountedFunction& function : counts.functions) {
    Json& entry = functions.emplace_back(Json{{"name", function.name},
                                              {"entry", function.entry},
                                              {"instructions", function.instructions},
                                              {"entries", function.entries}});
    if (!function.entry.empty()) entry["executions"] = function.executions;
  }
  return {{"instructions", counts.instructions},
          {"mallocs", counts.mallocs},
          {"frees", counts.frees},
          {"per_malloc", number_or_null(counts.per_malloc())},
          {"per_free", number_or_null(counts.per_free())},
          {"slow_per_op", number_or_null(counts.slow_per_op())},
          {"functions", functions}};
}

}  // namespace hakmem::harness
