#include "platforms/core/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "platforms/core/rates.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

// The first two are above the values of real networks and below 1000, the effect of a wrong prefix.
// Median bandwidth of all links, divided by that of a single link into a set of hosts.
constexpr double kThinness = 500;
// Latency of a link, divided by that of a detour through one node.
constexpr double kLongDetour = 20;
// Fastest of all links, caps and shared links, divided by the slowest.
constexpr double kWideSpread = 1e6;
constexpr BytesPerSecond kLeastUsualRate{1e3};
constexpr BytesPerSecond kMostUsualRate{1e14};
constexpr Seconds kMostUsualLatency{10};

// The things with a suspicious figure, the first of them by name.
struct Examples : Listing {
  Examples() : Listing(3) {}
  // Adds "3 links have RULE EXAMPLES" if there is one.
  void add_to(std::vector<std::string>& lines, std::string_view one, std::string_view several,
              std::string_view rule) const {
    if (count() == 0) return;
    lines.push_back(fmt::format("{} {} {}", counted(count(), one, several), rule, text()));
  }
};

// The median bandwidth of the links; of two middle values, the upper one. There must be links.
double median_bandwidth(const Platform& platform) {
  std::vector<double> rates;
  rates.reserve(platform.arcs().size());
  for (const Arc& arc : platform.arcs()) rates.push_back(arc.bandwidth.value);
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  return *middle;
}

// The set of each node, numbered by one of its nodes: links of at least this bandwidth connect a
// set, whatever their direction.
std::vector<std::size_t> connected_by(const Platform& platform, double least) {
  std::vector<std::size_t> parent(platform.nodes().size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const Arc& arc : platform.arcs()) {
    if (arc.bandwidth.value >= least) parent[root(index_of(arc.from))] = root(index_of(arc.to));
  }
  for (std::size_t& node : parent) node = root(node);
  return parent;
}

// Finds sets of nodes that are connected by links of at least 1/thin of the median bandwidth and
// have a single link into them.
void warn_of_thin_links(const Platform& platform, std::vector<std::string>& lines) {
  const std::size_t nodes = platform.nodes().size();
  const double thick = median_bandwidth(platform) / kThinness;
  const std::vector<std::size_t> set_of = connected_by(platform, thick);
  std::vector<std::size_t> links_into(nodes, 0);  // each set, by its root
  std::vector<std::size_t> hosts(nodes, 0);       // of each set
  std::vector<const Arc*> last_into(nodes, nullptr);
  for (const NodeId host : platform.hosts()) ++hosts[set_of[index_of(host)]];
  for (const Arc& arc : platform.arcs()) {
    const std::size_t into = set_of[index_of(arc.to)];
    if (set_of[index_of(arc.from)] == into) continue;
    ++links_into[into];
    last_into[into] = &arc;
  }
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(hosts) - hosts.begin());
  Examples examples;
  for (std::size_t root = 0; root < nodes; ++root) {
    if (root == largest || links_into[root] != 1 || hosts[root] == 0) continue;
    examples.add([&] {
      return fmt::format("{} ({}, to {})", name_of(platform, *last_into[root]),
                         format_rate(last_into[root]->bandwidth), counted(hosts[root], "host"));
    });
  }
  if (examples.count() == 0) return;
  lines.push_back(fmt::format(
      "{} over {:g} times slower than the median link is the only link to "
      "its hosts: {}",
      examples.count() == 1 ? "a link" : "each of several links", kThinness, examples.text()));
}

void warn_of_one_way_links(const Platform& platform, std::vector<std::string>& lines) {
  Examples examples;
  std::size_t both_ways = 0;
  for (const Arc& arc : platform.arcs()) {
    if (platform.find_arc(arc.to, arc.from)) {
      if (arc.from < arc.to) ++both_ways;
      continue;
    }
    examples.add([&] { return name_of(platform, arc); });
  }
  // If most links have one direction only, this is taken as intended.
  if (examples.count() > both_ways) return;
  examples.add_to(lines, "link has", "links have", "one direction only:");
}

