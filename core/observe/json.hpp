// JSON into a text buffer.
#pragma once

#include "base/text.hpp"

namespace hakmem {

/// An object: writes `"key": ` with a comma before all but the first.
class Object {
 public:
  explicit Object(Text& out) : out_(out) { out_.add('{'); }
  ~Object() { out_.add('}'); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Text& key(const char* name) {
    if (!first_) out_.add(", ");
    first_ = false;
    return out_.add('"').add(name).add("\": ");
  }
  void text(const char* name, const char* value) { key(name).add('"').add(value).add('"'); }
  void number(const char* name, std::uint64_t value) { key(name).add(value); }

 private:
  Text& out_;
  bool first_ = true;
};

}  // namespace hakmem
