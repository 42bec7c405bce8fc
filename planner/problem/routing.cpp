#include "planner/problem/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "planner/problem/collective.hpp"
#include "planner/problem/reach.hpp"
#include "planner/problem/shares.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

void require_paths(Operation operation, const Platform& platform, std::optional<NodeId> root) {
  const NodeId host = root.value_or(platform.hosts().front());
  if (platform.node(host).relay) {
    throw InputError(fmt::format("{}: '{}' is a relay and cannot be the source", platform.name(),
                                 platform.node(host).name));
  }
  if (operation != Operation::kGather) require_reachable(platform, host);
  if (operation != Operation::kScatter) require_return(platform, host);
}

// The paths of the parts, by sender and receiver, without repetition.
class Blocks {
 public:
  explicit Blocks(const Routing& problem) : problem_(problem) {}

  // from, to: places among the hosts.
  void add(std::uint32_t from, std::uint32_t to, lp::RoutedTree path, double rate) {
    add_tree(std::move(path), rate, paths_[{from, to}]);
  }
  [[nodiscard]] Outcome outcome(Outcome others) {
    others.trees.clear();
    for (auto& [ends, paths] : paths_) {
      others.blocks.push_back({BlockKind::kRoute, ends.first, std::move(paths), ends.second});
    }
    others.carried = problem_.carried();
    return others;
  }

 private:
  const Routing& problem_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<WeightedTree>> paths_;
};

// The trees of each sender, or receiver, have the same rates in all of them, so they are split
// first.
Outcome with_paths(const Routing& problem, Outcome packed) {
  const lp::RoutesProblem& routes = problem.routes();
  const std::vector<lp::RoutedParts>& parts = routes.parts();
  const auto arcs = static_cast<std::uint32_t>(problem.platform().arcs().size());
  std::vector<std::map<std::vector<std::uint32_t>, double>> rate_of(parts.size());
  for (const WeightedTree& whole : packed.trees) {
    std::vector<std::vector<std::uint32_t>> own(parts.size());
    for (const std::uint32_t arc : whole.tree.arcs) own[arc / arcs].push_back(arc);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      rate_of[p][std::move(own[p])] += whole.rate.value;
    }
  }
  const std::vector<std::uint32_t>& host = problem.host_numbers();
  Blocks blocks(problem);
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    for (const auto& [tree, rate] : rate_of[p]) {
      for (lp::Route& route : routes.routes_of({tree, {}}, p)) {
        std::uint32_t from = host[parts[p].root];
        std::uint32_t to = host[route.node];
        if (parts[p].reversed) std::swap(from, to);
        blocks.add(from, to, std::move(route.path), rate * parts[p].bytes[route.node]);
      }
    }
  }
  return blocks.outcome(std::move(packed));
}

// A whole tree of the fastest paths, and one of those of the fewest links.
std::vector<lp::RoutedTree> plain_routes(const Routing& problem) {
  const std::vector<double> seconds = arc_seconds_per_byte(problem.platform(), problem.options());
  std::vector<lp::RoutedTree> trees;
  for (const auto& cost : {seconds, std::vector<double>(seconds.size(), 1.0)}) {
    if (auto priced = problem.routes().cheapest(cost)) trees.push_back(std::move(priced->tree));
  }
  return trees;
}

// The places among the hosts of those whose trees the parts go along.
std::vector<std::uint32_t> roots_of(const Routing& problem) {
  std::vector<std::uint32_t> roots;
  for (const lp::RoutedParts& parts : problem.routes().parts()) {
    roots.push_back(problem.host_numbers()[parts.root]);
  }
  return roots;
}

Collective tree_problem(const Routing& problem, std::uint32_t root) {
  return {problem.operation() == Operation::kGather ? Operation::kReduce : Operation::kBroadcast,
          problem.platform(), problem.platform().hosts()[root], problem.model(), problem.options()};
}

// Lets every part go along the path that the tree has for it. up: edges run from child to parent.
void add_paths(const Routing& problem, const WeightedTree& weighted, bool up, std::uint32_t root,
               Blocks& blocks) {
  const lp::RoutedTree& tree = weighted.tree;
  const auto arcs = problem.platform().arcs();
  const std::vector<std::uint32_t>& host = problem.host_numbers();
  const std::size_t hosts = problem.platform().hosts().size();
  std::vector<std::size_t> edge_to(hosts, SIZE_MAX);  // of each child
  std::vector<std::uint32_t> parent(hosts);
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    std::uint32_t from = host[index_of(arcs[tree.path(edge).front()].from)];
    std::uint32_t to = host[index_of(arcs[tree.path(edge).back()].to)];
    if (up) std::swap(from, to);
    edge_to[to] = edge;
    parent[to] = from;
  }
  std::vector<std::size_t> edges;
  for (std::uint32_t node = 0; node < hosts; ++node) {
    const double share = up ? problem.share(node, root) : problem.share(root, node);
    if (share == 0) continue;
    edges.clear();
    for (std::uint32_t at = node; at != root; at = parent[at]) edges.push_back(edge_to[at]);
    if (!up) std::ranges::reverse(edges);
    lp::RoutedTree path;
    for (const std::size_t edge : edges) path.add_edge(tree.path(edge));
    blocks.add(up ? node : root, up ? root : node, std::move(path), weighted.rate.value * share);
  }
}

}  // namespace

