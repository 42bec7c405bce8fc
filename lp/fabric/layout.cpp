#include "lp/fabric/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include "lp/bounds/narrowest_cut.hpp"

namespace espalier::lp {

namespace {

using Hosts = std::vector<std::uint32_t>;
using Budgets = std::vector<std::int64_t>;  // per node: its children in one tree at most

constexpr std::int64_t kMostChildren = 4;  // of a host in a tree; more make its segments late

// The children that a host's link has room for beside what it receives, over all trees.
std::int64_t room_of(const PackingProblem& problem, const FabricTree& fabric, std::uint32_t host,
                     double rate, std::size_t trees) {
  double room = static_cast<double>(trees) * static_cast<double>(fabric.hosts.size());
  for (auto out = uses_of(problem.occupation, fabric.arc_out[host]); out; ++out) {
    double left = 1;
    for (auto in = uses_of(problem.occupation, fabric.arc_in[host]); in && host != problem.root;
         ++in) {
      if (in.row() == out.row()) left -= rate * in.value();
    }
    room = std::min(room, static_cast<double>(trees) * left / (rate * out.value()));
  }
  return static_cast<std::int64_t>(std::floor(room + kFabricRounding));
}

bool share_a_row(const PackingProblem& problem, std::uint32_t one, std::uint32_t other) {
  for (SparseMatrix::InnerIterator a(problem.occupation, static_cast<Eigen::Index>(one)); a; ++a) {
    for (SparseMatrix::InnerIterator b(problem.occupation, static_cast<Eigen::Index>(other)); b;
         ++b) {
      if (a.row() == b.row()) return true;
    }
  }
  return false;
}

// Deals the hosts' (or groups') room for children among the trees in units of two, each to the tree
// that lacks most, so that the inner ones of one tree are leaves of another. lack: per tree, how
// many it must get together. The root has one in each. False: a tree lacks some in the end.
class Dealer {
 public:
  Dealer(std::vector<Budgets>& budgets, Budgets lack) : budgets_(budgets), lack_(std::move(lack)) {}

  bool deal_root(std::uint32_t id, std::int64_t room) {
    if (room < static_cast<std::int64_t>(lack_.size())) return false;
    for (std::size_t tree = 0; tree < lack_.size(); ++tree) give(tree, id, 1);
    deal(id, room - static_cast<std::int64_t>(lack_.size()));
    return true;
  }
  void deal(std::uint32_t id, std::int64_t room) {
    while (room > 0) {
      const std::size_t none = lack_.size();
      std::size_t best = none;
      for (std::size_t tree = 0; tree < lack_.size(); ++tree) {
        if (budgets_[tree][id] + std::min<std::int64_t>(room, 2) > kMostChildren) continue;
        if (best == none || lack_[tree] > lack_[best]) best = tree;
      }
      if (best == none) return;
      const std::int64_t unit = lack_[best] == 1 ? 1 : std::min<std::int64_t>(room, 2);
      give(best, id, unit);
      room -= unit;
    }
  }
  [[nodiscard]] bool is_enough() const {
    return std::ranges::all_of(lack_, [](std::int64_t its) { return its <= 0; });
  }

 private:
  void give(std::size_t tree, std::uint32_t id, std::int64_t unit) {
    budgets_[tree][id] += unit;
    lack_[tree] -= unit;
  }

  std::vector<Budgets>& budgets_;  // per tree
  Budgets lack_;
};

// One tree over hosts in an order.
class Layout {
 public:
  Layout(const HostOrder& order, const Budgets& budgets) : order_(order), budgets_(budgets) {}

  // Empty: an interval cannot be split.
  HostTree tree(std::uint32_t root, const Hosts& all) {
    if (budgets_[root] == 0 || !split(root, all)) return {};
    while (!open_.empty()) {
      auto [parent, hosts] = std::move(open_.front());
      open_.pop_front();
      const std::uint32_t head = take_head(parent, hosts);
      edges_.push_back({parent, head});
      if (!hosts.empty() && !split(head, hosts)) return {};
    }
    return std::move(edges_);
  }

