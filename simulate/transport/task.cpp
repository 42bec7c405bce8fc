#include "simulate/transport/task.hpp"

#include <algorithm>
#include <cmath>

#include "support/errors.hpp"

namespace espalier::simulate {

double tick_for(const Task& task) {
  double longest = 0;
  for (std::size_t i = 0; i < task.flows.all().size(); ++i) {
    const Flow& flow = task.flows.all()[i];
    double seconds = flow.latency_s;
    for (const Holding& held : task.full.of(i)) seconds += held.seconds;
    if (flow.up) seconds += task.combining.full_s;
    longest += static_cast<double>(task.segments[flow.tree]) * seconds;
  }
  if (!std::isfinite(longest))
    throw InputError("the time of the message exceeds the range of a double");
  constexpr int kBits = 61;
  return std::ldexp(1.0, std::max(std::ilogb(std::max(longest, 1e-300)) + 1 - kBits, -1070));
}

}  // namespace espalier::simulate
