#include "lp/fabric/clusters.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <functional>
#include <numeric>
#include <utility>

#include "lp/bounds/narrowest_cut.hpp"

namespace espalier::lp {

namespace {

// Links of one kind differ by less.
constexpr double kAlike = 1.5;

bool share_a_row(const PackingProblem& problem, std::uint32_t one, std::uint32_t other) {
  for (auto a = uses_of(problem.occupation, one); a; ++a) {
    for (auto b = uses_of(problem.occupation, other); b; ++b) {
      if (a.row() == b.row()) return true;
    }
  }
  return false;
}

// A link between switches, from the node of the smaller number.
struct Link {
  std::uint32_t one;
  std::uint32_t other;
  double Bps;  // of its slower direction
};

// From the thickest on.
std::vector<Link> links_of(const PackingProblem& problem, const FabricTree& fabric) {
  std::vector<Link> links;
  for (std::uint32_t arc = 0; arc < problem.graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(problem.graph.tail[arc], problem.graph.head[arc]);
    const std::uint32_t back = fabric.reverse[arc];
    if (tail >= head || back == kNone) continue;
    links.push_back({tail, head, std::min(rate_alone(problem, arc), rate_alone(problem, back))});
  }
  std::ranges::stable_sort(links, std::greater<>(), &Link::Bps);
  return links;
}

// The parts that nodes are in: at first the fabric's groups, then whatever links join.
class Parts {
 public:
  explicit Parts(const FabricTree& fabric)
      : fabric_(fabric),
        parent_(fabric.group_count),
        rank_(fabric.group_count, 0),
        sets_(rank_.data(), parent_.data()) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  // kNone: a node that was not reached.
  std::uint32_t part_of(std::uint32_t node) {
    const std::uint32_t group = fabric_.group[node];
    return group == kNone ? kNone : sets_.find_set(group);
  }
  void join(std::uint32_t one, std::uint32_t other) {
    sets_.union_set(part_of(one), part_of(other));
  }
  std::vector<std::uint32_t> per_node() {
    std::vector<std::uint32_t> parts;
    for (std::uint32_t node = 0; node < fabric_.group.size(); ++node)
      parts.push_back(part_of(node));
    return parts;
  }

 private:
  const FabricTree& fabric_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> rank_;
  boost::disjoint_sets<std::uint32_t*, std::uint32_t*> sets_;
};

// Joins what the next links join that are alike. False: none joins anything.
bool join_alike(Parts& parts, std::span<const Link>& links) {
  double thickest = 0;
  for (; !links.empty() && links.front().Bps * kAlike >= thickest; links = links.subspan(1)) {
    const Link& link = links.front();
    const std::uint32_t one = parts.part_of(link.one);
    const std::uint32_t other = parts.part_of(link.other);
    if (one == kNone || other == kNone || one == other) continue;
    if (thickest == 0) thickest = link.Bps;
    parts.join(link.one, link.other);
  }
  return thickest > 0;
}

}  // namespace

Clusters::Clusters(const PackingProblem& problem, const FabricTree& fabric,
                   std::span<const std::uint32_t> hosts, double rate, Nesting nesting)
    : first_(problem.graph.node_count), has_root_(first_, 0) {
  has_root_[problem.root] = 1;
  Ids all{problem.root};
  all.insert(all.end(), hosts.begin(), hosts.end());
  Parts parts(fabric);
  const std::vector<Link> links =
      nesting == Nesting::kAll ? links_of(problem, fabric) : std::vector<Link>();
  std::span<const Link> left(links);
  // One level: a cluster for each part in which there are several members.
  Ids outermost = all;
  for (bool innermost = true;; innermost = false) {
    const Ids part = parts.per_node();
    Ids cluster_of_part(first_, kNone);
    std::vector<Ids> members(fabric.group_count);
    Ids in_order;
    for (const std::uint32_t id : outermost) {
      std::uint32_t host = id;
      while (host >= first_) host = this->members(host).front();
      Ids& those = members[part[host]];
      if (those.empty()) in_order.push_back(part[host]);
      those.push_back(id);
    }
    outermost.clear();
    for (const std::uint32_t one : in_order) {
      const bool is_new = innermost || members[one].size() > 1;
      outermost.push_back(is_new ? add(std::move(members[one])) : members[one].front());
      if (is_new) cluster_of_part[one] = outermost.back();
    }
    if (outermost.size() == 1) return;
    measure(problem, fabric, part, cluster_of_part, rate);
    if (!join_alike(parts, left)) break;
  }
  add(std::move(outermost));
}

bool Clusters::are_nested() const {
  const Ids& outermost = members_.back();
  return std::ranges::any_of(
      outermost, [&](std::uint32_t id) { return id >= first_ && members(id).front() >= first_; });
}

std::uint32_t Clusters::add(Ids members) {
  has_root_.push_back(has_root_[members.front()]);
  members_.push_back(std::move(members));
  out_Bps_.push_back(0);
  return end() - 1;
}

// part: per node. cluster_of_part: kNone where it has none, or an inner one.
void Clusters::measure(const PackingProblem& problem, const FabricTree& fabric, const Ids& part,
                       const Ids& cluster_of_part, double rate) {
  std::vector<char> takes_both(members_.size(), 0);
  for (std::uint32_t arc = 0; arc < problem.graph.arc_count(); ++arc) {
    const std::uint32_t from = part[problem.graph.tail[arc]];
    if (from == kNone || from == part[problem.graph.head[arc]]) continue;
    const std::uint32_t cluster = cluster_of_part[from];
    if (cluster == kNone) continue;
    out_Bps_[cluster - first_] += rate_alone(problem, arc);
    const std::uint32_t back = fabric.reverse[arc];
    if (back != kNone && share_a_row(problem, arc, back)) takes_both[cluster - first_] = 1;
  }
  for (std::uint32_t cluster = first_; cluster < end(); ++cluster) {
    if (takes_both[cluster - first_] != 0 && !has_root(cluster)) out_Bps_[cluster - first_] -= rate;
  }
}

}  // namespace espalier::lp
