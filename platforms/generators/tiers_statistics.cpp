#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "platforms/generators/generators.hpp"

namespace espalier::platforms {

namespace {

using Row = TiersStatistics::Row;

enum Level : std::size_t { kWan, kMan, kLan, kManWan, kLanMan, kAll };

std::size_t level_of(const Node& node) {
  const std::size_t slash = node.group.rfind('/');
  const std::string_view last =
      std::string_view(node.group).substr(slash == std::string::npos ? 0 : slash + 1);
  constexpr std::array<std::string_view, 3> kPrefixes{"wan-", "man-", "lan-"};
  for (std::size_t i = 0; i < kPrefixes.size(); ++i) {
    if (last.starts_with(kPrefixes[i])) return i;
  }
  throw InputError(fmt::format("node {} is in no network of Tiers: its group is {}",
                               in_quotes(node.name), in_quotes(node.group)));
}

// The row of a link between these levels, in addition to "all".
std::size_t row_of_link(std::size_t one, std::size_t other) {
  if (one == other) return one;
  return std::min(one, other) == kWan ? kManWan : kLanMan;
}

void count_degree(Row& row, std::size_t degree) {
  row.least_degree = row.nodes == 0 ? degree : std::min(row.least_degree, degree);
  row.greatest_degree = std::max(row.greatest_degree, degree);
  row.mean_degree += static_cast<double>(degree);  // the sum, until the end
  ++row.nodes;
}

// Links beyond the `needed`.
std::size_t beyond(std::size_t links, std::size_t needed) {
  return links > needed ? links - needed : 0;
}

}  // namespace

TiersStatistics tiers_statistics(const Platform& platform) {
  TiersStatistics statistics;
  auto& rows = statistics.rows;
  constexpr std::array<std::string_view, 6> kNames{"WAN",     "MAN",     "LAN",
                                                   "MAN-WAN", "LAN-MAN", "all"};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = kNames[i];
  std::vector<std::size_t> levels;
  std::array<std::set<std::string>, 3> networks;
  for (const Node& node : platform.nodes()) {
    levels.push_back(level_of(node));
    networks[levels.back()].insert(node.group);
  }
  std::vector<std::size_t> degrees(levels.size());
  for (const Arc& arc : platform.arcs()) {
    // A pair with arcs in both directions is counted at the first one.
    if (arc.to < arc.from && platform.find_arc(arc.to, arc.from)) continue;
    ++degrees[index_of(arc.from)];
    ++degrees[index_of(arc.to)];
    ++rows[row_of_link(levels[index_of(arc.from)], levels[index_of(arc.to)])].links;
    ++rows[kAll].links;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    count_degree(rows[levels[i]], degrees[i]);
    count_degree(rows[kAll], degrees[i]);
  }
  for (std::size_t i = 0; i < networks.size(); ++i) {
    rows[i].networks = networks[i].size();
    rows[kAll].networks += rows[i].networks;
    rows[i].redundant = beyond(rows[i].links, rows[i].nodes - rows[i].networks);
  }
  rows[kManWan].redundant = beyond(rows[kManWan].links, rows[kMan].networks);
  rows[kLanMan].redundant = beyond(rows[kLanMan].links, rows[kLan].networks);
  rows[kAll].redundant =
      beyond(rows[kAll].links, levels.size() - std::min<std::size_t>(levels.size(), 1));
  for (Row& row : rows) {
    if (row.nodes > 0) row.mean_degree /= static_cast<double>(row.nodes);
  }
  const auto n = static_cast<double>(levels.size());
  if (n > 1) statistics.density = static_cast<double>(rows[kAll].links) / (n * (n - 1) / 2);
  return statistics;
}

}  // namespace espalier::platforms
