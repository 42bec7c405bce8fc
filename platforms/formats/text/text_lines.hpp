// Reading text formats line by line, with the place in every error. Not installed.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

// Separators of words; includes the carriage return, so that both line endings are accepted.
inline constexpr std::string_view kBlank = " \t\r";

// The first `most` words of a line.
std::vector<std::string_view> words_of(std::string_view line, std::size_t most = SIZE_MAX);

// Whether the text contains `part`.
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The lines of a text, one after the other.
class TextLines {
 public:
  // Keeps references to both.
  TextLines(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  // The next line, without its end; unset at the end of the text.
  std::optional<std::string_view> next();
  // The number of the last line returned, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }

  // Runs `step`, whose errors have a reason only, and adds line `number` of the file as the place.
  template <class Step>
  void at(std::size_t number, Step&& step) const {
    at_place(
        file_, [&] { return fmt::format("line {}", number); }, std::forward<Step>(step));
  }

 private:
  std::string_view rest_;
  const std::string& file_;
  std::size_t number_ = 0;
};

}  // namespace espalier::platforms
