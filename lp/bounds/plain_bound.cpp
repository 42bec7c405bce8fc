#include "lp/bounds/plain_bound.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "lp/bounds/cut_cover.hpp"
#include "lp/bounds/narrowest_cut.hpp"

namespace espalier::lp {

namespace {

using Arcs = std::vector<std::uint32_t>;

class PlainBounds {
 public:
  explicit PlainBounds(const PackingProblem& problem)
      : problem_(problem),
        cover_(problem.occupation),
        least_in_all_(static_cast<std::size_t>(problem.occupation.rows()), 0.0),
        received_(problem.graph.node_count, 1.0) {
    received_[problem.root] = 0;
  }
  PlainBounds(const PackingProblem& problem, std::span<const PartRoot> roots)
      : PlainBounds(problem) {
    received_[problem.root] = 1;
    for (const auto& [root, share] : roots) received_[root] -= share;
    roots_ = roots;
  }

  PlainBound best() && {
    const Digraph& graph = problem_.graph;
    std::vector<Arcs> out(graph.node_count);
    std::vector<Arcs> into(graph.node_count);
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      out[graph.tail[arc]].push_back(arc);
      into[graph.head[arc]].push_back(arc);
    }
    if (problem_.root_arcs > 0) {
      try_any_root(out, into);
      try_senders(out, into);
      best_.least_uses = std::move(least_in_all_);
      return std::move(best_);
    }
    for (std::uint32_t host = 0; host < graph.node_count; ++host) {
      if (!receives(host)) continue;
      try_star(into[host], received_[host]);
      for (const auto& [row, least] : cover_.rows_of_all(into[host])) {
        least_in_all_[row] += received_[host] * least;
      }
    }
    if (roots_.empty()) {
      try_star(narrowest_cut(problem_));
      try_root(out[problem_.root]);
    }
    for (const auto& [root, share] : roots_) try_star(out[root], share);
    try_rows();
    try_senders(out, into);
    best_.least_uses = std::move(least_in_all_);
    return std::move(best_);
  }

 private:
  // Of a root that may be any host: for each host the arc to it from what stands for the root, in
  // both parts.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> root_arcs() const;
  [[nodiscard]] bool is_root_arc(std::uint32_t arc) const {
    return root_number(arc, problem_.part_arcs, problem_.root_arcs) != kNone;
  }
  [[nodiscard]] bool receives(std::uint32_t node) const {
    return !problem_.graph.relay(node) && received_[node] > 0;
  }
  void try_star(std::span<const std::uint32_t> arcs, double share = 1);
  void try_root(const Arcs& out);
  void try_any_root(const std::vector<Arcs>& out, const std::vector<Arcs>& into);
  void try_rows();
  void try_senders(const std::vector<Arcs>& out, const std::vector<Arcs>& into);
  [[nodiscard]] double least_cost(std::span<const double> price,
                                  const std::vector<Arcs>& into) const;
  void take(std::span<const RowValue> prices, double rate);

  const PackingProblem& problem_;
  CutCover cover_;
  std::vector<double> least_in_all_;  // per resource: the least use into a host, over all hosts
  std::vector<double> received_;      // per node that is a host, of every byte: not as its root
  std::span<const PartRoot> roots_;   // empty: the problem's
  PlainBound best_;
};

std::vector<std::pair<std::uint32_t, std::uint32_t>> PlainBounds::root_arcs() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t i = 1; i <= problem_.root_arcs; ++i) {
    arcs.emplace_back(problem_.part_arcs - i, 2 * problem_.part_arcs - i);
  }
  return arcs;
}

// Every tree, or this share of them, uses at least one of these arcs.
void PlainBounds::try_star(std::span<const std::uint32_t> arcs, double share) {
  const std::vector<RowValue> prices = cover_.prices(arcs);
  if (!prices.empty()) take(prices, total_of(prices) / share);
}

// Each part of a tree uses at least one arc out of the root.
void PlainBounds::try_root(const Arcs& out) {
  std::vector<Arcs> part(part_count(problem_));
  for (const std::uint32_t arc : out) part[arc / problem_.part_arcs].push_back(arc);
  std::vector<RowValue> of_root;
  for (const Arcs& arcs : part) {
    if (arcs.empty()) continue;
    try_star(arcs);
    for (const auto& [row, least] : cover_.rows_of_all(arcs)) {
      const auto same = std::ranges::find(of_root, row, &RowValue::row);
      if (same == of_root.end()) {
        of_root.push_back({row, least});
      } else {
        same->value += least;
      }
    }
  }
  // Not the sum: the arc into a host may be the one out of the root.
  for (const auto& [row, least] : of_root) {
    least_in_all_[row] = std::max(least_in_all_[row], least);
  }
}

