// Ranks hosts as the source of a broadcast or the root of a reduction.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

struct RankedSource {
  platforms::NodeId source{};
  BytesPerSecond
      optimum{};  // reached; 0 where some host cannot be reached from it, or cannot reach it
  BytesPerSecond bound{};  // proven; 0 likewise
  Termination termination = Termination::kDone;
  std::string error{};  // why there is no optimum: names such a host; else empty
};

// Each source's optimum for the operation within options.gap, best first; those that agree to five
// digits in the order given; those without an optimum last. options.time_limit covers all sources:
// the remaining time is divided equally among the remaining sources, and each source gets some tree
// and some bound whatever the limit. on_step: called before each source with the number done; may
// be empty. Throws InputError when a source is a relay.
std::vector<RankedSource> rank_sources(
    Operation operation, const platforms::Platform& platform,
    std::span<const platforms::NodeId> sources, platforms::Model model,
    const platforms::OccupationOptions& occupation, const AlgorithmOptions& options,
    const std::function<void(Seconds elapsed, std::size_t done)>& on_step = {});

}  // namespace espalier::planner
