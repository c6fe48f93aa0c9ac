// From arguments to Options, and what is said about wrong ones.
#include <unistd.h>

#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/nearest.hpp"
#include "harness/hakbench/options.hpp"
#include "harness/hakbench/split.hpp"
#include "harness/hakbench/text.hpp"
#include "harness/hakbench/trace_file.hpp"

namespace hakbench {

namespace {

constexpr double kLongestSeconds = 86400;

/// One line on stderr made of the parts, then the end.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  Text text(STDERR_FILENO);
  text << "hakbench: ";
  (text << ... << parts) << '\n';
  text.flush();
  _exit(kExitUsage);
}

bool parse_whole(std::string_view text, std::uint64_t& value) {
  if (text.empty()) return false;
  value = 0;
  for (char character : text) {
    if (character < '0' || character > '9') return false;
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(character - '0'), &value)) {
      return false;
    }
  }
  return true;
}

bool parse_seconds(std::string_view text, double& value) {
  const std::size_t point = text.find('.');
  std::uint64_t whole = 0;
  if (!parse_whole(first_of(text, point), whole)) return false;
  value = static_cast<double>(whole);
  if (point != std::string_view::npos) {
    const std::string_view digits = behind(text, point);
    std::uint64_t fraction = 0;
    if (!parse_whole(digits, fraction)) return false;
    double scale = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
    value += static_cast<double>(fraction) / scale;
  }
  return value <= kLongestSeconds;
}

bool parse_word(const Parameter& parameter, std::string_view text, std::uint64_t& value) {
  std::string_view rest = parameter.words;
  for (value = parameter.min; !rest.empty(); ++value) {
    const std::size_t bar = rest.find('|');
    if (first_of(rest, bar) == text) return true;
    rest = behind(rest, bar);
  }
  return false;
}

class Parser {
 public:
  Parser(const Workload& workload, int count, const char* const* arguments)
      : workload_(workload), options_(workload), count_(count), arguments_(arguments) {}

  Options parse() {
    while (next_ < count_) {
      const std::string_view argument = arguments_[next_++];
      if (argument.starts_with("--")) {
        named(behind(argument, 1));
      } else {
        positional(argument);
      }
    }
    settle();
    return options_;
  }

 private:
  void named(std::string_view argument) {
    const std::size_t equals = argument.find('=');
    const std::string_view name = first_of(argument, equals);
    const bool attached = equals != std::string_view::npos;
    if (name == "min-seconds" || name == "slices-seconds") {
      const double value = seconds(name, attached ? behind(argument, equals) : value_of(name));
      name == "min-seconds" ? options_.set_min_seconds(value) : options_.set_slices_seconds(value);
      return;
    }
    if (name == "slices") {
      options_.set_slices(attached ? behind(argument, equals) : value_of(name));
      return;
    }
    if (name == "file" && workload_.reads_file) {
      const std::string_view file = attached ? behind(argument, equals) : value_of(name);
      options_.set_file(file.data());
      return;
    }
    const Parameter* parameter = find_parameter(workload_, name);
    if (parameter == nullptr) unknown(name);
    if (attached) {
      assign(*parameter, behind(argument, equals));
    } else if (is_switch(*parameter) && !switch_value_follows()) {
      options_.set(name, 1);
    } else {
      assign(*parameter, value_of(name));
    }
  }

  static bool is_switch(const Parameter& parameter) {
    return parameter.min == 0 && parameter.max == 1 && parameter.words.empty();
  }

  bool switch_value_follows() const {
    if (next_ == count_) return false;
    const std::string_view following = arguments_[next_];
    return following == "0" || following == "1";
  }

  std::string_view value_of(std::string_view name) {
    if (next_ == count_) refuse("--", name, " needs a value");
    return arguments_[next_++];
  }

  void positional(std::string_view argument) {
    if (workload_.reads_file && options_.file() == nullptr) {
      options_.set_file(argument.data());
      return;
    }
    if (positional_ == workload_.positional.size()) {
      refuse(workload_.name, ": what is ", argument, "? Parameters are given as --name value");
    }
    assign(*find_parameter(workload_, workload_.positional[positional_++]), argument);
  }

  void assign(const Parameter& parameter, std::string_view text) {
    std::uint64_t value = 0;
    if (!parse_word(parameter, text, value) && !parse_whole(text, value)) {
      if (!parameter.words.empty()) {
        refuse(workload_.name, ": --", parameter.name, " ", text, " is none of ", parameter.words);
      }
      refuse(workload_.name, ": --", parameter.name, " ", text, " is not a whole number");
    }
    if (value < parameter.min || value > parameter.max) {
      refuse(workload_.name, ": --", parameter.name, " ", text, " is not within ", parameter.min,
             " and ", parameter.max);
    }
    options_.set(parameter.name, value);
  }

  double seconds(std::string_view name, std::string_view text) const {
    double value = 0;
    if (!parse_seconds(text, value)) {
      refuse("--", name, " ", text, " is not a number of seconds between 0 and 86400");
    }
    return value;
  }

  [[noreturn]] void unknown(std::string_view name) const {
    Nearest nearest(name);
    for (const char* option : {"min-seconds", "slices", "slices-seconds"}) nearest.offer(option);
    for (const Parameter& parameter : workload_.parameters) nearest.offer(parameter.name);
    for (const Parameter& parameter : kCommonParameters) nearest.offer(parameter.name);
    refuse(workload_.name, " has no parameter --", name, "; the nearest is --", nearest.best());
  }

  /// What one parameter says about another.
  void settle() {
    if (workload_.reads_file) settle_file();
    if (!options_.slices().empty() && options_["latency"] != 0) {
      refuse("--latency does not go with --slices: one histogram holds both sides");
    }
    if (options_["size"] != 0) {
      options_.set("min", options_["size"]);
      options_.set("max", options_["size"]);
    }
    if (options_["min"] > options_["max"]) refuse(workload_.name, ": --min is above --max");
    for (const char* name : {"ring", "min_align", "max_align"}) {
      const std::uint64_t value = options_[name];
      if ((value & (value - 1)) != 0) refuse("--", name, " ", value, " is not a power of two");
    }
    if (options_["min_align"] > options_["max_align"]) {
      refuse(workload_.name, ": --min_align is above --max_align");
    }
  }

  void settle_file() {
    if (options_.file() == nullptr) {
      refuse(workload_.name, " needs the file that it replays: hakbench ", workload_.name, " FILE");
    }
    const unsigned recorded = recorded_threads(options_.file());
    const std::uint64_t asked = options_["threads"];
    options_.set("threads", asked == 0 || asked > recorded ? recorded : asked);
  }

  const Workload& workload_;
  Options options_;
  int count_;
  const char* const* arguments_;
  int next_ = 0;
  std::size_t positional_ = 0;
};

}  // namespace

Options parse_options(const Workload& workload, int count, const char* const* arguments) {
  return Parser(workload, count, arguments).parse();
}

const Workload& require_workload(std::string_view name) {
  const Workload* workload = find_workload(name);
  if (workload != nullptr) return *workload;
  Nearest nearest(name);
  for (const Workload& known : kCatalogue) nearest.offer(known.name);
  refuse("no workload ", name, "; the nearest is ", nearest.best(),
         " (hakbench list shows all of them)");
}

}  // namespace hakbench
