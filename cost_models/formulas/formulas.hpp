// How long a collective operation takes by the formulas of CM, tables 1 to 4 (parameters.hpp names
// the source): one function a row. docs/models.md writes all of them out, and docs/decisions/0010
// tells where the printed tables are damaged or contradict themselves, and what stands here
// instead.
//
// Every function: the time in seconds from the call until the last rank is done; 0 for one rank.
// Throws InputError for no ranks, over kMaxRanks, a computation time or parameter that is negative
// or not finite, and a result that overflows.
#pragma once

#include <cstdint>

#include "cost_models/parameters.hpp"
#include "support/quantities.hpp"

namespace espalier::cost_models {

inline constexpr std::uint64_t kMaxRanks = 2'147'483'647;  // MPI counts them in an int

// One call of an operation.
struct Case {
  std::uint64_t ranks = 1;  // P
  // m: broadcast and reduce: what the root has or gets; alltoall: from each rank to each other;
  // barrier: not looked at.
  Bytes message;
  // ms: what the message is cut into; unset (0) or larger than the message: not cut. The last
  // segment counts as a whole one. Barriers and the pairwise alltoall do not cut.
  Bytes segment;
  SecondsPerByte computation;  // gamma: of a reduce, per byte combined
};

// The segment that a case is really cut into: not over the message, and of at least one byte unless
// the message is empty.
Bytes segment_of(const Case& of);
// ns, the number of segments; an empty message is one.
std::uint64_t segments_of(const Case& of);

// Table 1. Flat tree: the best case, which CM predicts with; the worst case has no Hockney row.
Seconds barrier_flat_tree(const Hockney& model, const Case& of);
Seconds barrier_flat_tree(const LogGP& model, const Case& of);
Seconds barrier_flat_tree(const PLogP& model, const Case& of);
Seconds barrier_flat_tree_worst(const LogGP& model, const Case& of);
Seconds barrier_flat_tree_worst(const PLogP& model, const Case& of);
Seconds barrier_double_ring(const Hockney& model, const Case& of);
Seconds barrier_double_ring(const LogGP& model, const Case& of);
Seconds barrier_double_ring(const PLogP& model, const Case& of);
// Two steps more where the ranks are no power of two: 4 ranks are faster than 3.
Seconds barrier_recursive_doubling(const Hockney& model, const Case& of);
Seconds barrier_recursive_doubling(const LogGP& model, const Case& of);
Seconds barrier_recursive_doubling(const PLogP& model, const Case& of);
Seconds barrier_bruck(const Hockney& model, const Case& of);
Seconds barrier_bruck(const LogGP& model, const Case& of);
Seconds barrier_bruck(const PLogP& model, const Case& of);

// Table 2.
Seconds broadcast_linear(const Hockney& model, const Case& of);
Seconds broadcast_linear(const LogGP& model, const Case& of);
Seconds broadcast_linear(const PLogP& model, const Case& of);
Seconds broadcast_pipeline(const Hockney& model, const Case& of);
Seconds broadcast_pipeline(const LogGP& model, const Case& of);
Seconds broadcast_pipeline(const PLogP& model, const Case& of);
Seconds broadcast_binomial(const Hockney& model, const Case& of);
Seconds broadcast_binomial(const LogGP& model, const Case& of);
Seconds broadcast_binomial(const PLogP& model, const Case& of);
Seconds broadcast_binary(const Hockney& model, const Case& of);
Seconds broadcast_binary(const LogGP& model, const Case& of);
Seconds broadcast_binary(const PLogP& model, const Case& of);
// Halves go down a binary tree and are exchanged at its end; a segment is of a half.
Seconds broadcast_split_binary(const Hockney& model, const Case& of);
Seconds broadcast_split_binary(const LogGP& model, const Case& of);
Seconds broadcast_split_binary(const PLogP& model, const Case& of);

// Table 3.
Seconds reduce_flat_tree(const Hockney& model, const Case& of);
Seconds reduce_flat_tree(const LogGP& model, const Case& of);
Seconds reduce_flat_tree(const PLogP& model, const Case& of);
Seconds reduce_pipeline(const Hockney& model, const Case& of);
Seconds reduce_pipeline(const LogGP& model, const Case& of);
Seconds reduce_pipeline(const PLogP& model, const Case& of);
Seconds reduce_binomial(const Hockney& model, const Case& of);
Seconds reduce_binomial(const LogGP& model, const Case& of);
Seconds reduce_binomial(const PLogP& model, const Case& of);
Seconds reduce_binary(const Hockney& model, const Case& of);
Seconds reduce_binary(const LogGP& model, const Case& of);
Seconds reduce_binary(const PLogP& model, const Case& of);

// Table 4.
Seconds alltoall_linear(const Hockney& model, const Case& of);
Seconds alltoall_linear(const LogGP& model, const Case& of);
Seconds alltoall_linear(const PLogP& model, const Case& of);
Seconds alltoall_pairwise(const Hockney& model, const Case& of);
Seconds alltoall_pairwise(const LogGP& model, const Case& of);
Seconds alltoall_pairwise(const PLogP& model, const Case& of);

}  // namespace espalier::cost_models
