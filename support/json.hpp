// Reads JSON so that every error message names the file, the JSON pointer and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace espalier {

using Json = nlohmann::ordered_json;

// The most values in a document, so that hostile text cannot fill the memory. A platform of 50,000
// links has 300,000, a plan of 160 trees over 10,000 hosts and a switch ten million.
inline constexpr std::size_t kMaxJsonValues = 16'000'000;
inline constexpr std::size_t kMaxJsonDepth = 64;

// The treatment of duplicate keys in one object, which some programs write.
enum class DuplicateKeys { kRefused, kFirstCounts };

// Parses a whole document. Refuses (InputError): malformed or truncated text (with line and
// column), NaN and numbers that overflow a double, duplicate keys in one object (with the pointer;
// unless kFirstCounts), nesting over kMaxJsonDepth levels, more than kMaxJsonValues values,
// an object of over a million keys, trailing text. `file` is only for messages.
Json parse_json(std::string_view text, const std::string& file,
                DuplicateKeys duplicates = DuplicateKeys::kRefused);

// `value` on one line: {"name": "a", "pairs": [[0, 1], [1, 2]]}. Numbers are the shortest text that
// reads back as the same double; invalid UTF-8 is refused (Json::exception).
std::string compact_dump(const Json& value);

// A value of a document, with its place for messages. Cheap to copy; the document must outlive it.
// The place is not stored, but found by the value's address when a message needs it.
class JsonCursor {
 public:
  // `pointer` is the place of `value`; the places of values inside are relative to it.
  JsonCursor(const Json& value, std::string file, std::string pointer = {})
      : value_(&value),
        root_(std::make_shared<const Root>(Root{&value, std::move(file), std::move(pointer)})) {}

  [[nodiscard]] const Json& value() const { return *value_; }
  // Searches the document, so it is for messages only.
  [[nodiscard]] std::string pointer() const;

  // Throws InputError(file, pointer, reason).
  [[noreturn]] void refuse(const std::string& reason) const;

  // Runs `step`, whose InputErrors have a reason only, and adds the place.
  template <class Step>
  decltype(auto) at_place(Step&& step) const {
    return espalier::at_place(
        root_->file, [&] { return pointer(); }, std::forward<Step>(step));
  }

  // Throws InputError unless the value is an object with only these keys. The message suggests the
  // nearest known key.
  void expect_object(std::initializer_list<std::string_view> known_keys) const;
  [[nodiscard]] bool has(std::string_view key) const;
  // Member `key` of an object. Throws InputError if it is missing.
  [[nodiscard]] JsonCursor at(std::string_view key) const;
  // Member `key` of an object, if it exists.
  [[nodiscard]] std::optional<JsonCursor> find(std::string_view key) const;
  // All members of an object, in order: for objects whose keys are data.
  struct Member;
  [[nodiscard]] std::vector<Member> members() const;
  // Elements of an array. Throws InputError if the value is not an array.
  [[nodiscard]] std::vector<JsonCursor> elements() const;

  // Typed reads. They throw InputError for another type ("expected a string, got a number").
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;                   // finite
  [[nodiscard]] std::uint64_t unsigned_integer() const;  // whole, not negative

 private:
  struct Root {
    const Json* value;
    std::string file;
    std::string pointer;
  };
  JsonCursor(const Json& value, std::shared_ptr<const Root> root)
      : value_(&value), root_(std::move(root)) {}
  [[noreturn]] void refuse_type(std::string_view expected) const;

  const Json* value_;
  std::shared_ptr<const Root> root_;
};

struct JsonCursor::Member {
  std::string_view key;
  JsonCursor value;
};

}  // namespace espalier
