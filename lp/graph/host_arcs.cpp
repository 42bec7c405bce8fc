#include "lp/graph/host_arcs.hpp"

#include <algorithm>
#include <limits>

namespace espalier::lp {

HostArcs::HostArcs(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                   std::span<const double> arc_cost, const Deadline& deadline)
    : graph_(&graph),
      hosts_(graph, deadline),
      resource_count_(static_cast<std::size_t>(occupation.rows())) {
  hosts_.reprice(arc_cost);
  DeadlineWatch watch(deadline);
  list_paths(occupation, watch);
  into_ = ArcsByEnd(hosts_.head(), node_count());
  out_of_ = ArcsByEnd(hosts_.tail(), node_count());
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    const auto first = into_.arcs.begin() + static_cast<std::ptrdiff_t>(into_.first[node]);
    const auto last = into_.arcs.begin() + static_cast<std::ptrdiff_t>(into_.first[node + 1]);
    watch.require(std::size_t{4} * static_cast<std::size_t>(last - first));
    std::stable_sort(first, last,
                     [&](std::uint32_t a, std::uint32_t b) { return tail(a) < tail(b); });
  }
}

void HostArcs::append_uses(const Eigen::SparseMatrix<double>& occupation,
                           std::span<const std::uint32_t> path, std::vector<Use>& uses) {
  const auto first = static_cast<std::ptrdiff_t>(uses.size());
  for (const std::uint32_t hop : path) {
    using Matrix = Eigen::SparseMatrix<double>;
    for (Matrix::InnerIterator it(occupation, static_cast<Eigen::Index>(hop)); it; ++it) {
      const auto resource = static_cast<std::uint32_t>(it.row());
      const auto known = std::find_if(uses.begin() + first, uses.end(),
                                      [&](const Use& use) { return use.resource == resource; });
      if (known != uses.end()) {
        known->seconds_per_byte += it.value();
      } else {
        uses.push_back({resource, it.value()});
      }
    }
  }
}

void HostArcs::list_paths(const Eigen::SparseMatrix<double>& occupation, DeadlineWatch& watch) {
  std::vector<std::uint32_t> path;
  for (std::uint32_t arc = 0; arc < size(); ++arc) {
    path.clear();
    hosts_.append_path(arc, path);
    watch.require(8 * path.size());
    append_uses(occupation, path, uses_);
    first_use_.push_back(uses_.size());
    if (graph_->latency_s.empty()) continue;
    double& latency = latency_s_.emplace_back(0);
    for (const std::uint32_t hop : path) latency += graph_->latency_s[hop];
  }
}

double HostArcs::weight(std::uint32_t arc) const {
  double largest = 0;
  for (const Use& use : uses(arc)) largest = std::max(largest, use.seconds_per_byte);
  return largest;
}

void HostArcs::reserve_for_long_ones(double nearer) {
  std::vector<double> shortest_s(resource_count_, std::numeric_limits<double>::infinity());
  for (std::uint32_t arc = 0; arc < size(); ++arc) {
    for (const Use& use : uses(arc)) {
      shortest_s[use.resource] = std::min(shortest_s[use.resource], latency_s(arc));
    }
  }
  for (std::uint32_t arc = 0; arc < size(); ++arc) {
    const double slowest = weight(arc);
    for (std::size_t use = first_use_[arc]; use < first_use_[arc + 1]; ++use) {
      const bool has_nearer = shortest_s[uses_[use].resource] < nearer * latency_s(arc);
      if (has_nearer) uses_[use].seconds_per_byte = slowest;
    }
  }
}

std::uint32_t HostArcs::find(std::uint32_t from, std::uint32_t to) const {
  const std::span<const std::uint32_t> candidates = into(to);
  const auto at =
      std::lower_bound(candidates.begin(), candidates.end(), from,
                       [&](std::uint32_t arc, std::uint32_t node) { return tail(arc) < node; });
  return at != candidates.end() && tail(*at) == from ? *at : UINT32_MAX;
}

std::vector<std::uint32_t> HostArcs::arcs_of(const RoutedTree& tree) const {
  std::vector<std::uint32_t> arcs;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto [parent, child] = ends_of(tree.path(edge));
    arcs.push_back(find(parent, child));
  }
  return arcs;
}

void HostArcs::add_edge(std::uint32_t arc, RoutedTree& tree) const {
  std::vector<std::uint32_t> path;
  hosts_.append_path(arc, path);
  tree.add_edge(path);
}

bool HostArcs::add_edge(std::uint32_t parent, std::uint32_t child, bool to_root,
                        RoutedTree& tree) const {
  const std::uint32_t arc = to_root ? find(child, parent) : find(parent, child);
  if (arc != kNone) add_edge(arc, tree);
  return arc != kNone;
}

}  // namespace espalier::lp