// The arcs into each node, sorted by their start.
class ArcsInto {
 public:
  explicit ArcsInto(const Platform& platform) : first_(platform.nodes().size() + 1, 0) {
    for (const Arc& arc : platform.arcs()) ++first_[index_of(arc.to) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    arcs_.resize(platform.arcs().size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const Arc& arc : platform.arcs()) arcs_[next[index_of(arc.to)]++] = &arc;
  }
  [[nodiscard]] std::span<const Arc* const> of(NodeId node) const {
    return std::span(arcs_).subspan(first_[index_of(node)],
                                    first_[index_of(node) + 1] - first_[index_of(node)]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<const Arc*> arcs_;
};

struct Detour {
  NodeId by{};
  double latency_s = 0;
};

// The path of least latency through one other node. Both lists ascend by that node.
std::optional<Detour> quickest_detour(std::span<const Arc> out, std::span<const Arc* const> in) {
  std::optional<Detour> best;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < out.size() && j < in.size()) {
    if (out[i].to < in[j]->from) {
      ++i;
    } else if (in[j]->from < out[i].to) {
      ++j;
    } else {
      const double one = out[i++].latency.value;
      const Arc& last = *in[j++];
      if (one == 0 || last.latency.value == 0) continue;
      if (best && best->latency_s <= one + last.latency.value) continue;
      best = Detour{last.from, one + last.latency.value};
    }
  }
  return best;
}

std::span<const Arc> arcs_out_of(const Platform& platform, NodeId node) {
  const auto [first, last] = platform.arcs_out_of(node);
  return platform.arcs().subspan(first, last - first);
}

void warn_of_detours(const Platform& platform, std::vector<std::string>& lines) {
  constexpr std::size_t kMostSteps = 2'000'000;
  const ArcsInto into(platform);
  std::size_t steps = 0;
  for (const Arc& arc : platform.arcs()) {
    steps += arcs_out_of(platform, arc.from).size() + into.of(arc.to).size();
  }
  const std::size_t stride = steps / kMostSteps + 1;
  Examples examples;
  for (std::size_t i = 0; i < platform.arcs().size(); i += stride) {
    const Arc& arc = platform.arcs()[i];
    if (arc.latency.value == 0) continue;
    const auto detour = quickest_detour(arcs_out_of(platform, arc.from), into.of(arc.to));
    if (!detour || arc.latency.value <= kLongDetour * detour->latency_s) continue;
    examples.add([&] {
      return fmt::format("{} ({}, via {} {})", name_of(platform, arc), format_duration(arc.latency),
                         in_quotes(platform.node(detour->by).name),
                         format_duration({detour->latency_s}));
    });
  }
  const std::string sample = stride > 1 ? fmt::format(" (checked every {}-th link)", stride) : "";
  examples.add_to(lines, "link has", "links have",
                  fmt::format("over {:g} times the latency of a detour{}:", kLongDetour, sample));
}

void warn_of_rates(const Platform& platform, std::vector<std::string>& lines) {
  Examples slow;
  Examples fast;
  BytesPerSecond least = platform.arcs().front().bandwidth;
  BytesPerSecond most = least;
  for_each_rate(platform, [&](BytesPerSecond rate, const auto& what) {
    least = std::min(least, rate);
    most = std::max(most, rate);
    const auto example = [&] { return fmt::format("{} ({})", what(), format_rate(rate)); };
    if (rate < kLeastUsualRate) slow.add(example);
    if (rate > kMostUsualRate) fast.add(example);
  });
  const auto warn = [&](const Examples& examples, std::string_view side, BytesPerSecond limit) {
    examples.add_to(lines, "rate is", "rates are",
                    fmt::format("{} {}; is the unit right?", side, format_rate(limit)));
  };
  warn(slow, "under", kLeastUsualRate);
  warn(fast, "over", kMostUsualRate);
  if (most.value / least.value > kWideSpread) {
    lines.push_back(fmt::format("rates go from {} to {}, a factor of {:.0e}; are the units right?",
                                format_rate(least), format_rate(most), most.value / least.value));
  }
}

void warn_of_latencies(const Platform& platform, std::vector<std::string>& lines) {
  Examples examples;
  for (const Arc& arc : platform.arcs()) {
    if (arc.latency <= kMostUsualLatency) continue;
    examples.add([&] {
      return fmt::format("{} ({})", name_of(platform, arc), format_duration(arc.latency));
    });
  }
  examples.add_to(lines, "latency is", "latencies are",
                  fmt::format("over {}; is the unit right?", format_duration(kMostUsualLatency)));
}

}  // namespace

std::vector<std::string> warnings(const Platform& platform) {
  std::vector<std::string> lines;
  if (platform.arcs().empty()) return lines;
  warn_of_thin_links(platform, lines);
  warn_of_one_way_links(platform, lines);
  warn_of_detours(platform, lines);
  warn_of_rates(platform, lines);
  warn_of_latencies(platform, lines);
  return lines;
}

}  // namespace espalier::platforms
