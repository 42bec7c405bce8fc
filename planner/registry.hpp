// Every algorithm that makes trees, by name. Help, `list`, documentation, error texts and the
// parameterised tests all iterate this registry.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/limits.hpp"
#include "planner/ends.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "platforms/core/contention.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {
struct FewTreesSoFar;
class HostArcs;
struct Packing;
}  // namespace espalier::lp

namespace espalier::planner {

using lp::Progress;

// deadline: an algorithm that then has a result returns it, and its ends say what was cut short;
// else it throws LimitReached. gap: of `optimal`.
struct AlgorithmOptions : lp::Limits {
  std::size_t max_trees = 0;  // 0: no limit; algorithms of one tree ignore it
  std::size_t chains = 4;     // of `k-chain`, at least 1; more than there are hosts other than
                              // the source: one chain for each host
  // `optimal` only: maximum number of edges from the source to any host; 0: no limit. Throws
  // InfeasibleError where no tree is that shallow.
  std::uint32_t max_depth = 0;
  // `optimal` only, instead of max_depth: maximum sum of link latencies from the source to any
  // host; unset: no limit. Throws InfeasibleError where no tree has so low a latency.
  std::optional<Seconds> max_latency = std::nullopt;
  // The trees without these two limits are known to exceed them, so that `optimal` need not make
  // them.
  bool exceeds_limits = false;
  // The message for the algorithms that minimise the makespan of one unsegmented message (fnf,
  // ecef, ecef-lookahead). At least one byte.
  Bytes message{1 << 20};
  // lp-grow and lp-prune: the model whose optimum guides them; unset: the instance's own.
  std::optional<platforms::Model> guided_by = std::nullopt;
  // The result of solve_packing for this same instance: algorithms that need it do not solve it
  // again. Not owned; null: each algorithm solves its own.
  const lp::Packing* packing = nullptr;
  // Likewise what runs of `optimal` with limits of trees have found for this instance and packing.
  lp::FewTreesSoFar* few_trees = nullptr;
  // Likewise instance.fastest_host_arcs().
  const lp::HostArcs* arcs = nullptr;
  // Likewise ring_order of the platform, for all roots and directions.
  const std::vector<std::uint32_t>* ring = nullptr;
};

struct WeightedTree {
  lp::RoutedTree tree;
  BytesPerSecond rate;
  std::vector<std::uint8_t> colors{};     // PlanTree::colors; empty: none
  std::vector<std::uint32_t> exchange{};  // PlanTree::exchange, as indices of the tree's edges
};

BytesPerSecond sum_of_rates(std::span<const WeightedTree> trees);
// Adds a tree, or its rate where the same one is there.
void add_tree(lp::RoutedTree tree, double rate, std::vector<WeightedTree>& trees);
// Adds the load of the trees at their rates to `load`, which has an element for each resource.
void add_load(std::span<const WeightedTree> trees, const platforms::Occupation& occupation,
              std::vector<double>& load);

// Resource `row` of the occupation matrix; `price` is its share of the bound (prices sum to 1).
struct PricedResource {
  std::uint32_t row;
  double price;
};

// Per row, 0 where it has no price. rows: of the occupation matrix.
std::vector<double> prices_by_row(std::span<const PricedResource> prices, std::size_t rows);
// Those above 0, highest first. prices: per row.
std::vector<PricedResource> priced_rows(std::span<const double> prices);

// The trees, or paths, of one block of an operation with several, in the direction of the data.
struct BlockOfTrees {
  BlockKind kind = BlockKind::kSpread;
  std::uint32_t root = 0;  // its place among the hosts
  std::vector<WeightedTree> trees{};
  std::uint32_t to = 0;  // of a block that routes: its receiver's place among the hosts
};

struct Outcome {
  // Jointly feasible, those of a reduction included: sum of rate * A x <= 1.
  std::vector<WeightedTree> trees;
  std::optional<BytesPerSecond>
      bound;  // proven upper bound on any set of trees, where one was computed
  // exact-tree: proven upper bound on any single tree.
  std::optional<BytesPerSecond> single_tree_bound = std::nullopt;
  std::vector<PricedResource>
      prices;  // of the bound's certificate, highest first; empty without a bound
  Ends ends{};
  std::size_t iterations = 0;
  // For a reduce or an allreduce (planner/problem/collective.hpp): edges run from child to parent.
  // Algorithms leave this empty: an instance is a broadcast.
  std::vector<WeightedTree> reduce_trees{};
  // Instead of trees, for other operations (planner/problem/all_roots.hpp, routing.hpp). Each
  // root's block that combines comes before its block that spreads.
  std::vector<BlockOfTrees> blocks{};
  // The bytes that the blocks of each kind carry together, per byte of the message. Not 1 where
  // parts are routed (planner/problem/routing.hpp).
  double carried = 1;
};

// Scales the rates of all trees by one factor, to the highest that the first full resource allows.
// Precondition: there is an edge.
void fill_first_resource(Outcome& outcome, const platforms::Occupation& occupation);

// Broadcast and reduce trees, and those of blocks.
std::size_t tree_count(const Outcome& outcome);
// Of all its trees together (lp/graph/crowding.hpp). instance: on the outcome's platform.
double crowding_of(const Outcome& outcome, const Instance& instance);

using TreeMaker = Outcome (*)(const Instance& instance, const AlgorithmOptions& options);

// Which operations an algorithm's trees serve.
enum class Serves : std::uint8_t {
  kAll,
  kBroadcast,  // its result has no meaning in a reduction
  kAllreduce,  // it chooses the trees of both halves jointly
};

// The entry whose trees are the proven optimum.
inline constexpr std::string_view kOptimal = "optimal";

struct AlgorithmEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;      // paper and DOI
  std::string_view complexity;  // n hosts, m arcs
  std::string_view guarantee;
  TreeMaker run;  // with kDefaultInner where it takes an inner algorithm
  // Whether its plans may have more than one tree: then it can only be an inner algorithm if
  // joins_trees.
  bool several_trees = false;
  // Set where the algorithm arranges the hosts and an inner algorithm builds the trees among them.
  // The inner algorithm takes no inner algorithm itself.
  Outcome (*run_over)(const Instance& instance, const AlgorithmOptions& options,
                      TreeMaker inner) = nullptr;

