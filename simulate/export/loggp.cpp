#include "simulate/export/loggp.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

namespace {

LogGPView view_of(const Flow& flow, const platforms::Platform& platform) {
  const auto slowest = std::ranges::min_element(flow.arcs, {}, [&](std::uint32_t arc) {
    return platform.arc(platforms::ArcId(arc)).bandwidth.value;
  });
  const platforms::Arc& narrow = platform.arc(platforms::ArcId(*slowest));
  const platforms::Arc& first = platform.arc(platforms::ArcId(flow.arcs.front()));
  LogGPView view;
  view.gap_per_byte_s = 1 / narrow.bandwidth.value;
  view.gap = {narrow.overhead.value + view.gap_per_byte_s};
  if (*slowest != flow.arcs.front()) view.overhead = first.overhead;
  view.latency = {flow.latency_s + view.gap.value - 2 * view.overhead.value};
  return view;
}

bool are_alike(const LogGPView& one, const LogGPView& other) {
  const auto near = [](double a, double b) {
    constexpr double kTolerance = 1e-9;
    return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b));
  };
  return near(one.latency.value, other.latency.value) &&
         near(one.overhead.value, other.overhead.value) && near(one.gap.value, other.gap.value) &&
         near(one.gap_per_byte_s, other.gap_per_byte_s);
}

}  // namespace

std::optional<LogGPView> loggp_of(const planner::Plan& plan, const platforms::Platform& platform) {
  const Flows flows(plan, platform, false);
  if (flows.all().empty()) return std::nullopt;
  const LogGPView view = view_of(flows.all().front(), platform);
  if (view.latency.value < 0) return std::nullopt;
  for (const Flow& flow : flows.all()) {
    if (!are_alike(view_of(flow, platform), view)) return std::nullopt;
  }
  return view;
}

}  // namespace espalier::simulate
