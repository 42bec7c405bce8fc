// Reading text formats line by line, with the place in every error. Not installed.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "platforms/formats/readers.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

// Whether the text contains `part`.
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Without a byte order mark.
inline std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// The beginning of a text, which contains what identifies its format: leading comments, a prompt or
// the output of a job included.
inline std::string_view head_of(std::string_view text) {
  constexpr std::size_t kEnough = 100'000;
  return text.substr(0, kEnough);
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

  // Calls step(line), whose errors have a reason only, with the remaining lines; one that returns
  // false is the last.
  template <class Step>
  void each(const Step& step) {
    bool more = true;
    while (more) {
      const auto line = next();
      if (!line) return;
      at(number_, [&] {
        if constexpr (std::is_void_v<decltype(step(*line))>) {
          step(*line);
        } else {
          more = step(*line);
        }
      });
    }
  }
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

// What readers of lines have.
class LineReader {
 public:
  explicit LineReader(Source& source)
      : source_(source), lines_(source.text, source.file), builder_(source.default_name()) {}

 protected:
  Source& source_;
  TextLines lines_;
  PlatformBuilder builder_;
};

}  // namespace espalier::platforms
