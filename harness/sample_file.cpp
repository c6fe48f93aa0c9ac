#include "harness/sample_file.hpp"

#include <optional>
#include <set>
#include <tuple>

#include "harness/errors.hpp"

namespace hakmem::harness {

namespace {

bool is_count(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned();
}

bool is_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string();
}

/// Why a value is no sample that this program could have written, or "".
std::string sample_problem(const Json& value) {
  if (value.is_discarded()) return "is not JSON";
  if (!value.is_object()) return "is not a sample";
  if (!is_count(value, "format")) return "has no format";
  if (value["format"].get<std::uint64_t>() > 1) {
    return "has format " + value["format"].dump() + ", which a newer hak wrote";
  }
  for (const char* const key : {"cell", "arm", "status"}) {
    if (!is_text(value, key)) return std::string("has no ") + key;
  }
  for (const char* const key : {"block", "slot", "attempt"}) {
    if (!is_count(value, key)) return std::string("has no ") + key;
  }
  return {};
}

[[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& problem) {
  throw Failure(Exit::usage, file + ":" + std::to_string(line) + ": this line " + problem +
                                 "; the file is damaged, restore or remove that line");
}

}  // namespace

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SampleText parse_samples(const std::string& file, std::string_view text) {
  SampleText result;
  std::set<std::tuple<std::string, std::string, unsigned, unsigned>> seen;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      result.dropped_bytes = text.size();
      break;
    }
    ++number;
    Json value = Json::parse(text.substr(0, end), nullptr, false);
    const std::string problem = sample_problem(value);
    if (!problem.empty()) refuse(file, number, problem);
    const auto key =
        std::make_tuple(value["cell"].get<std::string>(), value["arm"].get<std::string>(),
                        value["block"].get<unsigned>(), value["attempt"].get<unsigned>());
    if (!seen.insert(key).second) refuse(file, number, "repeats a run that an earlier line holds");
    result.samples.push_back(std::move(value));
    result.valid_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  return result;
}

SampleFile::SampleFile(const std::string& path, std::string* warning) : file_(path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw Failure(Exit::io, path + ": cannot read");
  SampleText parsed = parse_samples(path, *text);
  samples_ = std::move(parsed.samples);
  if (parsed.dropped_bytes == 0) return;
  *warning = path + ": the last line was cut short; its " + std::to_string(parsed.dropped_bytes) +
             " bytes are dropped and the run is repeated";
  file_.replace(text->substr(0, parsed.valid_bytes));
}

void SampleFile::append(Json sample) {
  file_.append(json_line(sample));
  samples_.push_back(std::move(sample));
}

void SampleFile::void_attempt(const std::string& cell, unsigned block, unsigned attempt,
                              const std::string& reason) {
  bool changed = false;
  std::string text;
  for (Json& sample : samples_) {
    const bool mine =
        sample["cell"] == cell && sample["block"] == block && sample["attempt"] == attempt;
    if (mine && sample["void"] != reason) {
      sample["void"] = reason;
      changed = true;
    }
    text += json_line(sample) + "\n";
  }
  if (changed) file_.replace(text);
}

}  // namespace hakmem::harness
