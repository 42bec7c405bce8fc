#include "planner/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "lp/graph/crowding.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/solve/direct_packing.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace espalier::planner {

namespace {

constexpr std::string_view kHbt =
    "HBT: Beaumont, Marchal, Robert, Broadcast trees for heterogeneous platforms, IPDPS 2005, "
    "doi:10.1109/IPDPS.2005.118";
constexpr std::string_view kMpich =
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "IJHPCA 19 (2005), doi:10.1177/1094342005051521";
constexpr std::string_view kTac =
    "TAC: topology-aware collectives (leaders per node and group), after Kielmann, Hofman, Bal, "
    "Plaat, Bhoedjang, MagPIe: MPI's collective communication operations for clustered wide area "
    "systems, PPoPP 1999, doi:10.1145/301104.301116";
constexpr std::string_view kBhat =
    "Bhat, Raghavendra, Prasanna, Efficient collective communication in distributed heterogeneous "
    "systems, JPDC 63 (2003), doi:10.1016/S0743-7315(03)00008-X";
constexpr std::string_view kFnf =
    "Banikazemi, Moorthy, Panda, Efficient collective communication on heterogeneous networks of "
    "workstations, ICPP 1998; as in Bhat, Raghavendra, Prasanna, JPDC 63 (2003), "
    "doi:10.1016/S0743-7315(03)00008-X";
constexpr std::string_view kCollectiveModels =
    "CM: Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra, Performance analysis of MPI "
    "collective operations, Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0";
constexpr std::string_view kTtcAllreduce =
    "TTC: Efficient Two Trees to Optimize Collectives, section Allreduce (TwoTreeC+C, TwoTreeC+S), "
    "after Sanders, Speck, Traeff, doi:10.1016/j.parco.2009.09.001";
constexpr std::string_view kNoGuarantee = "none";

template <Outcome (*Over)(const Instance&, const AlgorithmOptions&, TreeMaker)>
Outcome over_default_inner(const Instance& instance, const AlgorithmOptions& options) {
  return Over(instance, options, find_algorithm(kDefaultInner).entry->run);
}

template <Outcome (*Over)(const Instance&, const AlgorithmOptions&, TreeMaker)>
constexpr AlgorithmEntry entry_over_inner(std::string_view name, std::string_view summary) {
  return {name,         summary,
          kTac,         "the inner algorithm's, plus O(m) per group",
          kNoGuarantee, over_default_inner<Over>,
          false,        Over};
}

// Complexities.
constexpr std::string_view kRankOrder = "O(n), plus paths where there is no link";
constexpr std::string_view kOwnRank = "O(1) per rank, plus paths where there is no link";
constexpr std::string_view kEarliest =
    "O(n d log m), d links out of a host; more where sends share links";

constexpr auto kAlgorithms = std::to_array<AlgorithmEntry>({
    {kOptimal, "several trees at the rates of the packing LP: the proven optimum",
     "Beaumont, Legrand, Marchal, Robert, Pipelining broadcasts on heterogeneous "
     "platforms, IEEE TPDS 16 (2005), doi:10.1109/TPDS.2005.48",
     "column generation, O(m + k log n) per tree", "within the gap (1e-6) of the proven bound",
     tree_algorithms::optimal, true},
    {"fabric", "several trees built directly along the switches, in milliseconds, without the LP",
     "our own, after Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, "
     "reduction and scan, Parallel Computing 35 (2009), doi:10.1016/j.parco.2009.09.001",
     "O(m log n) where paths do not collide",
     "none, but often the optimum, and then proven; only where hosts are linked to switches alone",
     best_direct_trees, true, nullptr, false, Serves::kAll, nullptr, why_no_direct_trees},
    {"exact-tree", "one tree, proven to be the best single one",
     "our own branch and cut; cuts: Edmonds, Optimum branchings, J. Res. NBS 71B "
     "(1967), doi:10.6028/jres.071B.032",
     "exponential; with --time-limit it reports the gap reached",
     "the best single tree, to 1e-6 (through relays, along the fastest path only)",
     tree_algorithms::exact_tree, false, nullptr, true},
    {"best-tree", "one tree, the best that a search finds quickly",
     "annealing: Kirkpatrick, Gelatt, Vecchi, Science 220 (1983), "
     "doi:10.1126/science.220.4598.671; then branch and cut with little work",
     "the packing, then a fixed effort", "no worse than any other single tree here",
     tree_algorithms::best_tree},
    {"lp-grow", "one tree, grown along the arcs that the optimum uses most", kHbt,
     "the packing, then O(m log m)", kNoGuarantee, tree_algorithms::lp_grow},
    {"lp-prune", "one tree, pruned of the arcs that the optimum uses least", kHbt,
     "the packing, then O(m (log m + subtree))", kNoGuarantee, tree_algorithms::lp_prune},
    {"grow", "one tree, grown where the sender's load stays least", kHbt, "O(m log m) heap steps",
     kNoGuarantee, tree_algorithms::grow},
    {"grow-as-printed",
     "one tree, grown with the slides' cost update, which counts earlier children twice", kHbt,
     "O(m log m) heap steps", kNoGuarantee, tree_algorithms::grow_as_printed},
    {"prune-refined", "one tree, pruned at the node with the greatest out-degree", kHbt,
     "O(m (log m + subtree))", kNoGuarantee, tree_algorithms::prune_refined},
    {"prune-simple", "one tree, pruned by the heaviest arcs first", kHbt, "O(m (log m + subtree))",
     kNoGuarantee, tree_algorithms::prune_simple},
    {"binomial", "one topology-oblivious tree, as MPI libraries build it", kMpich, kRankOrder,
     kNoGuarantee, tree_algorithms::binomial},
    {"binary", "one topology-oblivious tree: complete binary in rank order", kMpich, kRankOrder,
     kNoGuarantee, tree_algorithms::binary},
    {"chain", "one topology-oblivious tree: a pipeline in rank order", kMpich, kRankOrder,
     kNoGuarantee, tree_algorithms::chain},
    {"flat", "one topology-oblivious tree: the source sends to all", kMpich, kRankOrder,
     kNoGuarantee, tree_algorithms::flat},
    {"k-chain", "one topology-oblivious tree: k pipelines in rank order", kCollectiveModels,
     kRankOrder, kNoGuarantee, tree_algorithms::k_chain},
    {"ring",
     "one tree: a chain along the best ring that a search finds, the same for every root; the "
     "allreduce of NCCL and Prime PCCL",
     "Baidu's ring: Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms, JPDC 69 (2009), "
     "doi:10.1016/j.jpdc.2008.09.002; search: Or (1976)",
     "O(n) moves a round, after the paths between hosts", kNoGuarantee, tree_algorithms::ring,
     false, nullptr, false, Serves::kAll, tree_algorithms::ring_of_reduction},
    {"bruck",
     "one topology-oblivious tree: distances double, in rank order; the allgather and alltoall of "
     "MPI libraries for short messages",
     "Bruck et al., Efficient algorithms for all-to-all communications, IEEE TPDS 8 (1997), "
     "doi:10.1109/71.642949",
     kRankOrder, kNoGuarantee, tree_algorithms::bruck},
    {"recursive-doubling",
     "one topology-oblivious tree: partners differ in one bit; with a root at every host "
     "recursive halving and doubling, Rabenseifner's allreduce",
     kMpich, kRankOrder, kNoGuarantee, tree_algorithms::recursive_doubling},
    {"neighbor-exchange",
     "one topology-oblivious tree: in rank order in both directions; the allgather of Open MPI "
     "for long messages",
     "Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on "
     "terascale Linux cluster with fast Ethernet, HPC Asia (2005), doi:10.1109/HPCASIA.2005.75",
     kRankOrder, kNoGuarantee, tree_algorithms::neighbor_exchange},
    {"split-binary",
     "two topology-oblivious trees: each half of a binary tree gets half the "
     "message, then they exchange halves",
     kCollectiveModels, kRankOrder, kNoGuarantee, tree_algorithms::split_binary, true, nullptr,
     false, Serves::kBroadcast},
    {"two-tree-complete", "two topology-oblivious trees: complete, numbered from both ends",
     "TTC: Efficient Two Trees to Optimize Collectives, Algorithm 1, after Sanders, "
     "Speck, Traeff, doi:10.1016/j.parco.2009.09.001",
     kOwnRank, "the optimum where all links are equal, one-port",
     tree_algorithms::two_tree_complete, true, nullptr, false, Serves::kAll, nullptr, nullptr,
     true},
    {"two-tree-sanders",
     "two topology-oblivious trees: in-order, with colors for synchronised rounds",
     "Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, "
     "reduction and scan, Parallel Computing 35 (2009), "
     "doi:10.1016/j.parco.2009.09.001",
     kRankOrder, "the optimum where all links are equal, one-port",
     tree_algorithms::two_tree_sanders, true, nullptr, false, Serves::kAll, nullptr, nullptr, true},
    {"two-tree-complete+complete",
     "reduce along two-tree-complete, broadcast along its trees numbered from the "
     "middle",
     kTtcAllreduce, kOwnRank, kNoGuarantee, tree_algorithms::two_tree_from_middle, true, nullptr,
     false, Serves::kAllreduce, tree_algorithms::two_tree_complete},
    {"two-tree-complete+complete-repaired",
     "the same, with the second tree numbered from one place lower, so that no host has children "
     "in both",
     kTtcAllreduce, kOwnRank, "(P - 1) / P of the optimum where all links are equal, one-port",
     tree_algorithms::two_tree_from_middle_repaired, true, nullptr, false, Serves::kAllreduce,
     tree_algorithms::two_tree_complete},
    {"two-tree-complete+sanders",
     "reduce along two-tree-complete, broadcast along two-tree-sanders", kTtcAllreduce, kRankOrder,
     kNoGuarantee, tree_algorithms::two_tree_sanders, true, nullptr, false, Serves::kAllreduce,
     tree_algorithms::two_tree_complete},
    entry_over_inner<tree_algorithms::hierarchical>(
        "hierarchical", "a tree among the leaders of each level of groups, then inside the groups"),
    entry_over_inner<tree_algorithms::hierarchical_node>(
        "hierarchical-node",
        "a tree among the leaders of the finest groups, then inside the groups"),
    entry_over_inner<tree_algorithms::hierarchical_group>(
        "hierarchical-group",
        "a tree among the leaders of the coarsest groups, then inside the groups"),
    entry_over_inner<tree_algorithms::reorder>(
        "reorder", "one tree over ranks re-ordered so that every group is contiguous"),
    {"fnf", "one message: the fastest host next, from the sender that reaches it first", kFnf,
     "O(m + n log n)", kNoGuarantee, tree_algorithms::fnf, false, nullptr, false,
     Serves::kBroadcast},
    {"ecef", "one message: the send that completes earliest next", kBhat, kEarliest, kNoGuarantee,
     tree_algorithms::ecef, false, nullptr, false, Serves::kBroadcast},
    {"ecef-lookahead", "one message: earliest completion, plus the receiver's own next send", kBhat,
     kEarliest, kNoGuarantee, tree_algorithms::ecef_lookahead, false, nullptr, false,
     Serves::kBroadcast},
});

const AlgorithmEntry* entry_named(std::string_view name) {
  const auto* const entry = std::ranges::find(kAlgorithms, name, &AlgorithmEntry::name);
  return entry != kAlgorithms.end() ? entry : nullptr;
}

constexpr bool any_entry(const AlgorithmEntry&) {
  return true;
}
constexpr bool can_be_inner(const AlgorithmEntry& entry) {
  return (!entry.several_trees || entry.joins_trees) && !entry.takes_inner();
}
static_assert(std::ranges::any_of(kAlgorithms, [](const AlgorithmEntry& entry) {
  return entry.name == kDefaultInner && can_be_inner(entry);
}));

// The names of the entries for which `chosen` holds, in the registry's order.
template <class Chosen>
std::vector<std::string_view> names_of(Chosen chosen) {
  std::vector<std::string_view> names;
  for (const AlgorithmEntry& entry : kAlgorithms) {
    if (std::invoke(chosen, entry)) names.push_back(entry.name);
  }
  return names;
}

void require_service(const AlgorithmEntry& entry, Operation operation) {
  if (entry.does(operation)) return;
  const auto others =
      names_of([&](const AlgorithmEntry& candidate) { return candidate.does(operation); });
  throw InputError(fmt::format("algorithm '{}' makes no trees for {}; these do: {}", entry.name,
                               with_article(operation), fmt::join(others, ", ")));
}

// The inner algorithm `name` of `whole`, "hierarchical:grow".
const AlgorithmEntry& inner_named(std::string_view whole, std::string_view name,
                                  Operation operation) {
  const AlgorithmEntry* const entry = entry_named(name.substr(0, name.find(':')));
  if (entry != nullptr && can_be_inner(*entry) && entry->name == name) {
    require_service(*entry, operation);
    return *entry;
  }
  const std::vector<std::string_view> names = names_of([&](const AlgorithmEntry& candidate) {
    return can_be_inner(candidate) && candidate.does(operation);
  });
  if (entry == nullptr || can_be_inner(*entry)) {
    throw InputError(fmt::format("algorithm {}: {}", in_quotes(whole),
                                 unknown_name("inner algorithm", name, names)));
  }
  throw InputError(fmt::format(
      "algorithm {}: '{}' cannot be the inner algorithm, because it {}; use one of: {}",
      in_quotes(whole), entry->name,
      entry->takes_inner() ? "takes one itself" : "makes several trees", fmt::join(names, ", ")));
}

}  // namespace

