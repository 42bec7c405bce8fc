// The cheapest tree from a root to some of the hosts, over others that may copy on the way: exactly
// where few hosts are members or few may help, otherwise a good tree and a proven bound. Theory:
// docs/model.md, "Some of the hosts".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/host_graph.hpp"
#include "lp/packing/cheapest_tree.hpp"
#include "lp/steiner/dual_ascent.hpp"
#include "lp/steiner/helper_choice.hpp"
#include "lp/steiner/host_network.hpp"
#include "lp/steiner/terminal_sets.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class CheapestMemberTree {
 public:
  // Keeps a reference to `graph`. is_member: per node. All other hosts may help. This and solve
  // throw LimitReached when the deadline passes.
  CheapestMemberTree(const Digraph& graph, std::uint32_t root, std::span<const char> is_member,
                     const Deadline& deadline = Deadline());

  // cost: per arc, >= 0. Nothing where some member cannot be reached.
  std::optional<PricedTree> solve(std::span<const double> cost);

 private:
  [[nodiscard]] SteinerTree good_tree();
  void try_others(SteinerTree& best, std::vector<char>& helps);
  [[nodiscard]] SteinerTree best_choice(SteinerTree best);

  HostGraph hosts_;
  HostNetwork network_;
  std::optional<DualAscent> ascent_{};
  std::optional<HelperChoice> choice_{};
  std::optional<TerminalSets> sets_{};  // where that is quick enough for every price
  bool tries_all_ = false;              // all choices of helpers, likewise
  std::size_t next_helper_ = 0;         // to try, in turn over all prices
  std::vector<double> cost_;            // per arc of network_
};

}  // namespace espalier::lp
