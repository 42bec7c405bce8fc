// Any bytes at all given as a probe's measurements are refused with InputError, or they are
// measurements that come back from their own file and that a sound platform follows from.
#include "runtime/measure/measurements.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "runtime/measure/analysis.hpp"
#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

namespace {

namespace probe = espalier::runtime::probe;

// Those of more are sound as well, but a fuzzer would spend its time there.
constexpr std::size_t kMostRanks = 12;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_rate(double value) {
  return std::isfinite(value) && value > 0;
}
bool is_time(double value) {
  return std::isfinite(value) && value >= 0;
}

void check(const probe::Estimate& estimate) {
  std::set<probe::Flow> linked;
  for (const probe::Link& link : estimate.links) {
    require(link.ends.from != link.ends.to && linked.insert(link.ends).second);
    require(is_rate(link.bandwidth_Bps) && is_time(link.latency_s) && is_time(link.overhead_s));
  }
  for (const auto* caps : {&estimate.send_Bps, &estimate.receive_Bps}) {
    for (const auto& cap : *caps) require(!cap || is_rate(*cap));
  }
  for (const probe::SharedLink& shared_link : estimate.shared_links) {
    require(is_rate(shared_link.bandwidth_Bps) && !shared_link.arcs.empty());
    for (const probe::Flow& arc : shared_link.arcs) require(linked.contains(arc));
  }
  for (const probe::ModelFit& fit : estimate.fits) require(fit.typical >= 1 && fit.worst >= 1);
  require(estimate.best < estimate.fits.size());
}

}  // namespace

void espalier::testing::check_measurements(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  probe::Measurements measured;
  try {
    measured = probe::parse_measurements(text, "fuzz");
  } catch (const espalier::InputError&) {
    return;
  }
  const std::string written = probe::measurements_json(measured);
  require(probe::measurements_json(probe::parse_measurements(written, "written")) == written);
  if (measured.hosts.size() <= kMostRanks) check(probe::analyse(measured));
}
