// One tree, as good as can be: best-tree looks for a limited effort, exact-tree until it has a
// proof (lp/single_tree.hpp, lp/exact_tree.hpp). Both start from every other algorithm's tree and
// from those that the packing's master has held.
#include <algorithm>
#include <utility>
#include <vector>

#include "lp/exact_tree.hpp"
#include "lp/few_trees.hpp"
#include "lp/single_tree.hpp"
#include "lp/tree_set.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/deadline.hpp"
#include "planner/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

bool made_of(const lp::HostArcs& arcs, const lp::RoutedTree& tree) {
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto [parent, child] = arcs.ends_of(tree.path(edge));
    if (arcs.find(parent, child) == UINT32_MAX) return false;
  }
  return true;
}

class OneBestTree {
 public:
  OneBestTree(const Instance& instance, const AlgorithmOptions& options)
      : instance_(instance),
        options_(options),
        deadline_(options.time_limit),
        packing_(instance, options),
        arcs_(instance.fastest_host_arcs()),
        root_(static_cast<std::uint32_t>(instance.source())) {}

  // Within the effort of best-tree.
  lp::RoutedTree search();
  lp::ExactTree prove(const lp::RoutedTree& start);
  Outcome outcome(const lp::RoutedTree& tree);

 private:
  [[nodiscard]] std::vector<lp::RoutedTree> starts();
  [[nodiscard]] std::vector<char> unpromising(const std::vector<lp::RoutedTree>& trees) const;
  // Seconds per byte: what no set of trees can do better than, so no single one.
  [[nodiscard]] double bound() const { return 1 / packing_.get().bound; }

  const Instance& instance_;
  const AlgorithmOptions& options_;
  Deadline deadline_;
  PackingInUse packing_;
  lp::HostArcs arcs_;
  std::uint32_t root_;
  // Of all starts, along their own ways: where relays offer several, those can be better than the
  // fastest ones.
  lp::RoutedTree best_start_;
  BytesPerSecond best_start_throughput_{0};
};

std::vector<lp::RoutedTree> OneBestTree::starts() {
  AlgorithmOptions options;
  options.packing = &packing_.get();
  std::vector<lp::RoutedTree> trees;
  for (const auto run : {lp_grow, lp_prune, grow, prune_refined, prune_simple, chain, binary}) {
    for (WeightedTree& tree : run(instance_, options).trees) trees.push_back(std::move(tree.tree));
  }
  lp::FewTreesOptions one;
  one.max_trees = 1;
  one.time_limit = deadline_.left();
  const lp::PackingProblem problem = packing_problem(instance_);
  for (lp::PackedTree& packed : lp::pack_few_trees(problem, packing_.get(), one)) {
    trees.push_back(std::move(packed.tree));
  }
  for (const lp::PackedTree& packed : packing_.get().trees) trees.push_back(packed.tree);
  trees.insert(trees.end(), packing_.get().pool.begin(), packing_.get().pool.end());
  for (const lp::RoutedTree& tree : trees) {
    const BytesPerSecond throughput = instance_.throughput(tree);
    if (throughput <= best_start_throughput_) continue;
    best_start_throughput_ = throughput;
    best_start_ = tree;
  }
  // Blind trees pass through other hosts where there is no link.
  std::erase_if(trees, [&](const lp::RoutedTree& tree) { return !made_of(arcs_, tree); });
  return trees;
}

