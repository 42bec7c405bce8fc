// Reader of comma-separated text, line by line, without blank lines, comments ('#') and blanks
// around unquoted fields. Not installed.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/readers.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string file);

  // Moves to the next row; false at the end. Throws InputError on an open quote.
  bool next();
  // Moves to the row of headings. Throws InputError if there is none.
  void start();
  // Moves to the next row. Throws InputError if it has not as many fields as the headings.
  bool next_full();
  // The index of the first of `spellings` that is a heading, alone or, if `with_unit`, followed by
  // "_UNIT". Throws InputError if none is.
  [[nodiscard]] std::size_t column(std::initializer_list<std::string_view> spellings,
                                   bool with_unit = false) const;
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view heading) const;
  // The current row. The fields live until next().
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  // Line of the current row, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }
  // The name in a comment "# name: two racks" so far; empty if there was none.
  [[nodiscard]] const std::string& name() const { return name_; }

  // Throws InputError(file, "line N", reason).
  [[noreturn]] void refuse(const std::string& reason) const;
  // Runs `step`, whose errors have a reason only, and adds the place.
  template <typename Step>
  decltype(auto) at_place(Step&& step) const {
    return espalier::at_place(
        file_, [&] { return fmt::format("line {}", line_); }, std::forward<Step>(step));
  }
  // Of the platform with the name in a comment so far, otherwise the default name.
  [[nodiscard]] PlatformBuilder builder(const Source& source) const {
    return at_place([&] { return PlatformBuilder(name_.empty() ? source.default_name() : name_); });
  }

 private:
  void split(std::string_view row);
  std::string_view quoted_field(std::string_view& row);
  void read_comment(std::string_view row);

  std::string_view rest_;
  std::string file_;
  std::string name_;
  std::size_t line_ = 0;
  std::size_t width_ = 0;  // of the headings
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // fields with "" inside
};

// The first few fields of the first row, for detecting formats. Never throws.
std::vector<std::string> header_of(std::string_view text);
// Whether they include all of these.
bool has_headings(std::string_view text, std::initializer_list<std::string_view> headings);

// A column of quantities: "bandwidth_Gbps" has numbers in that unit, "bandwidth" texts with a unit.
template <typename Quantity>
class QuantityColumn {
 public:
  using Parse = Quantity (*)(std::string_view);
  // Throws InputError (reason only) when `heading` names an unknown unit.
  QuantityColumn(std::string_view heading, Parse parse) : parse_(parse) {
    const std::size_t mark = heading.find('_');
    if (mark == std::string_view::npos) return;
    unit_ = heading.substr(mark + 1);
    static_cast<void>(parse("1 " + unit_));
    has_unit_ = true;
  }
  // Throws InputError (reason only).
  [[nodiscard]] Quantity read(std::string_view cell) const {
    if (!has_unit_) return parse_(cell);
    if (!parse_number(cell)) {
      throw InputError("expected a number (the column is in " + unit_ + "), got " +
                       in_quotes(cell));
    }
    return parse_(std::string(cell) + ' ' + unit_);
  }

 private:
  Parse parse_;
  std::string unit_;
  bool has_unit_ = false;  // otherwise each cell has its own
};

// `text` as a field, quoted if necessary.
std::string csv_field(std::string_view text);

}  // namespace espalier::platforms
