// All spanning trees of small platforms, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/core/platform.hpp"
#include "tests/planner/references/plain_model.hpp"

namespace espalier::testing {

using Loads = std::vector<PlainModel::Load>;

// The loads of all trees out of the source or, with `up`, into it: a path into (out of) every host
// but the source, in all combinations without a cycle.
class AllTrees {
 public:
  AllTrees(PlainModel model, const platforms::Platform& platform, platforms::NodeId source,
           bool up = false);
  // The number of combinations, including those with cycles.
  [[nodiscard]] double combinations() const;
  Loads loads();

 private:
  void choose(std::size_t position);

  PlainModel model_;
  std::uint32_t source_;
  // Per node: the paths to or from the nodes above it, with those as `from`.
  std::vector<std::vector<HostPath>> at_;
  std::vector<std::uint32_t> hosts_;  // without the source
  std::vector<const HostPath*> chosen_;
  Loads loads_;
};

// max t such that the rates of the trees of each kind sum to t, and no resource is loaded above 1:
// by a linear program over all trees at once.
double packing_optimum(const std::vector<Loads>& kinds);

}  // namespace espalier::testing