// In each part an arc leads to every host but the root, and another one out of the root. So every
// tree has an arc into a host in the one part, or out of it in the other.
void PlainBounds::try_any_root(const std::vector<Arcs>& out, const std::vector<Arcs>& into) {
  for (const auto& [first, second] : root_arcs()) {
    for (const auto& [in, of] : {std::pair(first, second), std::pair(second, first)}) {
      Arcs star = into[problem_.graph.head[in]];
      std::erase(star, in);
      const Arcs& leaving = out[problem_.graph.head[of]];
      star.insert(star.end(), leaving.begin(), leaving.end());
      try_star(star);
    }
  }
}

void PlainBounds::try_rows() {
  const auto most = std::ranges::max_element(least_in_all_);
  if (most == least_in_all_.end() || !(*most > 0)) return;
  take(std::array{RowValue{static_cast<std::uint32_t>(most - least_in_all_.begin()), 1.0}},
       1 / *most);
}

// Every edge of a tree leaves a host. A resource that several hosts share is paid once.
void PlainBounds::try_senders(const std::vector<Arcs>& out, const std::vector<Arcs>& into) {
  std::vector<double> price(least_in_all_.size(), 0.0);
  for (std::uint32_t host = 0; host < out.size(); ++host) {
    if (problem_.graph.relay(host) || out[host].empty()) continue;
    if (problem_.root_arcs > 0 && host == problem_.root) continue;  // not a host
    const std::vector<RowValue> prices = cover_.prices(out[host]);
    if (prices.empty()) return;
    for (const auto& [row, value] : prices) price[row] = std::max(price[row], value);
  }
  std::vector<RowValue> prices;
  for (std::uint32_t row = 0; row < price.size(); ++row) {
    if (price[row] > 0) prices.push_back({row, price[row]});
  }
  const double cost = least_cost(price, into);
  if (cost > 0) take(prices, total_of(prices) / cost);
}

// Below the cost of any tree: for each host but the root, that of the cheapest arc into it, and
// where this comes from a relay, of the part's cheapest arc from a host to a relay. Of a root that
// may be any host: but the host for which that is most.
double PlainBounds::least_cost(std::span<const double> price, const std::vector<Arcs>& into) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const Digraph& graph = problem_.graph;
  std::vector<double> cost(graph.arc_count());
  price_arcs(problem_.occupation, price, cost);
  std::vector<double> to_relay(part_count(problem_), kInfinite);
  for (std::uint32_t arc = 0; arc < cost.size(); ++arc) {
    const bool enters_relay = graph.relay(graph.head[arc]) && !graph.relay(graph.tail[arc]);
    double& least = to_relay[arc / problem_.part_arcs];
    if (enters_relay) least = std::min(least, cost[arc]);
  }
  std::vector<double> into_host(graph.node_count, 0.0);
  for (std::uint32_t host = 0; host < graph.node_count; ++host) {
    if (!receives(host)) continue;
    into_host[host] = kInfinite;
    for (const std::uint32_t arc : into[host]) {
      if (is_root_arc(arc)) continue;
      const bool relayed = graph.relay(graph.tail[arc]);
      const double path = cost[arc] + (relayed ? to_relay[arc / problem_.part_arcs] : 0);
      into_host[host] = std::min(into_host[host], path);
    }
  }
  for (std::uint32_t host = 0; host < graph.node_count; ++host) into_host[host] *= received_[host];
  double most_of_one = 0;
  for (const auto& [first, second] : root_arcs()) {
    const double both = into_host[graph.head[first]] + into_host[graph.head[second]];
    most_of_one = std::max(most_of_one, both);
  }
  return std::accumulate(into_host.begin(), into_host.end(), 0.0) - most_of_one;
}

void PlainBounds::take(std::span<const RowValue> prices, double rate) {
  if (!(rate < best_.rate)) return;
  best_.rate = rate;
  best_.prices.assign(least_in_all_.size(), 0.0);
  for (const auto& [row, value] : prices) best_.prices[row] = value;
}

}  // namespace

PlainBound plain_bound(const PackingProblem& problem) {
  return PlainBounds(problem).best();
}

PlainBound plain_bound(const PackingProblem& problem, std::span<const PartRoot> roots) {
  return PlainBounds(problem, roots).best();
}

std::vector<std::uint32_t> arcs_per_resource(const PackingProblem& problem) {
  const auto columns = static_cast<std::uint32_t>(problem.occupation.cols());
  std::vector<std::uint32_t> arcs(static_cast<std::size_t>(problem.occupation.rows()), 0);
  for (std::uint32_t arc = 0; arc < std::min(columns, problem.part_arcs); ++arc) {
    for (auto use = uses_of(problem.occupation, arc); use; ++use) {
      ++arcs[static_cast<std::size_t>(use.row())];
    }
  }
  return arcs;
}

}  // namespace espalier::lp