BytesPerSecond sum_of_rates(std::span<const WeightedTree> trees) {
  double sum = 0;
  for (const WeightedTree& tree : trees) sum += tree.rate.value;
  return {sum};
}

void add_tree(lp::RoutedTree tree, double rate, std::vector<WeightedTree>& trees) {
  const auto same = std::ranges::find(trees, tree, &WeightedTree::tree);
  if (same == trees.end()) {
    trees.push_back({std::move(tree), {rate}});
  } else {
    same->rate.value += rate;
  }
}

void add_load(std::span<const WeightedTree> trees, const platforms::Occupation& occupation,
              std::vector<double>& load) {
  for (const WeightedTree& tree : trees) {
    const std::vector<double> of_tree = lp::tree_load(occupation.seconds_per_byte, tree.tree);
    for (std::size_t r = 0; r < load.size(); ++r) load[r] += tree.rate.value * of_tree[r];
  }
}

void fill_first_resource(Outcome& outcome, const platforms::Occupation& occupation) {
  std::vector<std::vector<WeightedTree>*> all{&outcome.reduce_trees, &outcome.trees};
  for (BlockOfTrees& block : outcome.blocks) all.push_back(&block.trees);
  std::vector<double> load(occupation.resources.size(), 0.0);
  for (const auto* trees : all) add_load(*trees, occupation, load);
  const double rate = 1 / std::ranges::max(load);
  for (auto* trees : all) {
    for (WeightedTree& tree : *trees) tree.rate.value *= rate;
  }
}

