// Which host would be the best source, or root.
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
  BytesPerSecond optimum{};  // reached; 0 where some host cannot be reached, or cannot reach it
  BytesPerSecond bound{};    // proven; 0 likewise
  Termination termination = Termination::kDone;
  std::string error{};  // why there is no optimum: such a host; else empty
};

// Each source's optimum for the operation within options.gap, the best first, those that agree to
// five digits in the order given; those without one last. options.time_limit is for all together:
// what is left of it is shared out evenly among the sources that are left, and each source has some
// tree and some bound whatever the limit. on_step: called before each source with how many are
// done; may be empty. Throws InputError when a source is a relay.
std::vector<RankedSource> rank_sources(
    Operation operation, const platforms::Platform& platform,
    std::span<const platforms::NodeId> sources, platforms::Model model,
    const platforms::OccupationOptions& occupation, const AlgorithmOptions& options,
    const std::function<void(Seconds elapsed, std::size_t done)>& on_step = {});

}  // namespace espalier::planner
