#include "harness/checker.hpp"

#include <algorithm>

#include "harness/errors.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

void Checker::fail(const std::string& path, const std::string& message) const {
  throw Failure(Exit::usage, document_.complaint(path, message));
}

void Checker::keys(const std::string& path, const Json& value,
                   const std::vector<std::string>& known) const {
  if (!value.is_object()) fail(path, "must be an object, not " + shown(value));
  for (const auto& [key, member] : value.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(child_path(path, key), "unknown key" + nearest_hint(key, known));
    }
  }
}

const Json* Checker::find(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const Json& Checker::need(const std::string& path, const Json& object,
                          const std::string& key) const {
  const Json* const value = find(object, key);
  if (value == nullptr) fail(path, "the key \"" + key + "\" is missing");
  return *value;
}

std::string Checker::line(const std::string& path, const Json& value) const {
  if (!value.is_string()) fail(path, "must be a text, not " + shown(value));
  std::string text = value.get<std::string>();
  if (trim(text).empty()) fail(path, "must not be empty");
  if (text.find_first_of(std::string("\n\r\0", 3)) != std::string::npos) {
    fail(path, "must be one line");
  }
  return text;
}

std::string Checker::word(const std::string& path, const Json& value,
                          const std::vector<std::string>& known) const {
  std::string text = line(path, value);
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    fail(path, "\"" + text + "\" is not one of " + join(known, ", ") + nearest_hint(text, known));
  }
  return text;
}

double Checker::number(const std::string& path, const Json& value, double least,
                       double most) const {
  if (!value.is_number()) fail(path, "must be a number, not " + shown(value));
  const double result = value.get<double>();
  if (!(result >= least && result <= most)) {
    fail(path, shown(value) + " is outside " + shown(least) + " to " + shown(most));
  }
  return result;
}

std::uint64_t Checker::whole(const std::string& path, const Json& value, std::uint64_t least,
                             std::uint64_t most) const {
  if (!value.is_number_unsigned()) {
    fail(path, "must be a whole number from " + std::to_string(least) + ", not " + shown(value));
  }
  const std::uint64_t result = value.get<std::uint64_t>();
  if (result < least || result > most) {
    fail(path,
         shown(value) + " is outside " + std::to_string(least) + " to " + std::to_string(most));
  }
  return result;
}

bool Checker::boolean(const std::string& path, const Json& value) const {
  if (!value.is_boolean()) fail(path, "must be true or false, not " + shown(value));
  return value.get<bool>();
}

const Json& Checker::list(const std::string& path, const Json& value, std::size_t least) const {
  if (!value.is_array()) fail(path, "must be a list, not " + shown(value));
  if (value.size() < least) {
    fail(path, "must have at least " + std::to_string(least) + " member" + (least > 1 ? "s" : ""));
  }
  return value;
}

}  // namespace hakmem::harness