  // Whether only a time limit guarantees that it ends in practice.
  bool exponential = false;

  Serves serves = Serves::kAll;
  // Makes the trees of a reduction, on the reversed platform; null: `run` makes them there.
  TreeMaker run_reduction = nullptr;
  // Why it makes no trees on this platform, after "algorithm 'a': "; empty: it does. Null: it
  // always does.
  std::string (*refusal)(const Instance& instance) = nullptr;
  // Whether its trees have equal shares and a fixed number, so that the first trees of all parts
  // of a hierarchy can be joined to one, and the second ones to another.
  bool joins_trees = false;

  [[nodiscard]] constexpr bool does(Operation operation) const {
    if (exponential && routes(operation)) return false;  // it would prove something else
    // One tree, whatever it is good for: a barrier's plan is chosen by its time.
    if (operation == Operation::kBarrier) {
      return !several_trees && !exponential && serves != Serves::kAllreduce;
    }
    if (serves == Serves::kAll) return true;
    if (serves == Serves::kAllreduce) return operation == Operation::kAllreduce;
    return operation == Operation::kBroadcast || operation == Operation::kAllgather;
  }
  [[nodiscard]] constexpr bool takes_inner() const { return run_over != nullptr; }
  [[nodiscard]] bool is_for(const Instance& instance) const {
    return refusal == nullptr || refusal(instance).empty();
  }
};

// The inner algorithm used when none is named.
inline constexpr std::string_view kDefaultInner = "binomial";

std::span<const AlgorithmEntry> algorithms();

// The user's choice: an entry of the registry, and its inner algorithm if it takes one.
struct Algorithm {
  std::string name;             // as given: "hierarchical" or "hierarchical:binomial"
  const AlgorithmEntry* entry;  // into algorithms(), like `inner`
  const AlgorithmEntry* inner;  // null: the entry takes none

  // Throws InfeasibleError where the entry is not for the instance. The following two do so, too.
  void require_platform(const Instance& instance) const;
  [[nodiscard]] Outcome run(const Instance& instance, const AlgorithmOptions& options) const;
  // The trees of a reduction, on an instance of the reversed platform.
  [[nodiscard]] Outcome run_reduction(const Instance& reversed,
                                      const AlgorithmOptions& options) const;
  // Compares the algorithms, not the names as given; the order is the registry's.
  bool operator==(const Algorithm& other) const {
    return entry == other.entry && inner == other.inner;
  }
  std::strong_ordering operator<=>(const Algorithm& other) const {
    return std::tie(entry, inner) <=> std::tie(other.entry, other.inner);
  }
};

// "NAME", or "NAME:INNER" for an algorithm that takes an inner one. Throws InputError for an
// unknown name (suggests the nearest), an algorithm that does not serve the operation, an inner
// name for an algorithm that takes none, and an inner algorithm that cannot be one.
Algorithm find_algorithm(std::string_view name, Operation operation = Operation::kBroadcast);
// "all": each entry that serves the operation once, with its default inner algorithm; or names
// separated by commas. Throws as find_algorithm does; a repeated algorithm is taken once.
std::vector<Algorithm> parse_algorithms(std::string_view list,
                                        Operation operation = Operation::kBroadcast);

}  // namespace espalier::planner
