// The rate of each arc on its own, and how reliable it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

class ArcRates {
 public:
  // Takes an arc's rate from its measurement alone, otherwise from its round.
  explicit ArcRates(const Measurements& measurements);

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  // 0 if the arc has not been measured.
  [[nodiscard]] double rate_bps(const Flow& arc) const { return best(arc); }
  [[nodiscard]] std::optional<double> alone_bps(const Flow& arc) const;
  [[nodiscard]] std::optional<double> in_round_bps(const Flow& arc) const;
  // Typical relative deviation of a repeat from its median; at least 0.005.
  [[nodiscard]] double noise() const { return noise_; }
  // A relative difference above this is a different rate, not noise.
  [[nodiscard]] double tolerance() const;
  // Whether the arc is as fast as its ends are on any other arc. If so, nothing between them
  // limited it.
  [[nodiscard]] bool reaches_rate_of_ends(const Flow& arc, double rate_Bps) const;
  // Whether it was slower beside other flows than alone.
  [[nodiscard]] bool was_disturbed(const Flow& arc) const;
  // Arcs that have not been measured alone and are slower than their ends, so that other flows may
  // have disturbed them; the slowest, relative to their ends, first.
  [[nodiscard]] std::vector<Flow> doubtful() const;

  // Gives doubtful arcs the rate, relative to their ends, of the arcs of their class that were
  // measured alone, if those agree. class_of: a number for each rank; arcs whose end ranks have the
  // same pair of numbers form a class.
  void adopt_class_rates(std::span<const std::size_t> class_of);

 private:
  [[nodiscard]] std::size_t index(const Flow& arc) const { return arc.from * ranks_ + arc.to; }
  [[nodiscard]] double best(const Flow& arc) const;
  [[nodiscard]] double rate_of_ends(const Flow& arc) const;

  std::size_t ranks_;
  std::vector<double> alone_;     // [from * ranks + to], 0: not measured
  std::vector<double> in_round_;  // likewise
  std::vector<double> out_;       // rate of the fastest arc out of each rank
  std::vector<double> in_;        // and into it
  double noise_;
};

// `values`, with values that differ by less than the relative `tolerance` replaced by their median.
// Groups start at the smallest value and span at most `tolerance`. Zeros are kept.
std::vector<double> levelled(std::span<const double> values, double tolerance);

}  // namespace espalier::runtime::probe
