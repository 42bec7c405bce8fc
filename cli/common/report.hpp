// A report of figures, declared once and rendered as text, JSON and CSV. A figure without a name
// (for people) or a key (for programs) is left out there; a missing one is "-", null or empty.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/table.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// A figure as it is shown and as it is written. Made from quantities without a word, so that a row
// of figures reads like a row.
struct Cell {
  std::string text;
  std::optional<Json> json;  // unset: its key is left out

  Cell(std::string shown, std::optional<Json> written)
      : text(std::move(shown)), json(std::move(written)) {}
  Cell(std::string_view name) : text(name), json(name) {}
  Cell(const std::string& name) : Cell(std::string_view(name)) {}
  Cell(const char* name) : Cell(std::string_view(name)) {}
  Cell(std::integral auto count) : text(std::to_string(count)), json(count) {}
  Cell(BytesPerSecond rate);  // NaN: missing
  Cell(Seconds duration);     // NaN: missing
  Cell(Bytes size) : text(format_size(size)), json(size.value) {}
  template <class Value>
  Cell(const std::optional<Value>& value) : Cell(value ? Cell(*value) : Cell("-", Json())) {}

  // The same shown with other words.
  [[nodiscard]] Cell as(std::string shown) const { return {std::move(shown), json}; }
  // For CSV.
  [[nodiscard]] std::string csv() const;
};
// Only for people; only for programs.
inline Cell shown_only(std::string text) {
  return {std::move(text), std::nullopt};
}
inline Cell written_only(Json value) {
  return {{}, std::move(value)};
}
// "0.9877"; "12.34 %"; "3.2e-07". NaN: missing.
Cell decimal(double value, int decimals = 4);
Cell share(double fraction);
Cell tiny(double value);
// The seconds that a step took: "0.012".
inline Cell took(double seconds) {
  return decimal(seconds, 3);
}
// A number as JSON; NaN: null.
Json number_or_null(double value);

struct Column {
  std::string title{};
  std::string key{};
  Table::Align align = Table::Align::kRight;
  bool in_text = true;
};
inline Column left(std::string title, std::string key) {
  return {std::move(title), std::move(key), Table::Align::kLeft};
}
inline Column written(std::string key) {
  return {{}, std::move(key), Table::Align::kRight, false};
}

// Rows of figures: a table, an array of objects, or lines of CSV.
class Rows {
 public:
  explicit Rows(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column.
  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  // The order of the columns in text, by key, if it is not that of JSON.
  void order_text(std::initializer_list<std::string_view> keys) { order_.assign(keys); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;
  // Header and rows, each between the cells `before` and `after`, which are (key, figure).
  using Fields = std::vector<std::pair<std::string, Cell>>;
  [[nodiscard]] std::string csv(const Fields& before = {}, const Fields& after = {},
                                bool header = true) const;

 private:
  [[nodiscard]] std::vector<std::size_t> text_columns() const;

  std::vector<Column> columns_;
  std::vector<std::string_view> order_{};
  std::vector<std::vector<Cell>> rows_{};
};

// Facts, tables and sentences in their order.
class Report {
 public:
  void add(const std::string& name, const std::string& key, const Cell& figure);
  // Only for programs.
  void write(const std::string& key, Json value) { json_[key] = std::move(value); }
  // A table after a blank line; with an empty key only for people. The next text follows without a
  // blank line if `joined`.
  void add(const std::string& key, const Rows& rows, bool joined = false);
  // Complete lines; only in text.
  void say(const std::string& lines, bool joined = false);

  [[nodiscard]] const std::string& text();
  [[nodiscard]] const Json& json() const { return json_; }
  // One of the two, as a document that ends with a newline.
  [[nodiscard]] std::string render(bool as_json);

 private:
  void end_facts();
  void append(const std::string& block, bool joined);

  std::string text_{};
  std::vector<std::vector<std::string>> facts_{};  // not in the text yet
  bool joins_ = true;                              // the next block follows without a blank line
  Json json_ = Json::object();
};

}  // namespace espalier::cli
