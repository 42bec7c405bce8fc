#include "cost_models/fit/measured_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

void check_time(const std::string& place, Seconds time) {
  if (std::isfinite(time.value) && time.value >= 0) return;
  throw InputError({}, place,
                   fmt::format("a time of {} s: must be finite and at least 0", time.value));
}

void check(const MeasuredMessages& measured) {
  if (measured.sizes.size() < 2) throw InputError("at least two message sizes are needed");
  check_time("/gap", measured.gap);
  for (std::size_t i = 0; i < measured.sizes.size(); ++i) {
    const MeasuredMessage& one = measured.sizes[i];
    const std::string place = fmt::format("/{}", i);
    for (const Seconds time : {one.round_trip, one.send_overhead, one.receive_overhead}) {
      check_time(place, time);
    }
    if (one.message.value == 0 || (i > 0 && one.message <= measured.sizes[i - 1].message)) {
      throw InputError({}, place, "message sizes must ascend and be at least 1");
    }
  }
}

// T(m) of the size at `index`, but at least that of the shortest message.
double one_way_s(const MeasuredMessages& measured, std::size_t index) {
  const double shortest_s = measured.sizes[0].round_trip.value / 2;
  return std::max(measured.sizes[index].round_trip.value - shortest_s, shortest_s);
}

}  // namespace

PLogP plogp_from(const MeasuredMessages& measured) {
  check(measured);
  const double shortest_gap_s = std::min(measured.gap.value, one_way_s(measured, 0));
  const double latency_s = one_way_s(measured, 0) - shortest_gap_s;
  std::vector<PiecewiseLinear::Point> gaps;
  std::vector<PiecewiseLinear::Point> sends;
  std::vector<PiecewiseLinear::Point> receives;
  for (std::size_t i = 0; i < measured.sizes.size(); ++i) {
    const MeasuredMessage& one = measured.sizes[i];
    const double gap_s = std::max(one_way_s(measured, i) - latency_s, shortest_gap_s);
    gaps.push_back({one.message, gap_s});
    sends.push_back({one.message, std::min(one.send_overhead.value, gap_s)});
    receives.push_back({one.message, std::min(one.receive_overhead.value, gap_s)});
  }
  const auto table = [](std::vector<PiecewiseLinear::Point> points) {
    return PiecewiseLinear(std::move(points), PiecewiseLinear::Beyond::kLastSlope);
  };
  return {{latency_s}, table(std::move(sends)), table(std::move(receives)), table(std::move(gaps))};
}

LogGP loggp_from(const MeasuredMessages& measured) {
  PLogP model = plogp_from(measured);
  const double message_s = one_way_s(measured, 0);
  const double send_s = model.send_overhead_s.at(1);
  const double receive_s = model.receive_overhead_s.at(1);
  if (send_s + receive_s > message_s) {
    model.send_overhead_s = std::min(send_s, message_s / 2);
    model.receive_overhead_s = std::min(receive_s, message_s / 2);
  }
  // So that rounding does not make L' negative.
  model.latency.value =
      std::max(model.latency.value,
               model.send_overhead_s.at(1) + model.receive_overhead_s.at(1) - model.gap_s.at(1));
  return loggp_from(model);
}

Hockney hockney_from(const MeasuredMessages& measured) {
  check(measured);
  const auto bytes_of = [&](std::size_t i) {
    return static_cast<double>(measured.sizes[i].message.value);
  };
  const double first_s = one_way_s(measured, 0);
  const double rise = (one_way_s(measured, 1) - first_s) / (bytes_of(1) - bytes_of(0));
  const double alpha_s = std::max(first_s - bytes_of(0) * rise, 0.0);
  std::vector<PiecewiseLinear::Point> betas;
  for (std::size_t i = 0; i < measured.sizes.size(); ++i) {
    betas.push_back(
        {measured.sizes[i].message, std::max(one_way_s(measured, i) - alpha_s, 0.0) / bytes_of(i)});
  }
  return {alpha_s, PiecewiseLinear(std::move(betas))};
}

}  // namespace espalier::cost_models
