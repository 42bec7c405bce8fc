// The cheapest tree over hosts whose edges are paths through relays, without listing the pairs of
// hosts: Edmonds' contraction, where every host searches backwards for the nearest other host, and
// a contracted component goes on with the searches of its hosts (docs/methods.md, "The cheapest
// arborescence"). Memory and, where searches seldom overlap, time near-linear in the arcs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/graph/contraction.hpp"
#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// Values by two numbers, in one array (open addressing): far faster than std::unordered_map here.
class PairTable {
 public:
  void clear();
  // kNone where there was none. Valid until the next call.
  std::uint32_t& at(std::uint32_t first, std::uint32_t second);

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t value;
  };
  static constexpr Slot kFree{UINT64_MAX, kNone};
  Slot& slot_of(std::uint64_t key);
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them in use
  std::size_t used_ = 0;
};

class RelayArborescence : private Contraction<RelayArborescence> {
 public:
  // Keeps a reference to `graph`. root: a host.
  RelayArborescence(const Digraph& graph, std::uint32_t root,
                    const Deadline& deadline = Deadline());

  // arc_cost: per arc of the digraph, >= 0. The tree whose paths cost least in all; unset: some
  // host cannot be reached. Ties are broken deterministically. Throws LimitReached when the
  // deadline passes.
  std::optional<RoutedTree> solve(std::span<const double> arc_cost);

  // As of MinCostArborescence; from_each: per node of the digraph, 0 for relays.
  bool solve_from_each(std::span<const double> arc_cost, std::vector<double>& from_each);
  RoutedTree tree_from(std::uint32_t root_arc);

  // Of the last solve, summed over all paths.
  [[nodiscard]] double total_cost() const { return total_cost_; }

 private:
  friend class Contraction<RelayArborescence>;
  // A node that the search from a host has reached: the host itself, or a relay.
  struct Reached {
    std::uint32_t node;
    std::uint32_t host;  // number of the host
    std::uint32_t arc;   // towards the host; kNone: the host itself
    std::uint32_t next;  // what that arc leads to
    double distance;     // to the host
  };
  // What is next in a search: an arc into a node that was reached. Of a node's arcs only the
  // cheapest one left waits.
  struct Waiting {
    double cost;  // least of a path from any host over this arc to the host of the search
    double near;  // from any host to the arc's tail
    std::uint32_t reached;
    std::uint32_t position;  // in in_arcs_
    bool operator>(const Waiting& other) const;
  };
  struct InArc {
    double order;  // cost, and from the nearest host to the tail
    std::uint32_t arc;
  };
  // An arc chosen into a component: the first of the path, and where it leads.
  struct Choice {
    std::uint32_t arc;
    std::uint32_t reached;
  };

  bool contract(std::span<const double> arc_cost);
  [[nodiscard]] RoutedTree chosen_paths() const;

  bool choose(std::uint32_t host);
  void open(std::uint32_t /*host*/) {}
  [[nodiscard]] double top_cost(std::uint32_t host) const { return waiting_[host].front().cost; }
  [[nodiscard]] std::uint32_t top_tail(std::uint32_t host) const;
  std::uint32_t take_top(std::uint32_t host);
  bool drop_top(std::uint32_t host, std::uint32_t component);
  [[nodiscard]] std::uint32_t head_of(std::uint32_t choice) const {
    return reached_[choices_[choice].reached].host;
  }
  void absorb(std::uint32_t component, std::uint32_t member, double shift);

  void list_arcs();
  void find_nearest_hosts();
  void sort_in_arcs();
  void wait_for(std::uint32_t reached, std::uint32_t position);
  double cost_from(std::uint32_t reached);
  void merge_sets(std::uint32_t into, std::uint32_t from);

  const Digraph* graph_;
  DeadlineWatch watch_;
  std::vector<std::uint32_t> host_;      // per host number: its node
  std::vector<std::uint32_t> number_;    // per node: its host number; kNone: a relay
  std::vector<std::uint32_t> first_in_;  // per node, into in_arcs_
  std::vector<std::uint32_t> end_in_;    // without arcs that no host can reach
  std::vector<InArc> in_arcs_;
  std::vector<std::uint32_t> first_out_;  // per node, into out_
  std::vector<std::uint32_t> out_;        // arcs into relays

  std::span<const double> arc_cost_;
  std::vector<double> near_;  // per node: from the nearest host
  std::vector<Reached> reached_;
  std::vector<std::vector<Waiting>> waiting_;  // per host: a heap
  std::vector<Choice> choices_;

  // The hosts of a component share what they have reached: a set, named after one of its hosts.
  // Union-find; a host's shift is the sum of shift_ up to its root.
  std::vector<std::uint32_t> set_;
  std::vector<double> shift_;
  std::vector<std::vector<std::uint32_t>> relays_of_;  // per set
  PairTable reached_by_;                               // set, relay -> index in reached_
  std::vector<std::uint32_t> set_of_component_;
  double total_cost_ = 0;
};

}  // namespace espalier::lp
