// A step of a probe.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

// Experiments of one purpose that run at the same time, because they do not disturb one another.
struct Step {
  Purpose purpose;
  std::vector<std::vector<Flow>> experiments;  // not empty
};

}  // namespace espalier::runtime::probe
