#include "planner/registry.hpp"

#include <algorithm>
#include <array>

#include "planner/algorithms/algorithms.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::planner {

namespace {

constexpr std::string_view kHbt =
    "HBT: Beaumont, Marchal, Robert, Broadcast trees for heterogeneous platforms, IPDPS 2005, "
    "doi:10.1109/IPDPS.2005.118";
constexpr std::string_view kMpich =
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "IJHPCA 19 (2005), doi:10.1177/1094342005051521";
constexpr std::string_view kCollectiveModels =
    "CM: Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra, Performance analysis of MPI "
    "collective operations, Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0";
constexpr std::string_view kNoGuarantee = "none";

constexpr std::array kAlgorithms = {
    AlgorithmEntry{"optimal", "several trees at the rates of the packing LP: the proven optimum",
                   "Beaumont, Legrand, Marchal, Robert, Pipelining broadcasts on heterogeneous "
                   "platforms, IEEE TPDS 16 (2005), doi:10.1109/TPDS.2005.48",
                   "column generation, O(m + k log n) a tree",
                   "within the gap (1e-6) of the proven bound", tree_algorithms::optimal},
    AlgorithmEntry{"lp-grow", "one tree, grown along the arcs that the optimum uses most", kHbt,
                   "the packing, then O(m log m)", kNoGuarantee, tree_algorithms::lp_grow},
    AlgorithmEntry{"lp-prune", "one tree, pruned by the arcs that the optimum uses least first",
                   kHbt, "the packing, then O(m (log m + subtree))", kNoGuarantee,
                   tree_algorithms::lp_prune},
    AlgorithmEntry{"grow", "one tree, grown where the sender's load stays least", kHbt,
                   "O(m log m) heap steps", kNoGuarantee, tree_algorithms::grow},
    AlgorithmEntry{"prune-refined", "one tree, pruned at the node with the greatest out-degree",
                   kHbt, "O(m (log m + subtree))", kNoGuarantee, tree_algorithms::prune_refined},
    AlgorithmEntry{"prune-simple", "one tree, pruned by the heaviest arcs first", kHbt,
                   "O(m (log m + subtree))", kNoGuarantee, tree_algorithms::prune_simple},
    AlgorithmEntry{"binomial", "one tree, blind to the network, as MPI libraries build it", kMpich,
                   "O(n), plus paths where no link is", kNoGuarantee, tree_algorithms::binomial},
    AlgorithmEntry{"binary", "one tree, blind to the network: complete binary in rank order",
                   kMpich, "O(n), plus paths where no link is", kNoGuarantee,
                   tree_algorithms::binary},
    AlgorithmEntry{"chain", "one tree, blind to the network: a pipeline in rank order", kMpich,
                   "O(n), plus paths where no link is", kNoGuarantee, tree_algorithms::chain},
    AlgorithmEntry{"flat", "one tree, blind to the network: the source sends to all", kMpich,
                   "O(n), plus paths where no link is", kNoGuarantee, tree_algorithms::flat},
    AlgorithmEntry{"k-chain", "one tree, blind to the network: k pipelines in rank order",
                   kCollectiveModels, "O(n), plus paths where no link is", kNoGuarantee,
                   tree_algorithms::k_chain},
    AlgorithmEntry{"split-binary",
                   "two trees, blind to the network: each half of a binary tree gets half the "
                   "message, then they exchange halves",
                   kCollectiveModels, "O(n), plus paths where no link is", kNoGuarantee,
                   tree_algorithms::split_binary},
    AlgorithmEntry{
        "two-tree-complete", "two trees, blind to the network: complete, numbered from both ends",
        "TTC: Efficient Two Trees to Optimize Collectives, Algorithm 1, after Sanders, "
        "Speck, Traeff, doi:10.1016/j.parco.2009.09.001",
        "O(1) a rank, plus paths where no link is",
        "the optimum where all links are alike, one-port", tree_algorithms::two_tree_complete},
    AlgorithmEntry{"two-tree-sanders",
                   "two trees, blind to the network: in order, with colors for synchronised rounds",
                   "Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, "
                   "reduction and scan, Parallel Computing 35 (2009), "
                   "doi:10.1016/j.parco.2009.09.001",
                   "O(n), plus paths where no link is",
                   "the optimum where all links are alike, one-port",
                   tree_algorithms::two_tree_sanders},
};

}  // namespace

std::span<const AlgorithmEntry> algorithms() {
  return kAlgorithms;
}

const AlgorithmEntry& find_algorithm(std::string_view name) {
  const auto entry = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                  [&](const AlgorithmEntry& e) { return e.name == name; });
  if (entry != kAlgorithms.end()) return *entry;
  std::vector<std::string_view> names;
  names.reserve(kAlgorithms.size());
  for (const AlgorithmEntry& e : kAlgorithms) names.push_back(e.name);
  throw InputError(unknown_name("algorithm", name, names));
}

std::vector<const AlgorithmEntry*> parse_algorithms(std::string_view list) {
  std::vector<const AlgorithmEntry*> chosen;
  if (list == "all") {
    for (const AlgorithmEntry& entry : kAlgorithms) chosen.push_back(&entry);
    return chosen;
  }
  while (true) {
    const std::size_t comma = list.find(',');
    const AlgorithmEntry* entry = &find_algorithm(list.substr(0, comma));
    if (std::find(chosen.begin(), chosen.end(), entry) == chosen.end()) chosen.push_back(entry);
    if (comma == std::string_view::npos) return chosen;
    list.remove_prefix(comma + 1);
  }
}

Outcome tree_algorithms::single_tree(const Instance& instance, lp::RoutedTree tree) {
  Outcome outcome;
  const BytesPerSecond rate = instance.throughput(tree);
  outcome.trees.push_back({std::move(tree), rate});
  return outcome;
}

}  // namespace espalier::planner
