// A figure that depends on the message size, known at some sizes.
#pragma once

#include <vector>

#include "support/quantities.hpp"

namespace espalier::cost_models {

// Linear between its points, constant below the first. Always finite and not negative.
class PiecewiseLinear {
 public:
  struct Point {
    Bytes size;
    double value = 0;  // in the unit of what the table is for
  };
  // How it goes on above the last point.
  enum class Beyond {
    kConstant,   // as it is there
    kLastSlope,  // as it rises between the last two points
  };

  // The same at every size.
  PiecewiseLinear(double value = 0);  // NOLINT(google-explicit-constructor): a constant is one
  // Throws InputError (place: "/INDEX") for no points, a value that is negative or not finite,
  // sizes that do not ascend, and a kLastSlope that falls.
  explicit PiecewiseLinear(std::vector<Point> points, Beyond beyond = Beyond::kConstant);

  // The value at a size in bytes, which need not be whole; not below zero.
  [[nodiscard]] double at(double bytes) const;
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] Bytes largest_size() const { return points_.back().size; }

 private:
  std::vector<Point> points_;  // at least one
  Beyond beyond_ = Beyond::kConstant;
};

}  // namespace espalier::cost_models