 private:
  struct Part {
    std::uint32_t parent;
    Hosts hosts;
  };

  // How many more children the host may have than it is hosts itself.
  [[nodiscard]] std::int64_t gain(std::uint32_t host) const { return budgets_[host] - 1; }

  std::uint32_t take_head(std::uint32_t parent, Hosts& hosts) const;
  [[nodiscard]] Hosts balanced(const Hosts& hosts) const;
  bool split(std::uint32_t parent, const Hosts& hosts);
  [[nodiscard]] std::size_t cut_of(std::span<const std::uint32_t> hosts, std::int64_t total,
                                   std::int64_t parts) const;

  const HostOrder& order_;
  const Budgets& budgets_;
  std::deque<Part> open_;
  HostTree edges_;
};

// The host nearest to the parent that can have children, if there are any to have.
std::uint32_t Layout::take_head(std::uint32_t parent, Hosts& hosts) const {
  std::size_t best = 0;
  std::uint32_t least = UINT32_MAX;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts.size() > 1 && budgets_[hosts[i]] == 0) continue;
    const std::uint32_t apart = order_.distance(parent, hosts[i]);
    if (apart < least) {
      least = apart;
      best = i;
    }
  }
  const std::uint32_t head = hosts[best];
  hosts.erase(hosts.begin() + static_cast<std::ptrdiff_t>(best));
  return head;
}

// The hosts in nearly the same order, so that in every part leaves and inner hosts are about in
// balance: leaves wait for inner hosts, and the other way round.
Hosts Layout::balanced(const Hosts& hosts) const {
  std::int64_t total = 0;
  for (const std::uint32_t host : hosts) total += gain(host);
  const std::int64_t most = std::max<std::int64_t>(total, 0) + 1;
  Hosts order;
  std::deque<std::size_t> leaves;
  std::deque<std::size_t> inner;
  std::int64_t excess = 0;
  const auto put = [&](std::deque<std::size_t>& from) {
    excess += gain(hosts[from.front()]);
    order.push_back(hosts[from.front()]);
    from.pop_front();
  };
  const auto put_what_fits = [&] {
    while (!leaves.empty() || !inner.empty()) {
      const bool leaf_fits = !leaves.empty() && excess >= 0;
      const bool inner_fits = !inner.empty() && excess + gain(hosts[inner.front()]) <= most;
      if (!leaf_fits && !inner_fits) return;
      const bool takes_leaf = leaf_fits && (!inner_fits || leaves.front() < inner.front());
      put(takes_leaf ? leaves : inner);
    }
  };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    (gain(hosts[i]) < 0 ? leaves : inner).push_back(i);
    put_what_fits();
  }
  while (!inner.empty()) put(inner);
  while (!leaves.empty()) put(leaves);
  return order;
}

// Splits the hosts among the parent's children. False: no cut leaves each part enough.
bool Layout::split(std::uint32_t parent, const Hosts& hosts) {
  const Hosts order = balanced(hosts);
  std::span<const std::uint32_t> rest(order);
  std::int64_t total = 0;
  for (const std::uint32_t host : rest) total += gain(host);
  for (std::int64_t parts = std::min(budgets_[parent], static_cast<std::int64_t>(order.size()));
       parts > 1; --parts) {
    const std::size_t cut = cut_of(rest, total, parts);
    if (cut == 0) return false;
    for (const std::uint32_t host : rest.first(cut)) total -= gain(host);
    open_.push_back({parent, {rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(cut)}});
    rest = rest.subspan(cut);
  }
  if (total < -1) return false;
  open_.push_back({parent, {rest.begin(), rest.end()}});
  return true;
}

