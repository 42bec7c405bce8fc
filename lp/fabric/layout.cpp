#include "lp/fabric/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

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

// A tree over the members of each cluster, in which the entries of what the cluster serves are
// leaves. So few edges cross the thin links between clusters.
class ClusterLayout {
 public:
  ClusterLayout(const PackingProblem& problem, const FabricTree& fabric, const HostOrder& order,
                double rate, std::size_t trees, Nesting nesting);

  [[nodiscard]] bool is_nested() const { return clusters_.are_nested(); }
  // False: the hosts' links, or those between clusters, have too little room.
  bool deal();
  // Empty: not found.
  [[nodiscard]] HostTree tree(std::size_t tree) const;

 private:
  class Laying;

  [[nodiscard]] std::int64_t room_of_cluster(std::uint32_t cluster, double rate) const;
  bool deal_to_members(std::uint32_t cluster);

  const HostOrder& order_;
  std::uint32_t root_;
  std::size_t trees_;
  Clusters clusters_;
  Budgets room_;                  // per host or cluster, over all trees
  std::vector<Budgets> budgets_;  // per tree and host or cluster
};

ClusterLayout::ClusterLayout(const PackingProblem& problem, const FabricTree& fabric,
                             const HostOrder& order, double rate, std::size_t trees,
                             Nesting nesting)
    : order_(order),
      root_(problem.root),
      trees_(trees),
      clusters_(problem, fabric, order.hosts(), rate, nesting),
      room_(clusters_.end(), 0),
      budgets_(trees, Budgets(clusters_.end(), 0)) {
  room_[root_] = room_of(problem, fabric, root_, rate, trees);
  for (const std::uint32_t host : order.hosts()) {
    room_[host] = room_of(problem, fabric, host, rate, trees);
  }
  for (std::uint32_t cluster = clusters_.first(); cluster < clusters_.end(); ++cluster) {
    room_[cluster] = room_of_cluster(cluster, rate);
  }
}

// What its members have room for beyond themselves, and its links carry.
std::int64_t ClusterLayout::room_of_cluster(std::uint32_t cluster, double rate) const {
  const auto& members = clusters_.members(cluster);
  std::int64_t room = -static_cast<std::int64_t>(trees_ * (members.size() - 1));
  for (const std::uint32_t member : members) room += room_[member];
  const double links = static_cast<double>(trees_) * clusters_.rate_out(cluster) / rate;
  return static_cast<std::int64_t>(
      std::floor(std::min(links, static_cast<double>(room)) + kFabricRounding));
}

bool ClusterLayout::deal() {
  for (std::uint32_t cluster = clusters_.end(); cluster-- > clusters_.first();) {
    if (!deal_to_members(cluster)) return false;
  }
  return true;
}

bool ClusterLayout::deal_to_members(std::uint32_t cluster) {
  const auto& members = clusters_.members(cluster);
  Budgets needed;
  for (const Budgets& budgets : budgets_) {
    needed.push_back(static_cast<std::int64_t>(members.size()) - 1 + budgets[cluster]);
  }
  Dealer dealer(budgets_, std::move(needed));
  for (const std::uint32_t member : members) {
    if (!clusters_.has_root(member)) {
      dealer.deal(member, room_[member]);
    } else if (!dealer.deal_root(member, room_[member])) {
      return false;
    }
  }
  return dealer.is_enough();
}

// One of the trees in the making.
class ClusterLayout::Laying {
 public:
  Laying(const ClusterLayout& layout, const Budgets& budgets);

  // Adds the edges from hosts of the cluster, to each other and to the entries that it serves.
  // False: not found.
  bool add(std::uint32_t cluster, const Hosts& served);

  HostTree edges;  // parents before their children

 private:
  const ClusterLayout& layout_;
  const Budgets& budgets_;  // per host or cluster
  Hosts entry_;             // per host or cluster, the host at which it is entered
  Budgets of_entry_;        // per host, of the member that it is the entry of; 0: a leaf
};

// The root, or the first host of those that may have most children.
ClusterLayout::Laying::Laying(const ClusterLayout& layout, const Budgets& budgets)
    : layout_(layout),
      budgets_(budgets),
      entry_(budgets.size()),
      of_entry_(layout.clusters_.first(), 0) {
  const Clusters& clusters = layout.clusters_;
  std::iota(entry_.begin(), entry_.end(), std::uint32_t{0});
  for (std::uint32_t cluster = clusters.first(); cluster < clusters.end(); ++cluster) {
    entry_[cluster] =
        clusters.has_root(cluster)
            ? layout.root_
            : entry_[*std::ranges::max_element(clusters.members(cluster), {},
                                               [&](std::uint32_t id) { return budgets[id]; })];
  }
}

bool ClusterLayout::Laying::add(std::uint32_t cluster, const Hosts& served) {
  const Clusters& clusters = layout_.clusters_;
  Hosts hosts = served;
  for (const std::uint32_t entry : served) of_entry_[entry] = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> member_of;  // per entry
  for (const std::uint32_t member : clusters.members(cluster)) {
    of_entry_[entry_[member]] = budgets_[member];
    member_of[entry_[member]] = member;
    if (entry_[member] != entry_[cluster]) hosts.push_back(entry_[member]);
  }
  if (hosts.empty()) return true;
  const HostTree inside = Layout(layout_.order_, of_entry_).tree(entry_[cluster], hosts);
  if (inside.empty()) return false;
  if (clusters.members(cluster).front() < clusters.first()) {  // hosts
    edges.insert(edges.end(), inside.begin(), inside.end());
    return true;
  }
  std::unordered_map<std::uint32_t, Hosts> children;  // per entry
  for (const HostEdge edge : inside) children[edge.parent].push_back(edge.child);
  if (!add(member_of[entry_[cluster]], children[entry_[cluster]])) return false;
  return std::ranges::all_of(inside, [&](const HostEdge& edge) {
    const auto member = member_of.find(edge.child);
    return member == member_of.end() || add(member->second, children[edge.child]);
  });
}

HostTree ClusterLayout::tree(std::size_t tree) const {
  Laying laying(*this, budgets_[tree]);
  return laying.add(clusters_.end() - 1, {}) ? std::move(laying.edges) : HostTree{};
}

}  // namespace

std::optional<std::vector<HostTree>> lay_out(const PackingProblem& problem,
                                             const FabricTree& fabric, const HostOrder& order,
                                             double rate, std::size_t trees, Nesting nesting) {
  ClusterLayout layout(problem, fabric, order, rate, trees, nesting);
  if (nesting == Nesting::kAll && !layout.is_nested()) return std::nullopt;
  if (!layout.deal()) return std::nullopt;
  std::vector<HostTree> all;
  for (std::size_t tree = 0; tree < trees; ++tree) {
    all.push_back(layout.tree(tree));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
}

}  // namespace espalier::lp