Routing::Routing(Operation operation, const Platform& platform, std::optional<NodeId> root,
                 platforms::Model model, const platforms::OccupationOptions& options,
                 std::vector<double> shares)
    : operation_(operation), platform_(&platform), root_(root), model_(model), options_(options) {
  require_hosts(platform, with_article(operation));
  require_paths(operation, platform, root);
  host_number_ = planner::host_numbers(platform);
  const std::size_t hosts = platform.hosts().size();
  const bool from_each = operation == Operation::kAlltoall;
  shares_ = normalised_shares(std::move(shares), from_each ? hosts * hosts : hosts,
                              from_each ? static_cast<double>(hosts) : 1.0);
  if (carried() == 0) throw InputError("by these shares nothing goes to another host");
  occupation_ = platforms::occupation(platform, model, options);
  routes_.emplace(digraph_of(platform), occupation_.seconds_per_byte, parts());
}

double Routing::share(std::size_t from, std::size_t to) const {
  if (from == to) return 0;
  const std::size_t hosts = platform_->hosts().size();
  if (!root_) return shares_[from * hosts + to];
  const std::uint32_t root = host_number_[index_of(*root_)];
  if (operation_ == Operation::kScatter) return from == root ? shares_[to] : 0;
  return to == root ? shares_[from] : 0;
}

double Routing::carried() const {
  const std::size_t hosts = platform_->hosts().size();
  double sum = 0;
  for (std::size_t from = 0; from < hosts; ++from) {
    for (std::size_t to = 0; to < hosts; ++to) sum += share(from, to);
  }
  return sum;
}

std::vector<lp::RoutedParts> Routing::parts() const {
  const auto hosts = platform_->hosts();
  const bool reversed = operation_ == Operation::kGather;
  std::vector<lp::RoutedParts> parts;
  for (std::size_t root = 0; root < hosts.size(); ++root) {
    lp::RoutedParts own{static_cast<std::uint32_t>(index_of(hosts[root])), reversed,
                        std::vector<double>(platform_->nodes().size(), 0.0)};
    double sum = 0;
    for (std::size_t other = 0; other < hosts.size(); ++other) {
      const double bytes = reversed ? share(other, root) : share(root, other);
      own.bytes[index_of(hosts[other])] = bytes;
      sum += bytes;
    }
    if (sum > 0) parts.push_back(std::move(own));
  }
  return parts;
}

Outcome prove_optimum(const Routing& problem, const AlgorithmOptions& options) {
  lp::PackingOptions packing{options};
  packing.seeds = plain_routes(problem);
  packing.seeds_may_do = true;
  return with_paths(problem,
                    outcome_of(lp::pack_arborescences(problem.routes().problem(), packing)));
}

bool is_for(const Algorithm& algorithm, const Routing& problem) {
  return algorithm.entry->refusal == nullptr ||
         std::ranges::all_of(roots_of(problem), [&](std::uint32_t root) {
           return is_for(algorithm, tree_problem(problem, root));
         });
}

Outcome run(const Algorithm& algorithm, const Routing& problem, const AlgorithmOptions& options) {
  if (algorithm.entry->name == kOptimal) return prove_optimum(problem, options);
  Outcome whole;
  Blocks blocks(problem);
  const std::vector<std::uint32_t> roots = roots_of(problem);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    AlgorithmOptions own = options;
    own.deadline = options.deadline.share(1 / static_cast<double>(roots.size() - i));
    Outcome one = run(algorithm, tree_problem(problem, roots[i]), own);
    const bool up = !one.reduce_trees.empty();
    std::vector<WeightedTree>& trees = up ? one.reduce_trees : one.trees;
    const double sum = sum_of_rates(trees).value;
    for (WeightedTree& tree : trees) {
      tree.rate.value /= sum;
      add_paths(problem, tree, up, roots[i], blocks);
    }
    whole.ends = whole.ends.with(one.ends);
    whole.iterations += one.iterations;
  }
  whole = blocks.outcome(std::move(whole));
  fill_first_resource(whole, problem.occupation());
  return whole;
}

}  // namespace espalier::planner
