#include "lp/fabric/racks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

#include "lp/bounds/plain_bound.hpp"

namespace espalier::lp {

namespace {

double use_of(const SparseMatrix& occupation, std::uint32_t arc, std::uint32_t row) {
  return occupation.coeff(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(arc));
}

// Whether no other arc occupies what the host's own two do.
bool is_alone(const SparseMatrix& occupation, std::span<const std::uint32_t> arcs_per_row,
              std::uint32_t arc_out, std::uint32_t arc_in) {
  for (const std::uint32_t arc : {arc_out, arc_in}) {
    const std::uint32_t other = arc == arc_out ? arc_in : arc_out;
    for (auto use = uses_of(occupation, arc); use; ++use) {
      const auto row = static_cast<std::uint32_t>(use.row());
      const std::uint32_t own = use_of(occupation, other, row) > 0 ? 2 : 1;
      if (arcs_per_row[row] != own) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Racks> Racks::of(const PackingProblem& whole) {
  constexpr std::size_t kFewHosts = 3;  // a rack
  const auto fabric = fabric_tree(whole, 1);
  if (!fabric) return std::nullopt;
  const std::vector<std::uint32_t> arcs_per_row = arcs_per_resource(whole);
  for (std::uint32_t node = 0; node < whole.graph.node_count; ++node) {
    if (!whole.graph.relay(node) &&
        !is_alone(whole.occupation, arcs_per_row, fabric->arc_out[node], fabric->arc_in[node])) {
      return std::nullopt;
    }
  }
  Racks racks(whole);
  racks.gather(*fabric);
  const std::size_t count = racks.racks_.size();
  if (count < 2 || count * kFewHosts > whole.graph.host_count()) return std::nullopt;
  racks.build_graph();
  racks.build_matrix();
  return racks;
}

Racks::Host Racks::host_of(const FabricTree& fabric, std::uint32_t node) const {
  Host host{node, fabric.arc_out[node], fabric.arc_in[node], 0, 0, 0, 0, 0};
  for (auto use = uses_of(*whole_occupation_, host.arc_out); use; ++use) {
    const auto row = static_cast<std::uint32_t>(use.row());
    const double by_receiving = node == root_ ? 0 : use_of(*whole_occupation_, host.arc_in, row);
    if (std::pair(use.value(), by_receiving) <= std::pair(host.send, host.send_by_receiving)) {
      continue;
    }
    host.send = use.value();
    host.send_by_receiving = by_receiving;
    host.sending_row = row;
  }
  for (auto use = uses_of(*whole_occupation_, host.arc_in); use; ++use) {
    if (use.value() <= host.receive) continue;
    host.receive = use.value();
    host.receiving_row = static_cast<std::uint32_t>(use.row());
  }
  return host;
}

void Racks::gather(const FabricTree& fabric) {
  rack_of_.assign(whole_graph_->node_count, kNone);
  std::vector<std::uint32_t> rack_at(whole_graph_->node_count, kNone);  // per switch
  std::vector<std::uint32_t> hosts{root_};
  hosts.insert(hosts.end(), fabric.hosts.begin(), fabric.hosts.end());
  for (const std::uint32_t node : hosts) {
    std::uint32_t& rack = rack_at[whole_graph_->head[fabric.arc_out[node]]];
    if (rack == kNone) {
      rack = static_cast<std::uint32_t>(racks_.size());
      racks_.emplace_back();
    }
    rack_of_[node] = rack;
    racks_[rack].push_back(host_of(fabric, node));
  }
}

void Racks::build_graph() {
  const Digraph& whole = *whole_graph_;
  graph_.node_count = whole.node_count;
  graph_.is_relay.assign(whole.node_count, 1);
  for (const Rack& rack : racks_) graph_.is_relay[rack.front().node] = 0;
  for (std::uint32_t arc = 0; arc < whole.arc_count(); ++arc) {
    const auto is_left_out = [&](std::uint32_t node) {
      return !whole.relay(node) && graph_.is_relay[node] != 0;
    };
    const bool is_into_root = whole.head[arc] == root_;  // which no tree uses
    if (is_into_root || is_left_out(whole.tail[arc]) || is_left_out(whole.head[arc])) continue;
    arc_of_.push_back(arc);
    graph_.tail.push_back(whole.tail[arc]);
    graph_.head.push_back(whole.head[arc]);
    if (!whole.latency_s.empty()) graph_.latency_s.push_back(whole.latency_s[arc]);
  }
}

std::uint32_t Racks::row_of_sending(std::size_t rack) const {
  return static_cast<std::uint32_t>(static_cast<std::size_t>(whole_occupation_->rows()) + 2 * rack);
}
std::uint32_t Racks::row_of_receiving(std::size_t rack) const {
  return row_of_sending(rack) + 1;
}
std::uint32_t Racks::row_of_root() const {
  return row_of_sending(racks_.size());
}

// Bytes per second that all hosts send if they receive nothing.
double Racks::capacity_of(const Rack& rack) const {
  double capacity = 0;
  for (const Host& host : rack) capacity += 1 / host.send;
  return capacity;
}

// Every tree enters each rack but the root's over the one arc into it, so that what it does within
// a rack is a property of that arc. What it does in the root's rack is one of the arc into the
// second.
void Racks::build_matrix() {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](std::uint32_t row, std::size_t arc, double value) {
    if (value > 0) {
      entries.emplace_back(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(arc), value);
    }
  };
  const auto add_inside = [&](std::size_t rack, std::size_t arc) {
    const Rack& hosts = racks_[rack];
    double passed_on = static_cast<double>(hosts.size()) - 1;
    double receive = 0;
    for (const Host& host : hosts) {
      passed_on += host.send_by_receiving / host.send;
      if (host.node != root_) receive = std::max(receive, host.receive);
    }
    add(row_of_sending(rack), arc, passed_on / capacity_of(hosts));
    add(row_of_receiving(rack), arc, receive);
  };
  for (std::size_t arc = 0; arc < arc_of_.size(); ++arc) {
    const auto [tail, head] = std::pair(graph_.tail[arc], graph_.head[arc]);
    if (rack_of_[tail] != kNone) {
      add(row_of_sending(rack_of_[tail]), arc, 1 / capacity_of(racks_[rack_of_[tail]]));
    } else if (const std::uint32_t rack = rack_of_[head]; rack != kNone) {
      add_inside(rack, arc);
      if (rack == 1) {
        add_inside(0, arc);
        add(row_of_root(), arc, racks_[0].front().send);
      }
    } else {
      for (auto use = uses_of(*whole_occupation_, arc_of_[arc]); use; ++use) {
        add(static_cast<std::uint32_t>(use.row()), arc, use.value());
      }
    }
  }
  occupation_.resize(static_cast<Eigen::Index>(row_of_root()) + 1,
                     static_cast<Eigen::Index>(arc_of_.size()));
  occupation_.setFromTriplets(entries.begin(), entries.end());
}

std::vector<double> Racks::prices(std::span<const double> of_racks) const {
  const auto rows = static_cast<std::size_t>(whole_occupation_->rows());
  std::vector<double> prices(of_racks.begin(),
                             of_racks.begin() + static_cast<std::ptrdiff_t>(rows));
  for (std::size_t rack = 0; rack < racks_.size(); ++rack) {
    const Rack& hosts = racks_[rack];
    const double share = of_racks[row_of_sending(rack)] / capacity_of(hosts);
    for (const Host& host : hosts) prices[host.sending_row] += share / host.send;
    const auto slowest = std::ranges::max_element(
        hosts, {}, [&](const Host& host) { return host.node == root_ ? 0 : host.receive; });
    prices[slowest->receiving_row] += of_racks[row_of_receiving(rack)];
  }
  prices[racks_[0].front().sending_row] += of_racks[row_of_root()];
  return prices;
}

// Divides the children in each rack among its hosts, tree by tree, and builds the trees.
class Racks::Expansion {
 public:
  Expansion(const Racks& racks, std::span<const PackedTree> of_racks);

  [[nodiscard]] RoutedTree tree(std::size_t tree) const;

 private:
  using Budgets = std::vector<std::int64_t>;  // children of a host in one tree
  // How a tree of racks goes on from one.
  struct Exit {
    std::uint32_t rack;
    std::vector<std::uint32_t> path;  // arcs of the whole, without the hosts' own
  };
  using RackTree = std::vector<std::vector<Exit>>;  // per rack

  void read(const RoutedTree& tree);
  void deal(std::size_t rack);
  bool deal_to(const Host& host, std::int64_t most);
  [[nodiscard]] std::uint32_t entry_of(std::size_t tree, std::size_t rack) const;
  void fill_rack(std::size_t tree, std::size_t rack, RoutedTree& into) const;

  const Racks& racks_;
  std::vector<double> rates_;     // per tree, bytes per second
  std::vector<RackTree> exits_;   // per tree
  std::vector<Budgets> budgets_;  // per tree and node
  std::vector<double> left_;      // per node, bytes per second that it can still send
  Budgets lack_;                  // per tree, in the rack in progress
};

Racks::Expansion::Expansion(const Racks& racks, std::span<const PackedTree> of_racks)
    : racks_(racks),
      budgets_(of_racks.size(), Budgets(racks.rack_of_.size(), 0)),
      left_(racks.rack_of_.size(), 0.0),
      lack_(of_racks.size(), 0) {
  double rate = 0;
  for (const PackedTree& packed : of_racks) {
    rates_.push_back(packed.rate);
    rate += packed.rate;
    read(packed.tree);
  }
  for (std::size_t rack = 0; rack < racks.racks_.size(); ++rack) {
    for (const Host& host : racks.racks_[rack]) {
      left_[host.node] = (1 - rate * host.send_by_receiving) / host.send;
    }
    deal(rack);
  }
}

void Racks::Expansion::read(const RoutedTree& tree) {
  RackTree& exits = exits_.emplace_back(racks_.racks_.size());
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    Exit exit{racks_.rack_of_[racks_.graph_.head[path.back()]], {}};
    for (const std::uint32_t arc : path.subspan(1, path.size() - 2)) {
      exit.path.push_back(racks_.arc_of_[arc]);
    }
    exits[racks_.rack_of_[racks_.graph_.tail[path.front()]]].push_back(std::move(exit));
  }
}

// The root sends in every tree. Otherwise host by host, each to the tree that lacks most; at first
// few children in one tree, so that the trees are of little degree; what does not fit in the end
// overloads the host that has most left.
void Racks::Expansion::deal(std::size_t rack) {
  constexpr std::int64_t kFewInOneTree = 4;
  constexpr std::int64_t kMostInOneTree = 4096;
  const Rack& hosts = racks_.racks_[rack];
  for (std::size_t tree = 0; tree < lack_.size(); ++tree) {
    lack_[tree] = static_cast<std::int64_t>(hosts.size() - 1 + exits_[tree][rack].size());
    if (hosts.front().node != racks_.root_) continue;
    budgets_[tree][racks_.root_] = 1;
    left_[racks_.root_] -= rates_[tree];
    --lack_[tree];
  }
  for (std::int64_t most = kFewInOneTree; most <= kMostInOneTree; most *= 2) {
    for (const Host& host : hosts) {
      while (deal_to(host, most)) {
      }
    }
  }
  for (std::size_t tree = 0; tree < lack_.size(); ++tree) {
    for (; lack_[tree] > 0; --lack_[tree]) {
      const Host& host = *std::ranges::max_element(
          hosts, {}, [&](const Host& one) { return left_[one.node] * one.send; });
      ++budgets_[tree][host.node];
      left_[host.node] -= rates_[tree];
    }
  }
}

bool Racks::Expansion::deal_to(const Host& host, std::int64_t most) {
  constexpr std::int64_t kUnit = 2;
  const std::size_t none = lack_.size();
  std::size_t best = none;
  const double left = left_[host.node] * (1 + kFabricRounding);
  for (std::size_t tree = 0; tree < lack_.size(); ++tree) {
    if (lack_[tree] == 0 || rates_[tree] > left || budgets_[tree][host.node] >= most) continue;
    const auto weight = [&](std::size_t one) {
      return rates_[one] * static_cast<double>(lack_[one]);
    };
    if (best == none || weight(tree) > weight(best)) best = tree;
  }
  if (best == none) return false;
  const auto fit =
      static_cast<std::int64_t>(std::min(left / rates_[best], static_cast<double>(kUnit)));
  const std::int64_t unit = std::min({fit, lack_[best], most - budgets_[best][host.node]});
  budgets_[best][host.node] += unit;
  lack_[best] -= unit;
  left_[host.node] -= static_cast<double>(unit) * rates_[best];
  return true;
}

std::uint32_t Racks::Expansion::entry_of(std::size_t tree, std::size_t rack) const {
  const Rack& hosts = racks_.racks_[rack];
  if (hosts.front().node == racks_.root_) return 0;
  const auto most = std::ranges::max_element(
      hosts, {}, [&](const Host& host) { return budgets_[tree][host.node]; });
  return static_cast<std::uint32_t>(most - hosts.begin());
}

// Level by level: hosts with children, then other racks, then hosts without.
void Racks::Expansion::fill_rack(std::size_t tree, std::size_t rack, RoutedTree& into) const {
  const Rack& hosts = racks_.racks_[rack];
  const Budgets& budgets = budgets_[tree];
  const std::vector<Exit>& exits = exits_[tree][rack];
  const std::uint32_t entry = entry_of(tree, rack);
  std::vector<std::uint32_t> inner;
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    if (i != entry) (budgets[hosts[i].node] > 0 ? inner : leaves).push_back(i);
  }
  std::ranges::stable_sort(inner, std::greater<>(),
                           [&](std::uint32_t i) { return budgets[hosts[i].node]; });
  std::deque<std::uint32_t> open{entry};
  std::size_t next_inner = 0;
  std::size_t next_exit = 0;
  std::size_t next_leaf = 0;
  std::vector<std::uint32_t> path;
  while (next_inner + next_exit + next_leaf < inner.size() + exits.size() + leaves.size()) {
    const Host& parent = hosts[open.front()];
    open.pop_front();
    for (std::int64_t child = 0; child < budgets[parent.node]; ++child) {
      path.assign(1, parent.arc_out);
      if (next_inner < inner.size()) {
        open.push_back(inner[next_inner]);
        path.push_back(hosts[inner[next_inner++]].arc_in);
      } else if (next_exit < exits.size()) {
        const Exit& exit = exits[next_exit++];
        path.insert(path.end(), exit.path.begin(), exit.path.end());
        path.push_back(racks_.racks_[exit.rack][entry_of(tree, exit.rack)].arc_in);
      } else if (next_leaf < leaves.size()) {
        path.push_back(hosts[leaves[next_leaf++]].arc_in);
      } else {
        break;
      }
      into.add_edge(path);
    }
  }
}

RoutedTree Racks::Expansion::tree(std::size_t tree) const {
  RoutedTree whole;
  std::vector<std::uint32_t> open{0};
  for (std::size_t i = 0; i < open.size(); ++i) {
    fill_rack(tree, open[i], whole);
    for (const Exit& exit : exits_[tree][open[i]]) open.push_back(exit.rack);
  }
  return whole;
}

std::vector<PackedTree> Racks::expand(std::span<const PackedTree> of_racks) const {
  const Expansion expansion(*this, of_racks);
  std::vector<PackedTree> trees;
  std::vector<double> load(static_cast<std::size_t>(whole_occupation_->rows()), 0.0);
  for (std::size_t i = 0; i < of_racks.size(); ++i) {
    trees.push_back({expansion.tree(i), of_racks[i].rate});
    const std::vector<double> of_tree = tree_load(*whole_occupation_, trees[i].tree);
    for (std::size_t row = 0; row < load.size(); ++row) load[row] += trees[i].rate * of_tree[row];
  }
  const double fullest = std::ranges::max(load);
  for (PackedTree& tree : trees) tree.rate /= fullest;
  return trees;
}

}  // namespace espalier::lp