double crowding_of(const Outcome& outcome, const Instance& instance) {
  std::vector<lp::PackedTree> trees;
  const auto add = [&](std::span<const WeightedTree> some) {
    for (const WeightedTree& tree : some) trees.push_back({tree.tree, tree.rate.value});
  };
  add(outcome.reduce_trees);
  add(outcome.trees);
  for (const BlockOfTrees& block : outcome.blocks) add(block.trees);
  return lp::crowding_of(instance.digraph().latency_s, instance.occupation().seconds_per_byte,
                         trees);
}

std::size_t tree_count(const Outcome& outcome) {
  std::size_t count = outcome.trees.size() + outcome.reduce_trees.size();
  for (const BlockOfTrees& block : outcome.blocks) count += block.trees.size();
  return count;
}

std::vector<double> prices_by_row(std::span<const PricedResource> prices, std::size_t rows) {
  std::vector<double> of_row(rows, 0.0);
  for (const PricedResource& priced : prices) of_row[priced.row] = priced.price;
  return of_row;
}

std::vector<PricedResource> priced_rows(std::span<const double> prices) {
  std::vector<PricedResource> priced;
  for (std::uint32_t row = 0; row < prices.size(); ++row) {
    if (prices[row] > 0) priced.push_back({row, prices[row]});
  }
  std::ranges::stable_sort(priced, std::greater<>(), &PricedResource::price);
  return priced;
}

