#include "cli/common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier::cli {

Cell::Cell(BytesPerSecond rate)
    : text(std::isnan(rate.value) ? "-" : format_rate(rate)), json(rate.value) {}

Cell::Cell(Seconds duration)
    : text(std::isnan(duration.value) ? "-" : format_duration(duration)), json(duration.value) {}

std::string Cell::csv() const {
  if (!json || json->is_null()) return {};
  if (json->is_string()) return json->get<std::string>();
  if (text == "-") return {};
  return json->is_number_float() ? exact(json->get<double>()) : json->dump();
}

Cell decimal(double value, int decimals) {
  return {fixed(value, decimals), value};
}

Cell share(double fraction) {
  return {percent(fraction), fraction};
}

Cell tiny(double value) {
  return {std::isnan(value) ? "-" : fmt::format("{:.1e}", value), value};
}

Json number_or_null(double value) {
  return std::isnan(value) ? Json() : Json(value);
}

std::vector<std::size_t> Rows::text_columns() const {
  std::vector<std::size_t> places;
  for (const std::string_view key : order_) {
    const auto found = std::ranges::find(columns_, key, &Column::key);
    places.push_back(static_cast<std::size_t>(found - columns_.begin()));
  }
  for (std::size_t c = 0; order_.empty() && c < columns_.size(); ++c) {
    if (columns_[c].in_text) places.push_back(c);
  }
  return places;
}

std::string Rows::text() const {
  const std::vector<std::size_t> places = text_columns();
  std::vector<Table::Column> titles;
  for (const std::size_t c : places) titles.push_back({columns_[c].title, columns_[c].align});
  Table table(std::move(titles));
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string> cells;
    for (const std::size_t c : places) cells.push_back(row[c].text);
    table.add_row(std::move(cells));
  }
  return table.text();
}

Json Rows::json() const {
  Json list = Json::array();
  for (const std::vector<Cell>& row : rows_) {
    Json& one = list.emplace_back(Json::object());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].key.empty() && row[c].json) one[columns_[c].key] = *row[c].json;
    }
  }
  return list;
}

std::string Rows::csv(const Fields& before, const Fields& after, bool header) const {
  const auto line = [&](const auto& outer, const auto& inner) {
    std::vector<std::string> cells;
    for (const auto& field : before) cells.push_back(outer(field));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].key.empty()) cells.push_back(inner(c));
    }
    for (const auto& field : after) cells.push_back(outer(field));
    return csv_line(cells);
  };
  std::string text;
  if (header) {
    text = line([](const auto& field) { return field.first; },
                [&](std::size_t c) { return columns_[c].key; });
  }
  for (const std::vector<Cell>& row : rows_) {
    text += line([](const auto& field) { return field.second.csv(); },
                 [&](std::size_t c) { return row[c].csv(); });
  }
  return text;
}

void Report::add(const std::string& name, const std::string& key, const Cell& figure) {
  if (!name.empty()) facts_.push_back({name, figure.text});
  if (!key.empty() && figure.json) json_[key] = *figure.json;
}

void Report::add(const std::string& key, const Rows& rows, bool joined) {
  if (!key.empty()) json_[key] = rows.json();
  end_facts();
  append(rows.text(), joined);
}

void Report::say(const std::string& lines, bool joined) {
  end_facts();
  append(lines, joined);
}

const std::string& Report::text() {
  end_facts();
  return text_;
}

std::string Report::render(bool as_json) {
  if (!as_json) return text();
  return json_.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void Report::end_facts() {
  if (facts_.empty()) return;
  Table table({{facts_[0][0], Table::Align::kLeft}, {facts_[0][1], Table::Align::kLeft}});
  for (std::size_t i = 1; i < facts_.size(); ++i) table.add_row(facts_[i]);
  facts_.clear();
  append(table.text(), false);
}

void Report::append(const std::string& block, bool joined) {
  if (block.empty()) return;
  text_ += (joins_ ? "" : "\n") + block;
  joins_ = joined;
}

}  // namespace espalier::cli
