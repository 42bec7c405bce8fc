// Reading JSON so that every refusal names the file, the JSON pointer and the reason.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

using Json = nlohmann::ordered_json;

// Parses a whole document. Refuses (InputError): malformed or truncated text (with line and column), NaN
// and numbers that overflow a double, duplicate keys in one object (with the pointer), nesting over
// 64 levels, trailing text. `file` is only for messages.
Json parse_json(std::string_view text, const std::string& file);

// A value and where it stands. Cheap to copy; refers to a document that must outlive it.
class JsonCursor {
 public:
  JsonCursor(const Json& value, std::string file, std::string pointer = {})
      : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

  [[nodiscard]] const Json& value() const { return *value_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

  // Throws InputError(file, pointer, reason).
  [[noreturn]] void refuse(const std::string& reason) const;

  // An object with no keys but these; a key of none of them is refused, the nearest offered.
  void expect_object(std::initializer_list<std::string_view> known_keys) const;
  [[nodiscard]] bool has(std::string_view key) const;
  // Member `key` of an object; refused when it is missing.
  [[nodiscard]] JsonCursor at(std::string_view key) const;
  // Elements of an array; refused when it is none.
  [[nodiscard]] std::vector<JsonCursor> elements() const;

  // Typed reads; each refuses another type ("expected a string, got a number").
  [[nodiscard]] std::string string() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;          // finite
  [[nodiscard]] std::uint64_t unsigned_integer() const;  // whole, not negative

 private:
  const Json* value_;
  std::string file_;
  std::string pointer_;
};

}  // namespace espalier