// Where there are many arcs: all but the lightest at each host and those of the trees at hand.
// Empty: there are few.
std::vector<char> OneBestTree::unpromising(const std::vector<lp::RoutedTree>& trees) const {
  constexpr std::size_t kFewPerHost = 16;
  constexpr std::size_t kLightest = 6;
  if (arcs_.size() <= kFewPerHost * instance_.host_count()) return {};
  std::vector<char> excluded(arcs_.size(), 1);
  const auto keep_lightest = [&](std::span<const std::uint32_t> at_host) {
    std::vector<std::uint32_t> arcs(at_host.begin(), at_host.end());
    std::stable_sort(arcs.begin(), arcs.end(), [&](std::uint32_t a, std::uint32_t b) {
      return arcs_.weight(a) < arcs_.weight(b);
    });
    for (std::size_t i = 0; i < std::min(kLightest, arcs.size()); ++i) excluded[arcs[i]] = 0;
  };
  for (const platforms::NodeId host : instance_.platform().hosts()) {
    keep_lightest(arcs_.into(static_cast<std::uint32_t>(host)));
    keep_lightest(arcs_.out_of(static_cast<std::uint32_t>(host)));
  }
  for (const lp::RoutedTree& tree : trees) {
    for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
      const auto [parent, child] = arcs_.ends_of(tree.path(edge));
      excluded[arcs_.find(parent, child)] = 0;
    }
  }
  return excluded;
}

lp::RoutedTree OneBestTree::search() {
  constexpr std::uint64_t kEffortPerHost = 10'000;
  constexpr std::uint64_t kLeastEffort = 300'000;
  constexpr double kWork = 2e6;
  const std::vector<lp::RoutedTree> trees = starts();
  lp::SingleTreeOptions walk;
  walk.effort = kLeastEffort + kEffortPerHost * instance_.host_count();
  walk.time_limit = deadline_.left();
  walk.bound = bound();
  const lp::SingleTree walked = lp::search_single_tree(arcs_, root_, trees, walk);

  lp::ExactTreeOptions cut;
  cut.bound = bound();
  cut.gap = std::max(options_.gap, 1e-6);
  cut.work_limit = kWork;
  cut.time_limit = deadline_.left();
  cut.excluded = unpromising(trees);
  const lp::ExactTree found = lp::find_exact_tree(arcs_, root_, walked.tree, cut);
  if (found.proven) return found.tree;
  // Branch and cut leaps to another kind of tree, which has near neighbours of its own.
  walk.seed = 2;
  walk.time_limit = deadline_.left();
  return lp::search_single_tree(arcs_, root_, {found.tree}, walk).tree;
}

lp::ExactTree OneBestTree::prove(const lp::RoutedTree& start) {
  lp::ExactTreeOptions cut;
  cut.bound = bound();
  cut.gap = options_.gap;
  cut.time_limit = deadline_.left();
  if (options_.on_progress) {
    cut.on_progress = [&](const lp::ExactTreeProgress& progress) {
      options_.on_progress({deadline_.elapsed(), progress.branches,
                            BytesPerSecond{1 / progress.busiest_load},
                            BytesPerSecond{1 / progress.bound}});
    };
  }
  return lp::find_exact_tree(arcs_, root_, start, cut);
}

// The tree, made shallow where that costs nothing.
Outcome OneBestTree::outcome(const lp::RoutedTree& tree) {
  constexpr double kRounding = 1e-12;
  lp::TreeSet set(arcs_, root_);
  set.add(tree, 1);
  const double busiest = set.busiest_load();
  set.flatten(busiest * (1 + kRounding));
  lp::RoutedTree flat = set.tree(0);
  const bool improved = instance_.throughput(flat) >= best_start_throughput_;
  return outcome_of(instance_, packing_.get(), improved ? std::move(flat) : best_start_);
}

}  // namespace

Outcome best_tree(const Instance& instance, const AlgorithmOptions& options) {
  OneBestTree one(instance, options);
  return one.outcome(one.search());
}

Outcome exact_tree(const Instance& instance, const AlgorithmOptions& options) {
  OneBestTree one(instance, options);
  const lp::ExactTree exact = one.prove(one.search());
  Outcome outcome = one.outcome(exact.tree);
  outcome.single_tree_bound = std::max(BytesPerSecond{1 / exact.bound}, outcome.trees.front().rate);
  outcome.iterations = exact.branches;
  if (!exact.proven) {
    outcome.termination = options.time_limit ? Termination::kTimeLimit : Termination::kStalled;
  }
  return outcome;
}

}  // namespace espalier::planner::tree_algorithms
