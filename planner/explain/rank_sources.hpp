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
  BytesPerSecond optimum{};  // reached; 0 where there is none: see error
  BytesPerSecond bound{};    // proven; infinite: none; 0 where there is no optimum
  Termination termination = Termination::kDone;
  // Why there is no optimum: names a host that cannot be reached from it, or cannot reach it; or
  // the deadline passed before its turn (termination kTimeLimit). Else empty.
  std::string error{};
};

// Each source's optimum for the operation within options.gap, best first; those that agree to five
// digits in the order given; those without an optimum last. options.deadline is divided equally
// among the remaining sources; the first gets some tree whatever the deadline. on_step: called
// before each source with the number done; may be empty. Throws InputError when a source is a
// relay.
std::vector<RankedSource> rank_sources(
    Operation operation, const platforms::Platform& platform,
    std::span<const platforms::NodeId> sources, platforms::Model model,
    const platforms::OccupationOptions& occupation, const AlgorithmOptions& options,
    const std::function<void(Seconds elapsed, std::size_t done)>& on_step = {});

}  // namespace espalier::planner
