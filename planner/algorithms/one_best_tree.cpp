// The best single tree: best-tree searches with a limited effort, exact-tree until it has a proof
// (lp/single/single_tree.hpp, lp/single/exact_tree.hpp). Both start from the trees of all other
// algorithms and from those in the packing's master. For an allreduce, a reduce tree and a
// broadcast tree are one tree of the joint problem (planner/problem/collective_problem.hpp).
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "lp/packing/few_trees.hpp"
#include "lp/packing/tree_set.hpp"
#include "lp/single/exact_tree.hpp"
#include "lp/single/single_tree.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/one_best_pair.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// Trees of the fast algorithms, in the same order for every instance; when the deadline passes,
// those made by then.
std::vector<lp::RoutedTree> quick_trees(const Instance& instance, const lp::Packing& packing,
                                        const Deadline& deadline) {
  AlgorithmOptions options;
  options.packing = &packing;
  options.deadline = deadline;
  std::vector<lp::RoutedTree> trees;
  try {
    const HostArcsInUse arcs(instance, options);
    options.arcs = &arcs.get();
    for (const auto run : {lp_grow, lp_prune, grow, prune_refined, prune_simple, chain, binary}) {
      for (WeightedTree& tree : run(instance, options).trees) trees.push_back(std::move(tree.tree));
    }
  } catch (const LimitReached&) {  // the search starts from the packing's trees as well
  }
  return trees;
}

// Shares of the time that is left: of the packing, and of the search before a proof.
constexpr double kPackingShare = 0.5;
constexpr double kSearchShare = 0.5;

class OneBestTree {
 public:
  // Keeps references to what `problem` refers to, to the packing (of the problem) and the options.
  // arc_seconds: per arc, seconds per byte of the arc alone. quick: trees to start from. Throws
  // LimitReached.
  OneBestTree(const lp::PackingProblem& problem, const lp::Packing& packing,
              std::span<const double> arc_seconds, std::vector<lp::RoutedTree> quick,
              const AlgorithmOptions& options)
      : problem_(problem),
        options_(options),
        packing_(packing),
        arcs_(problem.graph, problem.occupation, arc_seconds, options.deadline),
        quick_(std::move(quick)) {}

  // Searches within the effort of best-tree.
  lp::RoutedTree search(const Deadline& deadline);
  lp::ExactTree prove(const lp::RoutedTree& start);
  Outcome outcome(const lp::RoutedTree& tree);
  // The result of search; `exact` continues with prove.
  Outcome best() { return outcome(search(options_.deadline)); }
  Outcome exact();

 private:
  [[nodiscard]] std::vector<lp::RoutedTree> starts(const Deadline& deadline);
  [[nodiscard]] std::vector<char> unpromising(const std::vector<lp::RoutedTree>& trees) const;
  // Seconds per byte. No set of trees is better, so no single tree is.
  [[nodiscard]] double bound() const { return 1 / packing_.bound; }
  [[nodiscard]] BytesPerSecond throughput(const lp::RoutedTree& tree) const {
    return {1 / std::ranges::max(lp::tree_load(problem_.occupation, tree))};
  }

  lp::PackingProblem problem_;
  const AlgorithmOptions& options_;
  const lp::Packing& packing_;
  lp::HostArcs arcs_;
  std::vector<lp::RoutedTree> quick_;
  // The best of all starts, along their own paths: where relays allow several paths, these can be
  // better than the fastest ones.
  lp::RoutedTree best_start_;
  BytesPerSecond best_start_throughput_{0};
  bool complete_ = true;  // no search so far was cut short
};