// Where the first of `parts` parts ends: near its share, at the highest boundary of the fabric. 0:
// nowhere. total: the gain of all hosts.
std::size_t Layout::cut_of(std::span<const std::uint32_t> hosts, std::int64_t total,
                           std::int64_t parts) const {
  const double share = static_cast<double>(hosts.size()) / static_cast<double>(parts);
  std::size_t best = 0;
  std::pair<std::uint32_t, double> least;  // depth of the boundary, distance from the share
  std::int64_t excess = 0;
  for (std::size_t cut = 1; cut + static_cast<std::size_t>(parts) <= hosts.size() + 1; ++cut) {
    excess += gain(hosts[cut - 1]);
    if (excess < -1 || total - excess < 1 - parts) continue;
    const double off = std::abs(static_cast<double>(cut) - share) / share;
    const bool is_near = off <= 1.0 / 3;
    const std::uint32_t depth =
        is_near ? order_.depth_of_boundary(hosts[cut - 1], hosts[cut]) : UINT32_MAX;
    const std::pair value(depth, off);
    if (best == 0 || value < least) {
      best = cut;
      least = value;
    }
  }
  return best;
}

// A tree over the fabric's groups, and in each group one over its hosts, in which the entries of
// the groups that it serves are leaves. So few edges cross the thin links between groups.
class GroupLayout {
 public:
  GroupLayout(const PackingProblem& problem, const FabricTree& fabric, const HostOrder& order,
              double rate, std::size_t trees);

  // False: the hosts' links, or those between groups, have too little room.
  bool deal();
  // Empty: not found.
  [[nodiscard]] HostTree tree(std::size_t tree) const;

 private:
  [[nodiscard]] std::vector<double> links_out() const;
  bool deal_to_groups();
  bool deal_to_hosts(std::uint32_t group);
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t group, std::size_t tree) const;

  const PackingProblem& problem_;
  const FabricTree& fabric_;
  const HostOrder& order_;
  std::size_t trees_;
  double rate_;                         // bytes per second, of all trees together
  std::vector<Hosts> members_;          // per group, in order, the root first
  Hosts groups_;                        // with hosts; the root's, 0, first
  Budgets room_;                        // per host, over all trees
  std::vector<Budgets> host_budgets_;   // per tree and host
  std::vector<Budgets> group_budgets_;  // per tree and group: the groups that it may serve
};

GroupLayout::GroupLayout(const PackingProblem& problem, const FabricTree& fabric,
                         const HostOrder& order, double rate, std::size_t trees)
    : problem_(problem),
      fabric_(fabric),
      order_(order),
      trees_(trees),
      rate_(rate),
      members_(fabric.group_count),
      room_(problem.graph.node_count, 0),
      host_budgets_(trees, Budgets(problem.graph.node_count, 0)),
      group_budgets_(trees, Budgets(fabric.group_count, 0)) {
  members_[fabric.group[problem.root]].push_back(problem.root);
  for (const std::uint32_t host : order.hosts()) members_[fabric.group[host]].push_back(host);
  for (std::uint32_t group = 0; group < members_.size(); ++group) {
    if (!members_[group].empty()) groups_.push_back(group);
    for (const std::uint32_t host : members_[group]) {
      room_[host] = room_of(problem, fabric, host, rate, trees);
    }
  }
}

bool GroupLayout::deal() {
  if (groups_.size() > 1 && !deal_to_groups()) return false;
  return std::ranges::all_of(groups_, [&](std::uint32_t group) { return deal_to_hosts(group); });
}

// Bytes per second that each group's links carry out of it beside what it receives, where links of
// both directions share a resource.
std::vector<double> GroupLayout::links_out() const {
  const Digraph& graph = problem_.graph;
  std::vector<double> out(members_.size(), 0.0);
  std::vector<char> takes_both(members_.size(), 0);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const std::uint32_t from = fabric_.group[graph.tail[arc]];
    if (from == kNone || from == fabric_.group[graph.head[arc]]) continue;
    out[from] += rate_alone(problem_, arc);
    const std::uint32_t back = fabric_.reverse[arc];
    if (back != kNone && share_a_row(problem_, arc, back)) takes_both[from] = 1;
  }
  const std::uint32_t roots = fabric_.group[problem_.root];
  for (std::uint32_t group = 0; group < out.size(); ++group) {
    if (takes_both[group] != 0 && group != roots) out[group] -= rate_;
  }
  return out;
}

