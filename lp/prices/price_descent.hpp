// Prices that prove a tight bound where every resource is nearly full at the optimum: mirror
// descent on the logarithms of the prices (Nemirovski, Yudin, Problem Complexity and Method
// Efficiency in Optimization, 1983; with averaged gradients, Polyak, USSR Comput. Math. Math. Phys.
// 4, 1964, doi:10.1016/0041-5553(64)90137-5). A price grows while the cheapest trees load its
// resource more than it can carry at the best rate, and shrinks otherwise. Where column generation
// takes minutes, some hundred trees are enough (docs/methods.md, "Dense networks").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::lp {

class PriceDescent {
 public:
  static constexpr std::size_t kRounds = 1000;

  // first: logarithms of the first prices (lp/prices/multiplicative_weights.hpp). arcs: per
  // resource, how many arcs occupy it. Resources of one arc have price 0 throughout: they are many,
  // and limit little.
  PriceDescent(std::span<const double> first, std::span<const std::uint32_t> arcs);

  // Per resource, sum 1. Both valid until the next step.
  [[nodiscard]] std::span<const double> prices() const { return prices_; }
  // A slow average of the prices so far, which often proves more than any of them.
  [[nodiscard]] std::span<const double> average() const { return average_; }

  // load: of the cheapest tree at prices(), seconds per byte, one per resource. bound: the best so
  // far, bytes per second.
  void step(std::span<const double> load, double bound);

  // Steps until the bound is hardly lowered any more. price(prices): prices the cheapest tree, and
  // returns its load. bound(): the best so far. goes_on(): asked before each round.
  template <class Price, class Bound, class GoesOn>
  void run(Price&& price, Bound&& bound, GoesOn&& goes_on) {
    constexpr std::size_t kWindow = 100;  // rounds
    constexpr double kLeastGain = 3e-5;   // of the bound, in a window
    constexpr std::size_t kRoundsPerAverage = 20;
    double before = bound();
    for (std::size_t round = 1; round <= kRounds && goes_on(); ++round) {
      const std::vector<double> load = price(prices());
      step(load, bound());
      if (round % kRoundsPerAverage == 0) price(average());
      if (round % kWindow != 0) continue;
      if (bound() > before * (1 - kLeastGain)) return;
      before = bound();
    }
  }

 private:
  void update_prices();

  std::vector<std::uint32_t> resources_;  // those of several arcs
  std::vector<double> log_price_;         // per element of resources_, as momentum_
  std::vector<double> momentum_;
  std::vector<double> prices_;
  std::vector<double> average_;
  std::size_t round_ = 0;
};

}  // namespace espalier::lp
