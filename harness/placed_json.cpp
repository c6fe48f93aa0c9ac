#include "harness/placed_json.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "harness/errors.hpp"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace hakmem::harness {

namespace {

constexpr std::size_t kDeepest = 32;  // objects and lists within one another

/// Feeds the parser and tells the handler how far it has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *progress_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** progress_;
};

/// Builds the value; one frame for each open object or array.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(PlacedJson* result, std::string_view text) : result_(result), text_(text) {
    progress_ = text.data();
  }

  const char** progress() { return &progress_; }

  bool null() override { return put(nullptr, 0); }
  bool boolean(bool value) override { return put(value, 0); }
  bool number_integer(number_integer_t value) override { return put(value, 1); }
  bool number_unsigned(number_unsigned_t value) override { return put(value, 1); }
  bool number_float(number_float_t value, const string_t&) override { return put(value, 1); }
  bool string(string_t& value) override { return put(value, 0); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return shut(); }
  bool end_array() override { return shut(); }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    const std::string path = child_path(frame.path, name);
    if (frame.value->contains(name)) {
      throw Failure(Exit::usage, result_->file + ":" + std::to_string(line(0)) + ": " + path +
                                     ": this key stands here twice (first on line " +
                                     std::to_string(result_->lines[path]) + ")");
    }
    frame.key = name;
    result_->lines[path] = line(0);
    (*frame.value)[name] = nullptr;
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    std::string message = error.what();
    const std::size_t column = message.find("column ");
    const std::size_t start = message.find(": ", column == std::string::npos ? 0 : column);
    if (start != std::string::npos) message.erase(0, start + 2);
    std::replace(message.begin(), message.end(), '\n', ' ');
    throw Failure(Exit::usage,
                  result_->file + ":" + std::to_string(line(1)) + ": not JSON: " + message);
  }

 private:
  struct Frame {
    Json* value;
    std::string path;
    std::string key;  ///< of the member being read, in an object
  };

  /// Line of the character read last but `back`: the lexer reads one past a number.
  [[nodiscard]] int line(std::ptrdiff_t back) const {
    const char* const end = std::max(text_.data(), progress_ - back);
    return static_cast<int>(std::count(text_.data(), end, '\n')) + 1;
  }

  Json* place(Json value, std::ptrdiff_t back, std::string* path) {
    if (frames_.empty()) {
      result_->lines[""] = line(back);
      result_->value = std::move(value);
      return &result_->value;
    }
    Frame& frame = frames_.back();
    if (frame.value->is_array()) {
      *path = child_path(frame.path, frame.value->size());
      result_->lines[*path] = line(back);
      frame.value->push_back(std::move(value));
      return &frame.value->back();
    }
    *path = child_path(frame.path, frame.key);
    Json& member = (*frame.value)[frame.key];
    member = std::move(value);
    return &member;
  }

  bool put(Json value, std::ptrdiff_t back) {
    std::string path;
    place(std::move(value), back, &path);
    return true;
  }

  bool open(Json value) {
    if (frames_.size() == kDeepest) {
      throw Failure(Exit::usage, result_->file + ":" + std::to_string(line(0)) +
                                     ": not an experiment: nested too deeply");
    }
    std::string path;
    Json* const here = place(std::move(value), 0, &path);
    frames_.push_back({here, path, {}});
    return true;
  }

  bool shut() {
    frames_.pop_back();
    return true;
  }

  PlacedJson* result_;
  std::string_view text_;
  const char* progress_;
  std::vector<Frame> frames_;
};

}  // namespace

std::string PlacedJson::complaint(const std::string& path, const std::string& message) const {
  std::string nearest = path;  // a missing key has no line: its parent's is the nearest
  while (!nearest.empty() && !lines.contains(nearest)) {
    const std::size_t cut = nearest.find_last_of(".[");
    nearest = cut == std::string::npos ? std::string() : nearest.substr(0, cut);
  }
  const auto place = lines.find(nearest);
  const std::string line = place == lines.end() ? "" : ":" + std::to_string(place->second);
  return file + line + ": " + (path.empty() ? "" : path + ": ") + message;
}

PlacedJson parse_placed(const std::string& file, std::string_view text) {
  PlacedJson result;
  result.file = file;
  Builder builder(&result, text);
  const CountingIterator first(text.data(), builder.progress());
  const CountingIterator last(text.data() + text.size(), builder.progress());
  Json::sax_parse(first, last, &builder, Json::input_format_t::json, true, true);
  return result;
}

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string child_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace hakmem::harness
