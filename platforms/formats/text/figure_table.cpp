#include "platforms/formats/text/figure_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "platforms/formats/text/csv.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 8> kMissing{"",    "-",    "nan", "NaN",
                                                     "NAN", "-nan", "n/a", "N/A"};
  if (std::ranges::find(kMissing, cell) != kMissing.end()) return true;
  const auto number = parse_number(cell);
  return number && *number == 0;
}

FigureUnit rates_in(BytesPerSecond unit) {
  return {unit.value, [](double value) { require_rate({value}, "a bandwidth"); }};
}

FigureUnit durations_in(Seconds unit) {
  return {unit.value, [](double value) { require_duration({value}, "a latency"); }};
}

void FigureTable::add_row(std::span<const std::string_view> cells) {
  if (complete()) throw InputError(fmt::format("more rows than the {} columns", size_));
  if (cells.size() != size_) {
    throw InputError(fmt::format("{} figures where there are {} columns", cells.size(), size_));
  }
  for (std::size_t column = 0; column < size_; ++column) {
    const std::string_view cell = cells[column];
    std::optional<double> figure;
    if (column != rows_ && !is_missing(cell)) {
      figure = parse_number(cell);
      if (!figure) throw InputError(fmt::format("expected a number, got {}", in_quotes(cell)));
      *figure *= unit_.factor;
      unit_.require(*figure);
    }
    cells_.push_back(figure);
  }
  ++rows_;
}

bool FigureTable::has_any(std::size_t node) const {
  for (std::size_t other = 0; other < size_; ++other) {
    if (at(node, other) || at(other, node)) return true;
  }
  return false;
}

LinkCounts add_links(const TableLinks& tables, std::span<const std::optional<NodeId>> nodes,
                     PlatformBuilder& builder) {
  LinkCounts counts;
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    for (std::size_t column = 0; column < nodes.size(); ++column) {
      if (row == column || !nodes[row] || !nodes[column]) continue;
      const auto bandwidth = tables.bandwidths.at(row, column);
      if (!bandwidth) {
        ++counts.unlinked;
        continue;
      }
      Arc arc{*nodes[row], *nodes[column], {*bandwidth}, {}, {}};
      if (tables.columns_send) std::swap(arc.from, arc.to);
      if (tables.latencies != nullptr) {
        const auto latency = tables.latencies->at(row, column);
        arc.latency.value = latency.value_or(0);
        if (!latency) ++counts.without_latency;
      }
      builder.add_arc(arc);
    }
  }
  return counts;
}

void GpuTable::require_complete(const Source& source) const {
  if (table.complete()) return;
  source.refuse(fmt::format("{}: {} rows for {} GPUs: the matrix is cut short", label, table.rows(),
                            table.size()));
}

Platform gpu_platform(const GpuTable& bandwidths, const GpuTable* latencies, bool columns_send,
                      Source& source) {
  PlatformBuilder builder(source.default_name());
  std::vector<std::optional<NodeId>> gpus;
  for (std::size_t i = 0; i < bandwidths.table.size(); ++i) {
    gpus.emplace_back(builder.node_named(fmt::format("GPU{}", i)));
  }
  const LinkCounts counts =
      add_links({.bandwidths = bandwidths.table,
                 .latencies = latencies == nullptr ? nullptr : &latencies->table,
                 .columns_send = columns_send},
                gpus, builder);
  if (latencies != nullptr) source.note("latencies from {}", latencies->label);
  source.note_count(counts.unlinked, "{} pairs have no figure: no link");
  return source.build(std::move(builder));
}

bool count_up(std::span<const std::string_view> words) {
  if (words.empty() || words.size() > kMostColumns) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (parse_whole<std::size_t>(words[i]) != i) return false;
  }
  return true;
}

bool add_numbered_row(FigureTable& table, std::span<const std::string_view> words) {
  if (table.complete() || words.empty()) return false;
  if (parse_whole<std::size_t>(words.front()) != table.rows()) return false;
  table.add_row(words.subspan(1));
  return true;
}

std::size_t index_of_name(std::span<const std::string> names, std::string_view text,
                          std::string_view what) {
  if (const auto same = std::ranges::find(names, text); same != names.end()) {
    return static_cast<std::size_t>(same - names.begin());
  }
  const auto contains = [&](const std::string& name) {
    return name.find(text) != std::string::npos;
  };
  const auto first = std::ranges::find_if(names, contains);
  const auto count = std::ranges::count_if(names, contains);
  if (count == 1) return static_cast<std::size_t>(first - names.begin());
  constexpr std::size_t kShown = 12;
  std::vector<std::string> shown;
  shown.reserve(kShown + 1);
  for (const std::string& name : names.first(std::min(names.size(), kShown))) {
    shown.push_back(in_quotes(name));
  }
  if (names.size() > kShown) shown.push_back(fmt::format("{} more", names.size() - kShown));
  throw InputError(fmt::format("{} {} {}; one of: {}", count == 0 ? "there is no" : "more than one",
                               what, in_quotes(text), fmt::join(shown, ", ")));
}

}  // namespace espalier::platforms
