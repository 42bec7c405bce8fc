// Times of collective operations by the formulas of CM, tables 1 to 4 (source: parameters.hpp), one
// function per row. docs/models.md lists all of them. docs/decisions/0010 says where the printed
// tables are damaged or contradictory, and what is used here instead.
//
// Every function returns the time in seconds from the call until the last rank is done; 0 for one
// rank. It throws InputError for 0 ranks or more than kMaxRanks, a computation time or parameter
// that is negative or not finite, and a result that overflows.
#pragma once

#include <cstdint>

#include "cost_models/parameters.hpp"
#include "support/quantities.hpp"

namespace espalier::cost_models {

inline constexpr std::uint64_t kMaxRanks = 2'147'483'647;  // MPI counts them in an int

// One call of an operation.
struct Case {
  std::uint64_t ranks = 1;  // P
  // m: the root's message (broadcast, reduce); what each rank sends to each other (alltoall);
  // ignored (barrier).
  Bytes message;
  // ms, the segment size; 0 or larger than the message: not cut. The last segment counts as a full
  // one. Barriers and the pairwise alltoall ignore it.
  Bytes segment;
  SecondsPerByte computation;  // gamma: time to combine a byte in a reduce
};

// The actual segment size: at most the message, and at least one byte unless the message is empty.
Bytes segment_of(const Case& of);
// ns, the number of segments; 1 for an empty message.
std::uint64_t segments_of(const Case& of);

// Table 1. Flat tree: the best case, which CM uses for predictions; the worst case has no Hockney
// row.
Seconds barrier_flat_tree(const Hockney& model, const Case& of);
Seconds barrier_flat_tree(const LogGP& model, const Case& of);
Seconds barrier_flat_tree(const PLogP& model, const Case& of);
Seconds barrier_flat_tree_worst(const LogGP& model, const Case& of);
Seconds barrier_flat_tree_worst(const PLogP& model, const Case& of);
Seconds barrier_double_ring(const Hockney& model, const Case& of);
Seconds barrier_double_ring(const LogGP& model, const Case& of);
Seconds barrier_double_ring(const PLogP& model, const Case& of);
// Two more steps if the number of ranks is not a power of two: 4 ranks are faster than 3.
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
// The halves are sent down a binary tree, then exchanged; each half is cut into segments.
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
