// A function of the message size, given by its values at some sizes.
#pragma once

#include <vector>

#include "support/quantities.hpp"

namespace espalier::cost_models {

// Linear between its points, constant below the first. Always finite and at least 0.
class PiecewiseLinear {
 public:
  struct Point {
    Bytes size;
    double value = 0;  // in the unit of the function
  };
  // The continuation above the last point.
  enum class Beyond {
    kConstant,   // the last value
    kLastSlope,  // the slope between the last two points, unless it is negative: the last value
  };

  // A constant.
  PiecewiseLinear(double value = 0);  // NOLINT(google-explicit-constructor): a constant is one
  // Throws InputError (place: "/INDEX") for no points, a value that is negative or not finite, and
  // sizes that do not ascend.
  explicit PiecewiseLinear(std::vector<Point> points, Beyond beyond = Beyond::kConstant);

  // The value at a size in bytes; `bytes` is at least 0 and may be fractional.
  [[nodiscard]] double at(double bytes) const;
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] Bytes largest_size() const { return points_.back().size; }

 private:
  std::vector<Point> points_;  // at least one
  Beyond beyond_ = Beyond::kConstant;
};

}  // namespace espalier::cost_models