std::vector<lp::RoutedTree> OneBestTree::starts(const Deadline& deadline) {
  std::vector<lp::RoutedTree> trees = std::move(quick_);
  lp::FewTreesOptions one;
  one.max_trees = 1;
  one.deadline = deadline;
  lp::TreesFound found = lp::pack_few_trees(problem_, packing_, one);
  complete_ = complete_ && found.complete;
  for (lp::PackedTree& packed : found.trees) trees.push_back(std::move(packed.tree));
  for (const lp::PackedTree& packed : packing_.trees) trees.push_back(packed.tree);
  trees.insert(trees.end(), packing_.pool.begin(), packing_.pool.end());
  for (const lp::RoutedTree& tree : trees) {
    const BytesPerSecond alone = throughput(tree);
    if (alone <= best_start_throughput_) continue;
    best_start_throughput_ = alone;
    best_start_ = tree;
  }
  // Topology-oblivious trees pass through other hosts where there is no link.
  std::erase_if(trees, [&](const lp::RoutedTree& tree) {
    return std::ranges::count(arcs_.arcs_of(tree), UINT32_MAX) > 0;
  });
  return trees;
}

// Where there are many arcs, excludes all but the lightest at each host and those of `trees`.
// Empty: there are few.
std::vector<char> OneBestTree::unpromising(const std::vector<lp::RoutedTree>& trees) const {
  constexpr std::size_t kFewPerHost = 16;
  constexpr std::size_t kLightest = 6;
  if (arcs_.size() <= kFewPerHost * problem_.graph.host_count()) return {};
  std::vector<char> excluded(arcs_.size(), 1);
  const auto keep_lightest = [&](std::span<const std::uint32_t> at_host) {
    std::vector<std::uint32_t> arcs(at_host.begin(), at_host.end());
    std::stable_sort(arcs.begin(), arcs.end(), [&](std::uint32_t a, std::uint32_t b) {
      return arcs_.weight(a) < arcs_.weight(b);
    });
    for (std::size_t i = 0; i < std::min(kLightest, arcs.size()); ++i) excluded[arcs[i]] = 0;
  };
  for (std::uint32_t node = 0; node < problem_.graph.node_count; ++node) {
    if (problem_.graph.relay(node)) continue;
    keep_lightest(arcs_.into(node));
    keep_lightest(arcs_.out_of(node));
  }
  for (const lp::RoutedTree& tree : trees) {
    for (const std::uint32_t arc : arcs_.arcs_of(tree)) excluded[arc] = 0;
  }
  return excluded;
}

lp::RoutedTree OneBestTree::search(const Deadline& deadline) {
  constexpr std::uint64_t kEffortPerHost = 10'000;
  constexpr std::uint64_t kLeastEffort = 300'000;
  constexpr double kWork = 2e6;
  const std::vector<lp::RoutedTree> trees = starts(deadline);
  lp::SingleTreeOptions walk;
  walk.effort = kLeastEffort + kEffortPerHost * problem_.graph.host_count();
  walk.deadline = deadline;
  walk.bound = bound();
  const lp::SingleTree walked = lp::search_single_tree(arcs_, problem_.root, trees, walk);

  lp::ExactTreeOptions cut;
  cut.bound = bound();
  cut.gap = std::max(options_.gap, 1e-6);
  cut.work_limit = kWork;
  cut.deadline = deadline;
  cut.excluded = unpromising(trees);
  const lp::ExactTree found = lp::find_exact_tree(arcs_, problem_.root, walked.tree, cut);
  complete_ = complete_ && walked.complete && found.complete;
  if (found.proven) return found.tree;
  // Branch and cut may find a very different tree, so the search is repeated from it.
  walk.seed = 2;
  const lp::SingleTree again = lp::search_single_tree(arcs_, problem_.root, {found.tree}, walk);
  complete_ = complete_ && again.complete;
  return again.tree;
}

lp::ExactTree OneBestTree::prove(const lp::RoutedTree& start) {
  return lp::find_exact_tree(arcs_, problem_.root, start, lp::ExactTreeOptions{options_, bound()});
}

// The tree, made shallower where that costs no throughput.
Outcome OneBestTree::outcome(const lp::RoutedTree& tree) {
  constexpr double kRounding = 1e-12;
  lp::TreeSet set(arcs_, problem_.root);
  set.add(tree, 1);
  const double busiest = set.busiest_load();
  complete_ =
      set.flatten(busiest * (1 + kRounding), lp::DepthIn::kTime, options_.deadline) && complete_;
  lp::RoutedTree flat = set.tree(0);
  if (throughput(flat) < best_start_throughput_) flat = best_start_;
  Outcome made = outcome_of(problem_, packing_, std::move(flat));
  if (!complete_) made.ends.search = Termination::kTimeLimit;
  return made;
}

