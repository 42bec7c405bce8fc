#include "cost_models/fit/fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

void check_timings(std::span<const Timing> timings) {
  for (std::size_t i = 0; i < timings.size(); ++i) {
    if (!std::isfinite(timings[i].time.value) || timings[i].time.value <= 0) {
      throw InputError(
          {}, fmt::format("/{}", i),
          fmt::format("a time of {} s: must be finite and above 0", timings[i].time.value));
    }
  }
  const bool two_sizes = std::any_of(timings.begin(), timings.end(), [&](const Timing& timing) {
    return timing.message != timings.front().message;
  });
  if (!two_sizes) throw InputError("at least two message sizes are needed");
}

}  // namespace

Hockney fit_hockney(std::span<const Timing> timings) {
  check_timings(timings);
  const auto count = static_cast<Eigen::Index>(timings.size());
  double largest = 0;
  for (const Timing& timing : timings) {
    largest = std::max(largest, static_cast<double>(timing.message.value));
  }
  // Rows are divided by their time and sizes by the largest message, so that the two columns have
  // the same order of magnitude.
  Eigen::MatrixX2d rows(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Timing& timing = timings[static_cast<std::size_t>(i)];
    rows(i, 0) = 1 / timing.time.value;
    rows(i, 1) = static_cast<double>(timing.message.value) / largest / timing.time.value;
  }
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(count);
  Eigen::Vector2d fit = rows.colPivHouseholderQr().solve(ones);
  // With two unknowns: if one would be negative, it is 0 in the constrained optimum.
  for (const Eigen::Index negative : {0, 1}) {
    if (fit(negative) >= 0) continue;
    const Eigen::Index other = 1 - negative;
    fit(negative) = 0;
    fit(other) = rows.col(other).dot(ones) / rows.col(other).squaredNorm();
  }
  return {fit(0), fit(1) / largest};
}

}  // namespace espalier::cost_models
