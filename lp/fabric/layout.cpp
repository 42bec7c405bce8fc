#include "lp/fabric/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>

namespace espalier::lp {

namespace {

using Hosts = std::vector<std::uint32_t>;
using Budgets = std::vector<std::int64_t>;  // per node: its children in one tree at most

constexpr std::int64_t kMostChildren = 4;  // of a host in a tree; more make its segments late

// The children that a host's link has room for, over all trees.
std::int64_t room_of(const PackingProblem& problem, const FabricTree& fabric, std::uint32_t host,
                     double rate, std::size_t trees) {
  double room = static_cast<double>(trees) * static_cast<double>(fabric.hosts.size());
  const auto uses = [&](std::uint32_t arc) {
    return SparseMatrix::InnerIterator(problem.occupation, static_cast<Eigen::Index>(arc));
  };
  for (auto out = uses(fabric.arc_out[host]); out; ++out) {
    double left = 1;
    for (auto in = uses(fabric.arc_in[host]); in && host != problem.root; ++in) {
      if (in.row() == out.row()) left -= rate * in.value();
    }
    room = std::min(room, static_cast<double>(trees) * left / (rate * out.value()));
  }
  return static_cast<std::int64_t>(std::floor(room + kFabricRounding));
}

// Deals the hosts' room among the trees in units of two, each to the tree that lacks most, so that
// the inner hosts of one are leaves of another. Empty: a tree lacks some in the end.
std::vector<Budgets> deal(const PackingProblem& problem, const FabricTree& fabric,
                          const Hosts& hosts, double rate, std::size_t trees) {
  std::vector<Budgets> budgets(trees, Budgets(problem.graph.node_count, 0));
  std::vector<std::int64_t> lack(trees, static_cast<std::int64_t>(fabric.hosts.size()));
  const auto give = [&](std::size_t tree, std::uint32_t host, std::int64_t unit) {
    budgets[tree][host] += unit;
    lack[tree] -= unit;
  };
  const auto deal_out = [&](std::uint32_t host, std::int64_t room) {
    while (room > 0) {
      const std::int64_t unit = std::min<std::int64_t>(room, 2);
      std::size_t best = trees;
      for (std::size_t tree = 0; tree < trees; ++tree) {
        if (budgets[tree][host] + unit > kMostChildren) continue;
        if (best == trees || lack[tree] > lack[best]) best = tree;
      }
      if (best == trees) return;
      give(best, host, unit);
      room -= unit;
    }
  };
  std::int64_t room = room_of(problem, fabric, problem.root, rate, trees);
  if (room < static_cast<std::int64_t>(trees)) return {};
  for (std::size_t tree = 0; tree < trees; ++tree) give(tree, problem.root, 1);
  room -= static_cast<std::int64_t>(trees);
  deal_out(problem.root, room);
  for (const std::uint32_t host : hosts) {
    deal_out(host, room_of(problem, fabric, host, rate, trees));
  }
  if (std::ranges::any_of(lack, [](std::int64_t its) { return its > 0; })) return {};
  return budgets;
}

// One tree over the order of the hosts.
class Layout {
 public:
  Layout(const HostOrder& hosts, const Budgets& budgets) : hosts_(hosts), budgets_(budgets) {}

  // Empty: an interval cannot be split.
  HostTree tree(std::uint32_t root) {
    if (!split(root, hosts_.hosts())) return {};
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

  const HostOrder& hosts_;
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
    const std::uint32_t apart = hosts_.distance(parent, hosts[i]);
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
        is_near ? hosts_.depth_of_boundary(hosts[cut - 1], hosts[cut]) : UINT32_MAX;
    const std::pair value(depth, off);
    if (best == 0 || value < least) {
      best = cut;
      least = value;
    }
  }
  return best;
}

}  // namespace

std::optional<std::vector<HostTree>> lay_out(const PackingProblem& problem,
                                             const FabricTree& fabric, const HostOrder& order,
                                             double rate, std::size_t trees) {
  std::vector<HostTree> all;
  for (const Budgets& budgets : deal(problem, fabric, order.hosts(), rate, trees)) {
    all.push_back(Layout(order, budgets).tree(problem.root));
    if (all.back().empty()) return std::nullopt;
  }
  if (all.empty()) return std::nullopt;
  return all;
}

}  // namespace espalier::lp
