// Packings whose trees lp/fabric/ builds directly, and a plain bound proves (docs/model.md,
// "Networks with switches").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "lp/problem/both_ways.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// Trees of lp/fabric/ that carry `rate` together, in bytes per second, made in at most a fifth of
// the time; empty: there are fewer than 64 hosts, or no such trees.
std::vector<lp::PackedTree> fabric_trees(const lp::PackingProblem& problem, double rate,
                                         std::size_t most_trees, const Deadline& deadline);

// Whether direct trees, or those of racks, are worth looking for: hosts at switches can have them,
// and hosts with links to a few others. With few hosts the search for few trees takes milliseconds,
// and finds fewer.
bool is_for_direct_trees(const lp::Digraph& graph);

// Whether the packing's rate is within `gap` of the bound: then the bound is the packing's, with
// its prices.
bool prove(lp::Packing& packing, const lp::PlainBound& bound, double gap);

// Blocks whose trees' rates are their shares, at the highest rates, if they reach the problem's
// plain bound but for `gap`; with its prices.
std::optional<Outcome> proven_blocks(const AllRoots& problem, std::vector<BlockOfTrees> blocks,
                                     const lp::PlainBound& bound, double gap);

// What is near enough to the bound of an allreduce, and of parts that go along one ring each (a
// link carries a part more or less): options.gap, or a thousandth. The root is in no tree a leaf,
// so that of n equal hosts some capacity is left over, 1/n of the whole; trees that use it have
// almost all hosts under one.
double gap_near_enough(const AlgorithmOptions& options);

// Whether it is proven, and within the limits of number, depth and latency, so that nothing is left
// to search.
bool is_plan(const lp::PackingProblem& problem, const lp::Packing& packing,
             const AlgorithmOptions& options);

// Takes lp::less_crowded trees instead where these are a plan, too.
void make_less_crowded(const lp::PackingProblem& problem, const AlgorithmOptions& options,
                       lp::Packing& packing);

// Trees along both directions of links as those of the joint problem of an allreduce.
void join_both_ways(const CollectiveProblem& joint, const lp::BothWays& both,
                    std::vector<lp::PackedTree>& trees);

// Direct trees, where they reach a plain bound, and keep within the limits of depth and number: as
// good as a packing can be, and shallower. Unset: there are none.
std::optional<lp::Packing> direct_packing(const Instance& instance,
                                          const AlgorithmOptions& options);

// The same of an allreduce, which reduces along its broadcast's trees reversed, within
// gap_near_enough.
std::optional<lp::Packing> direct_allreduce(const CollectiveProblem& joint,
                                            const Collective& collective,
                                            const AlgorithmOptions& options);

// Why no trees can be built directly, for a message after the platform's name: "host 'a' has
// several links". Empty: they can.
std::string why_no_direct_trees(const Instance& instance);

// The best direct trees of any network of that kind, however few the hosts: at the plain bound, or
// as near to it as they come; the bound is unset where they do not reach it. Precondition:
// why_no_direct_trees is empty. Throws LimitReached.
Outcome best_direct_trees(const Instance& instance, const AlgorithmOptions& options);
// Of an allreduce, as direct_allreduce. Throws InfeasibleError where a link has no opposite.
Outcome best_direct_allreduce(const CollectiveProblem& joint, const Collective& collective,
                              const AlgorithmOptions& options);

}  // namespace espalier::planner