Outcome OneBestTree::exact() {
  const lp::RoutedTree start = search(options_.deadline.share(kSearchShare));
  complete_ = true;  // the proof also finds what the search did not
  const lp::ExactTree found = prove(start);
  Outcome made = outcome(found.tree);
  made.single_tree_bound = std::max(BytesPerSecond{1 / found.bound}, made.trees.front().rate);
  made.iterations = found.branches;
  if (!found.proven) {
    made.ends.proof = found.complete ? Termination::kStalled : Termination::kTimeLimit;
  }
  return made;
}

// make(); the packing's own best tree where the deadline passes before a search can begin.
template <class Make>
Outcome one_best(const lp::PackingProblem& problem, const lp::Packing& packing, Make make) {
  try {
    return make();
  } catch (const LimitReached&) {
    return best_tree_of(problem, packing);
  }
}

Outcome of_instance(const Instance& instance, const AlgorithmOptions& options,
                    Outcome (OneBestTree::*how)()) {
  const PackingInUse packing(instance, options, kPackingShare);
  const lp::PackingProblem problem = packing_problem(instance);
  return one_best(problem, packing.get(), [&] {
    OneBestTree one(problem, packing.get(), instance.arc_seconds_per_byte(),
                    quick_trees(instance, packing.get(), options.deadline.share(kSearchShare)),
                    options);
    return (one.*how)();
  });
}

// Pairs of trees of the two halves.
std::vector<lp::RoutedTree> quick_pairs(const Collective& collective,
                                        const CollectiveProblem& joint, const Packings& packings,
                                        const Deadline& deadline) {
  const auto up = quick_trees(*collective.reduction(), *packings.reduction, deadline.share(0.5));
  const auto down = quick_trees(*collective.broadcast(), *packings.broadcast, deadline);
  std::vector<lp::RoutedTree> pairs;
  for (std::size_t i = 0; i < std::min(up.size(), down.size()); ++i) {
    pairs.push_back(joint.join({collective.gathering(up[i]), down[i]}));
  }
  return pairs;
}

Outcome of_both(const Collective& collective, const AlgorithmOptions& options,
                const Packings* given, Outcome (OneBestTree::*how)()) {
  AlgorithmOptions before = options;
  before.deadline = options.deadline.share(kPackingShare);
  const Packings own = given != nullptr ? Packings{} : solve_packings(collective, before);
  const Packings& packings = given != nullptr ? *given : own;
  const CollectiveProblem joint(collective, ReducesAlong::kAnyTrees);
  const lp::Packing packing = joint.converted(*packings.joint, CollectiveProblem(collective));
  const std::vector<double> once = collective.broadcast()->arc_seconds_per_byte();
  std::vector<double> seconds = once;  // of both copies of the links
  seconds.insert(seconds.end(), once.begin(), once.end());
  return joint.in_links(one_best(joint.problem(), packing, [&] {
    OneBestTree one(joint.problem(), packing, seconds,
                    quick_pairs(collective, joint, packings, options.deadline.share(kSearchShare)),
                    options);
    return (one.*how)();
  }));
}

}  // namespace

Outcome best_tree(const Instance& instance, const AlgorithmOptions& options) {
  return of_instance(instance, options, &OneBestTree::best);
}

Outcome exact_tree(const Instance& instance, const AlgorithmOptions& options) {
  return of_instance(instance, options, &OneBestTree::exact);
}

Outcome best_pair(const Collective& collective, const AlgorithmOptions& options,
                  const Packings* packings) {
  return of_both(collective, options, packings, &OneBestTree::best);
}

Outcome exact_pair(const Collective& collective, const AlgorithmOptions& options,
                   const Packings* packings) {
  return of_both(collective, options, packings, &OneBestTree::exact);
}

}  // namespace espalier::planner::tree_algorithms
