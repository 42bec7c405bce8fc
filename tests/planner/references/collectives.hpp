// Collectives from a platform's first host, and what an algorithm makes of them.
#pragma once

#include <string_view>

#include "planner/problem/collective.hpp"

namespace espalier::testing {

inline planner::Collective over(const platforms::Platform& platform, planner::Operation operation,
                                platforms::Model model = platforms::Model::kOnePort) {
  return {operation, platform, platform.hosts().front(), model};
}

// Bytes per second.
inline double rate_of(const planner::Collective& collective, std::string_view algorithm,
                      const planner::AlgorithmOptions& options = {}) {
  return planner::throughput_of(
             planner::run(planner::find_algorithm(algorithm, collective.operation()), collective,
                          options))
      .value;
}

}  // namespace espalier::testing
