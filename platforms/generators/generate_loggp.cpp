// Equal hosts by the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman, LogGP: incorporating
// long messages into the LogP model, JPDC 44 (1997), doi:10.1006/jpdc.1997.1346). Under
// one-port-unidirectional a host's port is its processor, busy for o per segment sent or received;
// the relay beside it is its interface, busy for g + (s - 1) G in each direction.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "platforms/generators/generators.hpp"
#include "platforms/generators/link_drawer.hpp"

namespace espalier::platforms {

namespace {

// Between processor and interface hardly anything depends on the size of a segment: times the rate
// of the interface. (A link over 500 times as fast as others is reported as implausible.)
constexpr double kProcessorSpeed = 400;

void require_loggp(const LogGPFamily& family) {
  require_hosts(family.hosts);
  require_duration(family.latency, "the latency");
  require_duration(family.overhead, "the overhead");
  require_duration(family.gap, "the gap");
  require_duration(family.per_byte, "the gap per byte");
  if (family.per_byte.value == 0) throw InputError("the gap per byte must be over 0");
  require_mean({1 / family.per_byte.value}, "the rate of an interface");
  if (!family.spread.slow.empty()) {
    throw InputError("LogGP has no slow hosts; vary the interfaces with --heterogeneity");
  }
  if (family.gap < family.overhead) {
    throw InputError("the gap must be at least the overhead, because a processor sends no faster");
  }
  if (family.latency.value + 2 * family.overhead.value < family.gap.value) {
    throw InputError("the gap must be at most the latency and two overheads");
  }
}

}  // namespace

Platform generate_loggp(const LogGPFamily& family) {
  require_loggp(family);
  PlatformBuilder builder(fmt::format("LogGP {}, seed {}", family.hosts, family.spread.seed));
  LinkDrawer drawer(builder, family.spread, family.hosts);
  std::vector<NodeId> hosts;
  for (std::size_t i = 0; i < family.hosts; ++i) hosts.push_back(drawer.add_host());
  const NodeId wire = drawer.add_relay("wire");
  const BytesPerSecond mean{1 / family.per_byte.value};
  const Seconds gap{std::max(family.gap.value - family.per_byte.value, 0.0)};
  // The rest of L + 2 o + (s - 1) G: a segment arrives when it has left the interface, and this
  // later.
  const Seconds latency{family.latency.value + 2 * family.overhead.value - family.gap.value};
  for (std::size_t i = 0; i < family.hosts; ++i) {
    const NodeId interface = drawer.add_relay(fmt::format("interface{}", i));
    const BytesPerSecond rate = drawer.draw(mean);
    builder.add_both_ways(
        {hosts[i], interface, {rate.value * kProcessorSpeed}, {}, family.overhead});
    builder.add_arc({interface, wire, rate, latency, gap});
    builder.add_arc({wire, interface, rate, {}, gap});
  }
  return std::move(builder).build();
}

}  // namespace espalier::platforms
