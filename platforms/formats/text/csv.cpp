#include "platforms/formats/text/csv.hpp"

#include <algorithm>

#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kMaxFields = 100'000;

// Removes the first line from `rest` and returns it without its end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string file)
    : rest_(without_mark(text)), file_(std::move(file)) {}

bool CsvReader::next() {
  while (!rest_.empty()) {
    ++line_;
    const std::string_view row = trimmed(take_line(rest_));
    if (row.starts_with('#')) read_comment(row);
    if (row.empty() || row.starts_with('#')) continue;
    split(row);
    return true;
  }
  return false;
}

void CsvReader::start() {
  if (!next()) throw InputError(file_, {}, "there is no header line");
  width_ = fields_.size();
}

bool CsvReader::next_full() {
  if (!next()) return false;
  if (fields_.size() == width_) return true;
  refuse(fmt::format("{} fields where the header has {}", fields_.size(), width_));
}

std::size_t CsvReader::column(std::initializer_list<std::string_view> spellings,
                              bool with_unit) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    for (const std::string_view name : spellings) {
      const bool same = fields_[i] == name;
      if (same || (with_unit && fields_[i].starts_with(name) && fields_[i][name.size()] == '_')) {
        return i;
      }
    }
  }
  refuse(fmt::format("there is no column '{}'", *spellings.begin()));
}

std::optional<std::size_t> CsvReader::find_column(std::string_view heading) const {
  const auto found = std::ranges::find(fields_, heading);
  if (found == fields_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields_.begin());
}

void CsvReader::refuse(const std::string& reason) const {
  throw InputError(file_, fmt::format("line {}", line_), reason);
}

void CsvReader::split(std::string_view row) {
  fields_.clear();
  unquoted_.clear();
  while (true) {
    if (fields_.size() == kMaxFields) refuse(fmt::format("more than {} fields", kMaxFields));
    row = row.substr(std::min(row.find_first_not_of(kBlank), row.size()));
    if (row.starts_with('"')) {
      fields_.push_back(quoted_field(row));
    } else {
      const std::size_t end = std::min(row.find(','), row.size());
      fields_.push_back(trimmed(row.substr(0, end)));
      row.remove_prefix(end);
    }
    if (row.empty()) return;
    row.remove_prefix(1);  // the comma
  }
}

// Removes a quoted field from `row`, up to the comma after it.
std::string_view CsvReader::quoted_field(std::string_view& row) {
  std::string content;
  std::size_t at = 1;
  while (true) {
    const std::size_t quote = row.find('"', at);
    if (quote == std::string_view::npos) refuse("a quote is not closed");
    content += row.substr(at, quote - at);
    at = quote + 1;
    if (at == row.size() || row[at] != '"') break;
    content += '"';
    ++at;
  }
  row.remove_prefix(std::min(row.find_first_not_of(kBlank, at), row.size()));
  if (!row.empty() && row[0] != ',') refuse("expected a comma after the closing quote");
  unquoted_.push_back(std::move(content));
  return unquoted_.back();
}

void CsvReader::read_comment(std::string_view row) {
  row = trimmed(row.substr(1));
  constexpr std::string_view kKey = "name:";
  if (row.starts_with(kKey)) name_ = trimmed(row.substr(kKey.size()));
}

std::vector<std::string> header_of(std::string_view text) {
  constexpr std::size_t kFew = 64;
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kEnough = std::size_t{1} << 20U;  // of blank lines and comments
  std::vector<std::string> fields;
  std::string_view rest = without_mark(text).substr(0, kEnough);
  while (!rest.empty() && fields.empty()) {
    std::string_view row = trimmed(take_line(rest));
    if (row.starts_with('#')) continue;
    while (!row.empty() && fields.size() < kFew) {
      const std::size_t end = std::min(row.find(','), row.size());
      std::string_view field = trimmed(row.substr(0, end));
      if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
        field = field.substr(1, field.size() - 2);
      }
      fields.emplace_back(field.substr(0, kLongest));
      row.remove_prefix(std::min(end + 1, row.size()));
    }
  }
  return fields;
}

bool has_headings(std::string_view text, std::initializer_list<std::string_view> headings) {
  const auto header = header_of(text);
  return std::ranges::all_of(headings, [&](std::string_view name) {
    return std::ranges::find(header, name) != header.end();
  });
}

std::string csv_field(std::string_view text) {
  const bool plain = text == trimmed(text) && !text.starts_with('#') &&
                     text.find_first_of(",\"") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) {
    if (letter == '"') field += '"';
    field += letter;
  }
  return field + '"';
}

}  // namespace espalier::platforms
