#include "cost_models/piecewise_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

void check(const std::vector<PiecewiseLinear::Point>& points) {
  if (points.empty()) throw InputError("a table needs at least one point");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string place = fmt::format("/{}", i);
    if (!std::isfinite(points[i].value) || points[i].value < 0) {
      throw InputError({}, place,
                       fmt::format("must be finite and at least 0, not {}", points[i].value));
    }
    if (i > 0 && points[i].size <= points[i - 1].size) {
      throw InputError({}, place, "sizes must ascend");
    }
  }
}

double between(const PiecewiseLinear::Point& from, const PiecewiseLinear::Point& to, double bytes) {
  const auto start = static_cast<double>(from.size.value);
  const double share = (bytes - start) / (static_cast<double>(to.size.value) - start);
  return from.value + share * (to.value - from.value);
}

}  // namespace

PiecewiseLinear::PiecewiseLinear(double value) : points_{{Bytes{0}, value}} {
  check(points_);
}

PiecewiseLinear::PiecewiseLinear(std::vector<Point> points, Beyond beyond)
    : points_(std::move(points)), beyond_(beyond) {
  check(points_);
  if (points_.size() == 1 || points_.back().value < points_[points_.size() - 2].value) {
    beyond_ = Beyond::kConstant;
  }
}

double PiecewiseLinear::at(double bytes) const {
  const auto above = std::find_if(points_.begin(), points_.end(), [bytes](const Point& point) {
    return static_cast<double>(point.size.value) >= bytes;
  });
  if (above == points_.begin()) return above->value;
  if (above != points_.end()) return between(*(above - 1), *above, bytes);
  if (beyond_ == Beyond::kConstant) return points_.back().value;
  return between(points_[points_.size() - 2], points_.back(), bytes);
}

}  // namespace espalier::cost_models
