#include "planner/explain/rank_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/problem/collective.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Equal for rates that agree to five digits: their order would only reflect the gaps of their
// proofs.
double digits_of(BytesPerSecond rate) {
  return std::round(std::log(rate.value) * 1e5);
}

class Ranker {
 public:
  Ranker(Operation operation, const Platform& platform, platforms::Model model,
         const platforms::OccupationOptions& occupation, const AlgorithmOptions& options)
      : operation_(operation),
        platform_(platform),
        model_(model),
        occupation_(occupation),
        options_(options) {}

  [[nodiscard]] Seconds elapsed() const { return options_.deadline.elapsed(); }

  RankedSource rank(NodeId source, std::size_t sources_left) {
    RankedSource ranked{.source = source};
    if (any_ranked_ && options_.deadline.passed()) {
      ranked.termination = Termination::kTimeLimit;
      ranked.error = fmt::format("{}: {} before the turn of '{}'", platform_.name(),
                                 options_.deadline.cause(), platform_.node(source).name);
      return ranked;
    }
    any_ranked_ = true;
    try {
      const Collective collective(operation_, platform_, source, model_, occupation_);
      AlgorithmOptions limits = options_;
      limits.on_progress = nullptr;
      limits.deadline = options_.deadline.share(1 / static_cast<double>(sources_left));
      const Outcome proof = prove_optimum(collective, limits);
      ranked.optimum = throughput_of(proof);
      ranked.bound = proof.bound.value_or(BytesPerSecond{std::numeric_limits<double>::infinity()});
      ranked.termination = proof.ends.worst();
    } catch (const InfeasibleError& fault) {
      ranked.error = fault.what();
    }
    return ranked;
  }

 private:
  Operation operation_;
  const Platform& platform_;
  platforms::Model model_;
  const platforms::OccupationOptions& occupation_;
  const AlgorithmOptions& options_;
  bool any_ranked_ = false;
};

}  // namespace

std::vector<RankedSource> rank_sources(
    Operation operation, const Platform& platform, std::span<const NodeId> sources,
    platforms::Model model, const platforms::OccupationOptions& occupation,
    const AlgorithmOptions& options,
    const std::function<void(Seconds elapsed, std::size_t done)>& on_step) {
  Ranker ranker(operation, platform, model, occupation, options);
  std::vector<RankedSource> ranking;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (on_step) on_step(ranker.elapsed(), i);
    ranking.push_back(ranker.rank(sources[i], sources.size() - i));
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const RankedSource& a, const RankedSource& b) {
                     return digits_of(a.optimum) > digits_of(b.optimum);
                   });
  return ranking;
}

}  // namespace espalier::planner
