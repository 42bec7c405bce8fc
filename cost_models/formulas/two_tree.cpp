#include "cost_models/formulas/two_tree.hpp"

#include <algorithm>
#include <cmath>

#include "cost_models/formulas/terms.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

// The root's fixed cost per chunk.
double chunk_s(const LogGP& model) {
  return std::max(model.gap.value, model.overhead.value);
}

}  // namespace

Seconds broadcast_two_tree_chunks(const LogGP& model, const Case& of, std::uint64_t chunks) {
  if (chunks == 0) throw InputError({}, "chunks", "must be at least 1");
  check(model);
  Counts n = counts_of(of);
  if (of.ranks == 1) return {};
  n.segments = static_cast<double>(chunks);
  n.segment_bytes = n.message_bytes / n.segments;
  return finite(two_tree_s(terms(model, n), n));
}

std::uint64_t optimal_chunks(const LogGP& model, const Case& of) {
  check(model);
  const Counts n = counts_of(of);
  const std::uint64_t most = std::max<std::uint64_t>(of.message.value, 1);
  if (chunk_s(model) == 0) return model.gap_per_byte.value > 0 && of.ranks > 1 ? most : 1;
  // The formula is convex in N, so the best integer is next to the best real number.
  const double best =
      std::sqrt(n.log_ceil * n.message_bytes * model.gap_per_byte.value / (2 * chunk_s(model)));
  if (!(best < static_cast<double>(most))) return most;
  const auto below = std::max<std::uint64_t>(static_cast<std::uint64_t>(best), 1);
  const std::uint64_t above = std::min(below + 1, most);
  return broadcast_two_tree_chunks(model, of, above) < broadcast_two_tree_chunks(model, of, below)
             ? above
             : below;
}

Bytes optimal_chunk_size(const LogGP& model, const Case& of) {
  const std::uint64_t chunks = optimal_chunks(model, of);
  return {of.message.value / chunks + (of.message.value % chunks != 0 ? 1 : 0)};
}

}  // namespace espalier::cost_models
