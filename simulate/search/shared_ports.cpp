#include "simulate/search/shared_ports.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/search/candidates.hpp"

namespace espalier::simulate {

namespace {

// A send along trees takes up to so long among 64 hosts, and others in proportion to the hosts, but
// not less than a quarter. Where parts are routed, or hosts have many neighbours, it changes the
// rates of more others.
constexpr double kSecondsASend = 20e-6;
constexpr double kManyHosts = 64;
constexpr double kLeast = 0.25;
constexpr double kMostSendsShared = 600'000;  // of all runs together
constexpr double kLongerWhereRouted = 5;

double sends_within(std::optional<Seconds> left, std::size_t hosts, bool routes) {
  const double sends =
      left ? std::min(kMostSendsShared, left->value / kSecondsASend) : kMostSendsShared;
  const double longer = std::max(kLeast, static_cast<double>(hosts) / kManyHosts);
  return sends / longer / (routes ? kLongerWhereRouted : 1);
}

}  // namespace

Options options_with(const Options& run, Bytes segment, Sharing sharing) {
  Options options = run;
  options.segment = segment;
  options.sharing = sharing;
  options.until_received = run.until_received || sharing != Sharing::kTurns;
  return options;
}

Seconds time_with_shared_ports(const planner::Plan& plan, const platforms::Platform& network,
                               Bytes message, const Options& run, Bytes segment) {
  double sum_s = 0;
  for (const Sharing sharing : {Sharing::kEdges, Sharing::kSends}) {
    const Simulator simulator(plan, network, options_with(run, segment, sharing));
    sum_s += simulator.run(message).makespan.value;
  }
  return {sum_s / 2};
}

SharedPorts::SharedPorts(const platforms::Platform& network, Bytes message, const Options& run,
                         bool routes, std::optional<Seconds> left)
    : network_(network),
      message_(message),
      run_(run),
      sends_left_(sends_within(left, network.hosts().size(), routes)) {}

std::vector<Timed> SharedPorts::judge(const planner::Plan& plan, std::span<const Timed> trials,
                                      Seconds longest) {
  const double runs = 2.0 * static_cast<double>(crowd_of(plan)) / planner::kFewNeighbours;
  std::vector<Timed> judged;
  std::optional<Timed> shorter;  // too short
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (trial->makespan > longest) continue;
    if (runs * trial->sends > sends_left_) {
      shorter = *trial;
      continue;
    }
    sends_left_ -= runs * trial->sends;
    Timed now = *trial;
    const Seconds shared = time_with_shared_ports(plan, network_, message_, run_, trial->segment);
    simulations_ += 2;
    now.judged = std::max(trial->makespan, shared);
    if (judged.empty() && shorter) {
      const double ratio =
          static_cast<double>(shorter->segment.value) / static_cast<double>(trial->segment.value);
      const double cost_s = now.judged.value - now.makespan.value;
      shorter->judged = {shorter->makespan.value + std::sqrt(ratio) * cost_s};
      judged.push_back(*shorter);
    }
    const bool is_worse = !judged.empty() && now.judged >= judged.back().judged;
    judged.push_back(now);
    if (is_worse) break;
  }
  return judged;
}

}  // namespace espalier::simulate
