// What each arc can carry by itself, and how far that can be trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

class ArcRates {
 public:
  // Takes an arc's rate from when it was alone, else from its round.
  explicit ArcRates(const Measurements& measurements);

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  // 0 where the arc has not been measured.
  [[nodiscard]] double rate_bps(const Flow& arc) const { return best(arc); }
  [[nodiscard]] std::optional<double> alone_bps(const Flow& arc) const;
  [[nodiscard]] std::optional<double> in_round_bps(const Flow& arc) const;
  // How far a repeat is typically off its median, as a share of it: 0.005 and more.
  [[nodiscard]] double noise() const { return noise_; }
  // What is further off than this share of it is another rate, and no noise.
  [[nodiscard]] double tolerance() const;
  // As fast as its ends are on any other arc? Then nothing between them was in the way.
  [[nodiscard]] bool reaches_rate_of_ends(const Flow& arc, double rate_Bps) const;
  // Slower among others than alone.
  [[nodiscard]] bool was_disturbed(const Flow& arc) const;
  // Arcs that have not been measured alone and are slower than their ends, so that one cannot tell
  // whether others were in their way; the slowest by that comparison first.
  [[nodiscard]] std::vector<Flow> doubtful() const;

  // Has doubtful arcs take after those of their class that were measured alone, where these are
  // alike: as fast, beside their ends. class_of: a number for each rank; arcs whose ranks' are the
  // same are a class.
  void adopt_class_rates(std::span<const std::size_t> class_of);

 private:
  [[nodiscard]] std::size_t index(const Flow& arc) const { return arc.from * ranks_ + arc.to; }
  [[nodiscard]] double best(const Flow& arc) const;
  [[nodiscard]] double rate_of_ends(const Flow& arc) const;

  std::size_t ranks_;
  std::vector<double> alone_;     // [from * ranks + to], 0: not measured
  std::vector<double> in_round_;  // likewise
  std::vector<double> out_;       // fastest arc out of each rank
  std::vector<double> in_;        // and into it
  double noise_;
};

// `values` with those that differ by less than `tolerance` (a share) made one: their median. Groups
// start at the smallest value and span no more than `tolerance`. Figures of 0 stay.
std::vector<double> levelled(std::span<const double> values, double tolerance);

}  // namespace espalier::runtime::probe
