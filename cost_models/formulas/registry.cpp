#include "cost_models/formulas/registry.hpp"

#include <algorithm>

#include "cost_models/formulas/two_tree.hpp"

namespace espalier::cost_models {

namespace {

// Model selects the overload of the formula.
template <typename Model>
consteval FormulaEntry cut(std::string_view operation, std::string_view algorithm,
                           FormulaOf<Model> formula, std::string_view source,
                           std::string_view deviation = {}) {
  return {operation, algorithm, formula, source, true, deviation};
}
template <typename Model>
consteval FormulaEntry whole(std::string_view operation, std::string_view algorithm,
                             FormulaOf<Model> formula, std::string_view source,
                             std::string_view deviation = {}) {
  return {operation, algorithm, formula, source, false, deviation};
}

constexpr std::string_view kBarrier = "barrier";
constexpr std::string_view kBroadcast = "broadcast";
constexpr std::string_view kReduce = "reduce";
constexpr std::string_view kAlltoall = "alltoall";

constexpr std::string_view kHalf = "a segment is at most half the message";

constexpr std::array kFormulas{
    whole<Hockney>(kBarrier, "flat-tree", barrier_flat_tree, "CM table 1, Flat-Tree, Hockney",
                   "P alpha instead of (P - 1) alpha"),
    whole<LogGP>(kBarrier, "flat-tree", barrier_flat_tree,
                 "CM table 1, Flat-Tree, LogP/LogGP, Tmin"),
    whole<PLogP>(kBarrier, "flat-tree", barrier_flat_tree, "CM table 1, Flat-Tree, PLogP, Tmin"),
    whole<LogGP>(kBarrier, "flat-tree-worst", barrier_flat_tree_worst,
                 "CM table 1, Flat-Tree, LogP/LogGP, Tmax"),
    whole<PLogP>(kBarrier, "flat-tree-worst", barrier_flat_tree_worst,
                 "CM table 1, Flat-Tree, PLogP, Tmax"),
    whole<Hockney>(kBarrier, "double-ring", barrier_double_ring,
                   "CM table 1, Double Ring, Hockney"),
    whole<LogGP>(kBarrier, "double-ring", barrier_double_ring,
                 "CM table 1, Double Ring, LogP/LogGP"),
    whole<PLogP>(kBarrier, "double-ring", barrier_double_ring, "CM table 1, Double Ring, PLogP"),
    whole<Hockney>(kBarrier, "recursive-doubling", barrier_recursive_doubling,
                   "CM table 1, Recursive Doubling, Hockney"),
    whole<LogGP>(kBarrier, "recursive-doubling", barrier_recursive_doubling,
                 "CM table 1, Recursive Doubling, LogP/LogGP"),
    whole<PLogP>(kBarrier, "recursive-doubling", barrier_recursive_doubling,
                 "CM table 1, Recursive Doubling, PLogP"),
    whole<Hockney>(kBarrier, "bruck", barrier_bruck, "CM table 1, Bruck, Hockney"),
    whole<LogGP>(kBarrier, "bruck", barrier_bruck, "CM table 1, Bruck, LogP/LogGP"),
    whole<PLogP>(kBarrier, "bruck", barrier_bruck, "CM table 1, Bruck, PLogP"),

    cut<Hockney>(kBroadcast, "linear", broadcast_linear, "CM table 2, Linear, Hockney"),
    cut<LogGP>(kBroadcast, "linear", broadcast_linear, "CM table 2, Linear, LogP/LogGP"),
    cut<PLogP>(kBroadcast, "linear", broadcast_linear, "CM table 2, Linear, PLogP"),
    cut<Hockney>(kBroadcast, "pipeline", broadcast_pipeline, "CM table 2, Pipeline, Hockney"),
    cut<LogGP>(kBroadcast, "pipeline", broadcast_pipeline, "CM table 2, Pipeline, LogP/LogGP"),
    cut<PLogP>(kBroadcast, "pipeline", broadcast_pipeline, "CM table 2, Pipeline, PLogP"),
    cut<Hockney>(kBroadcast, "binomial", broadcast_binomial, "CM table 2, Binomial, Hockney"),
    cut<LogGP>(kBroadcast, "binomial", broadcast_binomial, "CM table 2, Binomial, LogP/LogGP"),
    cut<PLogP>(kBroadcast, "binomial", broadcast_binomial, "CM table 2, Binomial, PLogP"),
    cut<Hockney>(kBroadcast, "binary", broadcast_binary, "CM table 2, Binary, Hockney"),
    cut<LogGP>(kBroadcast, "binary", broadcast_binary, "CM table 2, Binary, LogP/LogGP",
               "factor (ns - 1) added, g once per level"),
    cut<PLogP>(kBroadcast, "binary", broadcast_binary, "CM table 2, Binary, PLogP"),
    cut<Hockney>(kBroadcast, "split-binary", broadcast_split_binary,
                 "CM table 2, Splitted-binary, Hockney", kHalf),
    cut<LogGP>(kBroadcast, "split-binary", broadcast_split_binary,
               "CM table 2, Splitted-binary, LogP/LogGP", kHalf),
    cut<PLogP>(kBroadcast, "split-binary", broadcast_split_binary,
               "CM table 2, Splitted-binary, PLogP",
               "a segment is at most half the message; exchange of the halves added"),
    cut<LogGP>(kBroadcast, "two-tree", broadcast_two_tree, "TTC equation 1",
               "N max(g, o) instead of O(N + m / 2), log2 P rounded up"),

    cut<Hockney>(kReduce, "flat-tree", reduce_flat_tree, "CM table 3, Flat Tree, Hockney"),
    cut<LogGP>(kReduce, "flat-tree", reduce_flat_tree, "CM table 3, Flat Tree, LogP/LogGP"),
    cut<PLogP>(kReduce, "flat-tree", reduce_flat_tree, "CM table 3, Flat Tree, PLogP"),
    cut<Hockney>(kReduce, "pipeline", reduce_pipeline, "CM table 3, Pipeline, Hockney"),
    cut<LogGP>(kReduce, "pipeline", reduce_pipeline, "CM table 3, Pipeline, LogP/LogGP"),
    cut<PLogP>(kReduce, "pipeline", reduce_pipeline, "CM table 3, Pipeline, PLogP"),
    cut<Hockney>(kReduce, "binomial", reduce_binomial, "CM table 3, Binomial, Hockney"),
    cut<LogGP>(kReduce, "binomial", reduce_binomial, "CM table 3, Binomial, LogP/LogGP",
               "a bracket added"),
    cut<PLogP>(kReduce, "binomial", reduce_binomial, "CM table 3, Binomial, PLogP"),
    cut<Hockney>(kReduce, "binary", reduce_binary, "CM table 3, Binary, Hockney",
                 "gamma ms instead of gamma mS"),
    cut<LogGP>(kReduce, "binary", reduce_binary, "CM table 3, Binary, LogP/LogGP",
               "the segments outside the bracket"),
    cut<PLogP>(kReduce, "binary", reduce_binary, "CM table 3, Binary, PLogP"),

    cut<Hockney>(kAlltoall, "linear", alltoall_linear, "CM table 4, Linear, Hockney",
                 "a send takes alpha + ms beta instead of alpha"),
    cut<LogGP>(kAlltoall, "linear", alltoall_linear, "CM table 4, Linear, LogP/LogGP"),
    cut<PLogP>(kAlltoall, "linear", alltoall_linear, "CM table 4, Linear, PLogP"),
    whole<Hockney>(kAlltoall, "pairwise", alltoall_pairwise,
                   "CM table 4, Pairwise exchange, Hockney"),
    whole<LogGP>(kAlltoall, "pairwise", alltoall_pairwise,
                 "CM table 4, Pairwise exchange, LogP/LogGP"),
    whole<PLogP>(kAlltoall, "pairwise", alltoall_pairwise, "CM table 4, Pairwise exchange, PLogP"),
};

void add_once(std::vector<std::string_view>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::span<const FormulaEntry> formulas() {
  return kFormulas;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const FormulaEntry& entry : kFormulas) add_once(names, entry.operation);
  return names;
}

std::vector<std::string_view> algorithm_names(std::string_view operation, std::string_view model) {
  std::vector<std::string_view> names;
  for (const FormulaEntry& entry : kFormulas) {
    if (entry.operation == operation && entry.model() == model) names.push_back(entry.algorithm);
  }
  return names;
}

}  // namespace espalier::cost_models
