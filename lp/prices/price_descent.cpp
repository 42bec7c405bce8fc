#include "lp/prices/price_descent.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::lp {

PriceDescent::PriceDescent(std::span<const double> first, std::span<const std::uint32_t> arcs)
    : prices_(arcs.size(), 0.0) {
  for (std::uint32_t r = 0; r < arcs.size(); ++r) {
    if (arcs[r] < 2) continue;
    resources_.push_back(r);
    log_price_.push_back(first[r]);
  }
  momentum_.resize(resources_.size(), 0.0);
  update_prices();
  average_ = prices_;
}

void PriceDescent::update_prices() {
  if (resources_.empty()) return;
  const double top = std::ranges::max(log_price_);
  double sum = 0;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    prices_[resources_[i]] = std::exp(log_price_[i] - top);
    sum += prices_[resources_[i]];
  }
  for (const std::uint32_t r : resources_) prices_[r] /= sum;
}

void PriceDescent::step(std::span<const double> load, double bound) {
  constexpr double kFresh = 0.1;  // share of the new gradient in the momentum
  constexpr double kSteepest = 3;
  constexpr double kAveraged = 0.02;
  const double progress = static_cast<double>(round_) / kRounds;
  const double length = 0.1 / (1 + 27 * progress);
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const double excess = load[resources_[i]] * bound - 1;
    momentum_[i] = (1 - kFresh) * momentum_[i] + kFresh * excess;
    log_price_[i] += length * std::clamp(momentum_[i], -kSteepest, kSteepest);
  }
  update_prices();
  for (const std::uint32_t r : resources_) {
    average_[r] += kAveraged * (prices_[r] - average_[r]);
  }
  ++round_;
}

}  // namespace espalier::lp