std::span<const AlgorithmEntry> algorithms() {
  return kAlgorithms;
}

void Algorithm::require_platform(const Instance& instance) const {
  if (entry->is_for(instance)) return;
  throw InfeasibleError(fmt::format("{}: algorithm '{}': {}; use '{}'",
                                    printable(instance.platform().name()), entry->name,
                                    entry->refusal(instance), kOptimal));
}

Outcome Algorithm::run(const Instance& instance, const AlgorithmOptions& options) const {
  require_platform(instance);
  return inner != nullptr ? entry->run_over(instance, options, inner->run)
                          : entry->run(instance, options);
}

Outcome Algorithm::run_reduction(const Instance& reversed, const AlgorithmOptions& options) const {
  return entry->run_reduction != nullptr ? entry->run_reduction(reversed, options)
                                         : run(reversed, options);
}

Algorithm find_algorithm(std::string_view name, Operation operation) {
  const std::size_t colon = name.find(':');
  const AlgorithmEntry* entry = entry_named(name.substr(0, colon));
  if (entry == nullptr) {
    throw InputError(unknown_name("algorithm", name.substr(0, colon), names_of(any_entry)));
  }
  require_service(*entry, operation);
  Algorithm algorithm{std::string(name), entry, nullptr};
  if (entry->takes_inner()) {
    algorithm.inner = &inner_named(
        name, colon == std::string_view::npos ? kDefaultInner : name.substr(colon + 1), operation);
  } else if (colon != std::string_view::npos) {
    throw InputError(fmt::format("algorithm {}: '{}' takes no inner algorithm; these do: {}",
                                 in_quotes(name), entry->name,
                                 fmt::join(names_of(&AlgorithmEntry::takes_inner), ", ")));
  }
  return algorithm;
}

std::vector<Algorithm> parse_algorithms(std::string_view list, Operation operation) {
  std::vector<Algorithm> chosen;
  if (list == "all") {
    for (const AlgorithmEntry& entry : kAlgorithms) {
      if (entry.does(operation)) chosen.push_back(find_algorithm(entry.name, operation));
    }
    return chosen;
  }
  for (const std::string_view name : split(list, ',')) {
    Algorithm algorithm = find_algorithm(name, operation);
    if (std::find(chosen.begin(), chosen.end(), algorithm) == chosen.end()) {
      chosen.push_back(std::move(algorithm));
    }
  }
  return chosen;
}

Outcome tree_algorithms::single_tree(const Instance& instance, lp::RoutedTree tree) {
  Outcome outcome;
  const BytesPerSecond rate = instance.throughput(tree);
  outcome.trees.push_back({std::move(tree), rate});
  return outcome;
}

}  // namespace espalier::planner
