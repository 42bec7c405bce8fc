// Collectives along two complete binary trees, each of which carries half of the chunks. Source:
// TTC = "Efficient Two Trees to Optimize Collectives: Broadcast, Reduce, and Allreduce" (draft for
// SC '19), section "Calculating Number of Chunks", equation 1; docs/models.md derives the others.
#pragma once

#include <cstdint>
#include <string_view>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

// For N chunks (at least 1) of equal size, which may be a fraction of a byte, with k = ceil(log2
// P):
//   broadcast  B(N) = L + 3 o + m G + k (L + 3 o + m G / (2 N)) + N max(g, o)
//   reduce     R(N) = B(N) + gamma m + k gamma m / N
//   allreduce  R(N) + B(N)
// N max(g, o) replaces the printed O(N + m / 2), which has no constants: docs/decisions/0010.
// `operation` is one of these three names; std::invalid_argument for any other. Errors as predict.
Seconds two_tree_chunks(std::string_view operation, const LogGP& model, const Case& of,
                        std::uint64_t chunks);

// The N from 1 to m (1 for an empty message) that minimises that formula; `of.segment` is ignored.
// It is close to sqrt(k m (G / 2 + gamma) / max(g, o)), with gamma = 0 for a broadcast, and gamma /
// 2 for an allreduce. Errors as two_tree_chunks.
std::uint64_t optimal_chunks(std::string_view operation, const LogGP& model, const Case& of);

// The message size over optimal_chunks, rounded up to whole bytes.
Bytes optimal_chunk_size(std::string_view operation, const LogGP& model, const Case& of);

}  // namespace espalier::cost_models
