#include "cost_models/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

void check_figure(std::string_view name, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw InputError({}, std::string(name),
                   fmt::format("must be finite and at least 0 s, not {}", value));
}

void check_gap_covers_overheads(const PLogP& model, double bytes) {
  const double gap_s = model.gap_s.at(bytes);
  // Tolerates the rounding of measured tables.
  const double allowed_s = gap_s * (1 + 1e-9);
  if (model.send_overhead_s.at(bytes) > allowed_s ||
      model.receive_overhead_s.at(bytes) > allowed_s) {
    throw InputError({}, "gap", fmt::format("is less than an overhead at {} bytes", bytes));
  }
}

}  // namespace

void check(const Hockney& /*model*/) {}  // the tables' constructor checks them

void check(const LogGP& model) {
  check_figure("latency", model.latency.value);
  check_figure("overhead", model.overhead.value);
  check_figure("gap", model.gap.value);
  check_figure("gap per byte", model.gap_per_byte.value);
}

void check(const PLogP& model) {
  check_figure("latency", model.latency.value);
  check_gap_covers_overheads(model, 1);
  check_gap_covers_overheads(model, static_cast<double>(model.gap_s.largest_size().value));
}

void require_time(std::size_t index, Seconds measured) {
  if (std::isfinite(measured.value) && measured.value > 0) return;
  throw InputError({}, fmt::format("/{}", index),
                   fmt::format("a time of {} s: must be finite and above 0", measured.value));
}

LogGP logp(const LogGP& model) {
  check(model);
  return {model.latency, model.overhead, model.gap, {0}};
}

LogGP loggp_from(const PLogP& model) {
  check(model);
  const auto large = static_cast<double>(model.gap_s.largest_size().value);
  if (large <= 1) throw InputError({}, "gap", "must be a table up to a large size to give G");
  const double overheads_s = model.send_overhead_s.at(1) + model.receive_overhead_s.at(1);
  const LogGP result{{model.latency.value + model.gap_s.at(1) - overheads_s},
                     {overheads_s / 2},
                     {model.gap_s.at(1)},
                     {model.gap_s.at(large) / large}};
  check(result);
  return result;
}

PLogP plogp_from(const LogGP& model) {
  check(model);
  constexpr Bytes kLarge{std::uint64_t{1} << 30U};
  const double rise_s = static_cast<double>(kLarge.value - 1) * model.gap_per_byte.value;
  PLogP result{{model.latency.value + 2 * model.overhead.value - model.gap.value},
               model.overhead.value,
               model.overhead.value,
               PiecewiseLinear({{Bytes{1}, model.gap.value}, {kLarge, model.gap.value + rise_s}},
                               PiecewiseLinear::Beyond::kLastSlope)};
  check(result);
  return result;
}

Hockney hockney_from(const LogGP& model) {
  check(model);
  const double alpha_s = model.latency.value + 2 * model.overhead.value - model.gap_per_byte.value;
  check_figure("latency", alpha_s);
  return {alpha_s, model.gap_per_byte.value};
}

}  // namespace espalier::cost_models
