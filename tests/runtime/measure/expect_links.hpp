// What estimates of a network must have.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "runtime/measure/analysis.hpp"

namespace espalier::testing {

inline void expect_shared_link(const runtime::probe::Estimate& estimate,
                               const std::vector<std::size_t>& from,
                               const std::vector<std::size_t>& to, const auto& bandwidth) {
  std::vector<runtime::probe::Flow> arcs;
  for (const std::size_t sender : from) {
    for (const std::size_t receiver : to) arcs.push_back({sender, receiver});
  }
  std::sort(arcs.begin(), arcs.end());
  const auto found =
      std::ranges::find(estimate.shared_links, arcs, &runtime::probe::SharedLink::arcs);
  ASSERT_NE(found, estimate.shared_links.end()) << "from " << from[0] << " to " << to[0];
  EXPECT_THAT(found->bandwidth_Bps, bandwidth);
}

}  // namespace espalier::testing
