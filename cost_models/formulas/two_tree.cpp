#include "cost_models/formulas/two_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "cost_models/formulas/terms.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

// The formula, and how often a chunk is sent and combined on its way to all ranks.
struct TwoTreeOperation {
  std::string_view name;
  FormulaOf<LogGPTerms> formula;
  double sends;
  double combines;
};
constexpr std::array kOperations{TwoTreeOperation{"broadcast", two_tree_s, 1, 0},
                                 TwoTreeOperation{"reduce", two_tree_reduce_s, 1, 1},
                                 TwoTreeOperation{"allreduce", two_tree_allreduce_s, 2, 1}};

const TwoTreeOperation& operation_named(std::string_view name) {
  const auto* const found = std::ranges::find(kOperations, name, &TwoTreeOperation::name);
  if (found == kOperations.end()) throw std::invalid_argument("no two trees for this operation");
  return *found;
}

}  // namespace

Seconds two_tree_chunks(std::string_view operation, const LogGP& model, const Case& of,
                        std::uint64_t chunks) {
  if (chunks == 0) throw InputError({}, "chunks", "must be at least 1");
  check(model);
  Counts n = counts_of(of);
  if (of.ranks == 1) return {};
  n.segments = static_cast<double>(chunks);
  n.segment_bytes = n.message_bytes / n.segments;
  n.compute_s = n.compute_all_s / n.segments;
  return finite(operation_named(operation).formula(terms(model, n), n));
}

// The formula is a / N + b N and terms without N.
std::uint64_t optimal_chunks(std::string_view operation, const LogGP& model, const Case& of) {
  check(model);
  const Counts n = counts_of(of);
  const TwoTreeOperation& op = operation_named(operation);
  const std::uint64_t most = std::max<std::uint64_t>(of.message.value, 1);
  const double a = n.log_ceil * (op.sends * n.message_bytes * model.gap_per_byte.value / 2 +
                                 op.combines * n.compute_all_s);
  const double b = op.sends * std::max(model.gap.value, model.overhead.value);
  if (b == 0) return a > 0 ? most : 1;
  // It is convex in N, so the best integer is next to the best real number.
  const double best = std::sqrt(a / b);
  if (!(best < static_cast<double>(most))) return most;
  const auto below = std::max<std::uint64_t>(static_cast<std::uint64_t>(best), 1);
  const std::uint64_t above = std::min(below + 1, most);
  return two_tree_chunks(operation, model, of, above) < two_tree_chunks(operation, model, of, below)
             ? above
             : below;
}

Bytes optimal_chunk_size(std::string_view operation, const LogGP& model, const Case& of) {
  const std::uint64_t chunks = optimal_chunks(operation, model, of);
  return {of.message.value / chunks + (of.message.value % chunks != 0 ? 1 : 0)};
}

}  // namespace espalier::cost_models
