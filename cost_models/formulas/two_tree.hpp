// Broadcast along two complete binary trees, each of which carries half of the chunks. Source: TTC
// = "Efficient Two Trees to Optimize Collectives: Broadcast, Reduce, and Allreduce" (draft for SC
// '19), section "Calculating Number of Chunks", equation 1.
#pragma once

#include <cstdint>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

// T = L + 3 o + m G + ceil(log2 P) (L + 3 o + m G / (2 N)) + N max(g, o) for N chunks (at least 1)
// of equal size, which may be a fraction of a byte. The last term replaces the printed
// O(N + m / 2), which has no constants: docs/decisions/0010. Errors as predict.
Seconds broadcast_two_tree_chunks(const LogGP& model, const Case& of, std::uint64_t chunks);

// The N from 1 to m (1 for an empty message) that minimises that formula; `of.segment` is ignored.
// It is close to sqrt(ceil(log2 P) m G / (2 max(g, o))). Errors as predict.
std::uint64_t optimal_chunks(const LogGP& model, const Case& of);

// The message size over optimal_chunks, rounded up to whole bytes.
Bytes optimal_chunk_size(const LogGP& model, const Case& of);

}  // namespace espalier::cost_models
