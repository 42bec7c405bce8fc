#include "lp/steiner/helper_choice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier::lp {
namespace {

std::vector<std::uint32_t> with_more(std::vector<std::uint32_t> ends,
                                     std::span<const std::uint32_t> more) {
  ends.insert(ends.end(), more.begin(), more.end());
  return ends;
}

}  // namespace

HelperChoice::HelperChoice(const HostNetwork& network, const Deadline& deadline)
    : network_(network),
      arborescence_(network.nodes,
                    with_more(network.tail, std::vector(network.helpers.size(), network.root)),
                    with_more(network.head, network.helpers), network.root, deadline),
      cost_(network.tail.size() + network.helpers.size()) {}

void HelperChoice::set_costs(std::span<const double> cost) {
  given_ = cost;
  far_ = 1 + 2 * std::accumulate(cost.begin(), cost.end(), 0.0);
}

std::optional<SteinerTree> HelperChoice::tree_with(std::vector<char>& helps) {
  const std::size_t arcs = given_.size();
  std::ranges::copy(given_, cost_.begin());
  for (std::size_t i = 0; i < network_.helpers.size(); ++i) {
    const std::uint32_t helper = network_.helpers[i];
    cost_[arcs + i] = helps[helper] != 0 ? far_ : 0;
    if (helps[helper] != 0) continue;
    for (const std::uint32_t arc : network_.out_of.of(helper)) cost_[arc] = far_;
  }
  const std::span<const std::uint32_t> chosen = arborescence_.solve(cost_);
  if (chosen.size() + 1 != network_.nodes) return std::nullopt;
  SteinerTree tree;
  for (const std::uint32_t arc : chosen) {
    if (cost_[arc] >= far_) return std::nullopt;
    const std::uint32_t to = network_.head[std::min<std::size_t>(arc, arcs - 1)];
    if (arc < arcs && (network_.is_helper[to] == 0 || helps[to] != 0)) tree.arcs.push_back(arc);
  }
  tree.arcs = without_idle(tree.arcs, helps);
  for (const std::uint32_t arc : tree.arcs) tree.cost += given_[arc];
  return tree;
}

std::vector<std::uint32_t> HelperChoice::without_idle(std::span<const std::uint32_t> chosen,
                                                      std::vector<char>& helps) const {
  std::vector<std::uint32_t> children(network_.nodes, 0);
  std::vector<std::uint32_t> into(network_.nodes, kNone);
  for (const std::uint32_t arc : chosen) {
    ++children[network_.tail[arc]];
    into[network_.head[arc]] = arc;
  }
  for (const std::uint32_t helper : network_.helpers) {
    std::uint32_t node = helper;
    while (helps[node] != 0 && children[node] == 0 && into[node] != kNone) {
      helps[node] = 0;
      node = network_.tail[std::exchange(into[node], kNone)];
      --children[node];
    }
  }
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t arc : chosen) {
    if (into[network_.head[arc]] == arc) kept.push_back(arc);
  }
  return kept;
}

}  // namespace espalier::lp