// What a group's hosts have room for beyond themselves, and its links carry.
bool GroupLayout::deal_to_groups() {
  const std::vector<double> out = links_out();
  const auto trees = static_cast<double>(trees_);
  const auto room_of_group = [&](std::uint32_t group) {
    std::int64_t room = 0;
    for (const std::uint32_t host : members_[group]) room += room_[host];
    room -= static_cast<std::int64_t>(trees_ * (members_[group].size() - 1));
    const double links = std::min(trees * out[group] / rate_, static_cast<double>(room));
    return static_cast<std::int64_t>(std::floor(links + kFabricRounding));
  };
  Dealer dealer(group_budgets_, Budgets(trees_, static_cast<std::int64_t>(groups_.size()) - 1));
  if (!dealer.deal_root(groups_.front(), room_of_group(groups_.front()))) return false;
  for (const std::uint32_t group : std::span(groups_).subspan(1)) {
    dealer.deal(group, room_of_group(group));
  }
  return dealer.is_enough();
}

bool GroupLayout::deal_to_hosts(std::uint32_t group) {
  Budgets needed;
  for (const Budgets& of_groups : group_budgets_) {
    needed.push_back(static_cast<std::int64_t>(members_[group].size()) - 1 + of_groups[group]);
  }
  Dealer dealer(host_budgets_, std::move(needed));
  for (const std::uint32_t host : members_[group]) {
    if (host != problem_.root) {
      dealer.deal(host, room_[host]);
    } else if (!dealer.deal_root(host, room_[host])) {
      return false;
    }
  }
  return dealer.is_enough();
}

// The root, or the first host of those that may have most children.
std::uint32_t GroupLayout::entry_of(std::uint32_t group, std::size_t tree) const {
  if (members_[group].front() == problem_.root) return problem_.root;
  return *std::ranges::max_element(members_[group], {},
                                   [&](std::uint32_t host) { return host_budgets_[tree][host]; });
}

HostTree GroupLayout::tree(std::size_t tree) const {
  Budgets budgets(room_.size(), 0);  // of an entry, how many groups its group can serve
  Hosts entries;
  for (const std::uint32_t group : groups_) {
    const std::uint32_t entry = entry_of(group, tree);
    budgets[entry] = group_budgets_[tree][group];
    if (group != groups_.front()) entries.push_back(entry);
  }
  HostTree over_groups;
  if (!entries.empty()) over_groups = Layout(order_, budgets).tree(problem_.root, entries);
  if (over_groups.size() != entries.size()) return {};
  std::vector<Hosts> served(members_.size());
  for (const HostEdge edge : over_groups) served[fabric_.group[edge.parent]].push_back(edge.child);
  budgets = host_budgets_[tree];
  HostTree all;
  const auto lay_out_group = [&](std::uint32_t entry) {
    const std::uint32_t group = fabric_.group[entry];
    Hosts hosts = served[group];
    for (const std::uint32_t child : served[group]) budgets[child] = 0;
    std::ranges::remove_copy(members_[group], std::back_inserter(hosts), entry);
    if (hosts.empty()) return true;
    const HostTree inside = Layout(order_, budgets).tree(entry, hosts);
    all.insert(all.end(), inside.begin(), inside.end());
    for (const std::uint32_t child : served[group]) {
      budgets[child] = host_budgets_[tree][child];
    }
    return !inside.empty();
  };
  if (!lay_out_group(problem_.root)) return {};
  for (const HostEdge edge : over_groups) {
    if (!lay_out_group(edge.child)) return {};
  }
  return all;
}

}  // namespace

std::optional<std::vector<HostTree>> lay_out(const PackingProblem& problem,
                                             const FabricTree& fabric, const HostOrder& order,
                                             double rate, std::size_t trees) {
  GroupLayout layout(problem, fabric, order, rate, trees);
  if (!layout.deal()) return std::nullopt;
  std::vector<HostTree> all;
  for (std::size_t tree = 0; tree < trees; ++tree) {
    all.push_back(layout.tree(tree));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
}

}  // namespace espalier::lp
