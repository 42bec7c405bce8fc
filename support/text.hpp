// Parts of a text: list entries, numbers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace espalier {

// Without the blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

// With small ASCII letters for capital ones.
std::string lower_case(std::string_view text);

// `text` with `what` replaced everywhere, but not in what came for it.
std::string replaced(std::string text, std::string_view what, std::string_view by);

// In single quotes, as a shell reads it.
std::string in_shell_quotes(std::string_view text);

// The parts between separators, empty ones included; an empty text is one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

// Separators of words; includes the carriage return, so that both line ends are accepted.
inline constexpr std::string_view kBlank = " \t\r";

// The first `most` words of a line.
std::vector<std::string_view> words_of(std::string_view line, std::size_t most = SIZE_MAX);

// "a, b and 3 more": of the names, the first `most`, and how many others there are.
class Listing {
 public:
  explicit Listing(std::size_t most) : most_(most) {}
  // name(): asked for the first ones only.
  template <class Name>
  void add(const Name& name) {
    if (++count_ <= most_) text_ += (count_ > 1 ? ", " : "") + name();
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::string text() const {
    return count_ <= most_ ? text_ : text_ + " and " + std::to_string(count_ - most_) + " more";
  }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  std::string text_;
};

// All of `text` as a whole number in the range of the type; unset if it is not one.
template <class Whole>
std::optional<Whole> parse_whole(std::string_view text) {
  Whole number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, number);
  if (fault != std::errc{} || end != last) return std::nullopt;
  return number;
}

// All of `text` as a finite number, locale-independent; unset if it is not one.
inline std::optional<double> parse_number(std::string_view text) {
  const auto number = parse_whole<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace espalier
