// The cheapest tree that contains the root, all members, and some helpers, but no other nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/graph/min_cost_arborescence.hpp"
#include "lp/steiner/host_network.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class HelperChoice {
 public:
  // Keeps a reference.
  explicit HelperChoice(const HostNetwork& network, const Deadline& deadline = Deadline());

  void set_costs(std::span<const double> cost);  // per arc, >= 0; must outlive the calls below

  // helps: per node, whether it is a helper that takes part. The cheapest tree that contains all of
  // these, and then without those that pass nothing on, which are cleared in `helps`. Nothing where
  // there is no tree.
  std::optional<SteinerTree> tree_with(std::vector<char>& helps);

 private:
  [[nodiscard]] std::vector<std::uint32_t> without_idle(std::span<const std::uint32_t> chosen,
                                                        std::vector<char>& helps) const;

  const HostNetwork& network_;
  // The network's arcs, and one from the root to each helper, which costs nothing while the helper
  // takes no part.
  MinCostArborescence arborescence_;
  std::span<const double> given_{};
  std::vector<double> cost_;
  double far_ = 0;  // more than any tree costs
};

}  // namespace espalier::lp
