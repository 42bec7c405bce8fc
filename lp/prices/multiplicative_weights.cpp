#include "lp/prices/multiplicative_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier::lp {

void MultiplicativeWeights::add(std::span<const double> load, double scale) {
  constexpr double kFarAbove = 100;
  for (std::size_t r = 0; r < exponent_.size(); ++r) {
    exponent_[r] += step_ * std::min(load[r] * scale, kFarAbove);
  }
}

std::span<const double> MultiplicativeWeights::normalised() {
  const double top = exponent_.empty() ? 0 : std::ranges::max(exponent_);
  for (std::size_t r = 0; r < exponent_.size(); ++r) weight_[r] = std::exp(exponent_[r] - top);
  const double sum = std::accumulate(weight_.begin(), weight_.end(), 0.0);
  for (double& weight : weight_) weight /= sum;
  return weight_;
}

std::vector<double> first_weights(const SparseMatrix& occupation,
                                  std::span<const std::uint32_t> arcs) {
  constexpr double kSingleArc = -6;
  std::vector<double> sum(static_cast<std::size_t>(occupation.rows()), 0.0);
  for (Eigen::Index arc = 0; arc < occupation.outerSize(); ++arc) {
    for (SparseMatrix::InnerIterator it(occupation, arc); it; ++it) {
      sum[static_cast<std::size_t>(it.row())] += it.value();
    }
  }
  std::vector<double> weight(sum.size());
  for (std::size_t r = 0; r < sum.size(); ++r) {
    if (arcs[r] == 0) {
      weight[r] = -std::numeric_limits<double>::infinity();  // a row that no arc occupies
      continue;
    }
    weight[r] = std::log(arcs[r] / sum[r]) + (arcs[r] == 1 ? kSingleArc : 0);
  }
  return weight;
}

}  // namespace espalier::lp
