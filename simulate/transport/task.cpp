#include "simulate/transport/task.hpp"

#include <algorithm>
#include <cmath>

#include "support/errors.hpp"

namespace espalier::simulate {

std::uint64_t most_handled(const Task& task) {
  std::vector<std::uint64_t> handled(task.flows.hosts());
  for (const Flow& flow : task.flows.all()) {
    handled[flow.parent] += task.segments[flow.tree];
    handled[flow.child] += task.segments[flow.tree];
  }
  return std::ranges::max(handled);
}

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
