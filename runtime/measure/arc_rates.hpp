// The rate of each arc on its own, and how reliable it is.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

class ArcRates {
 public:
  // Takes an arc's rate from its measurement alone, otherwise from the round in which it was
  // fastest. Flows of a round that share an end only load the network, and have no rate.
  explicit ArcRates(const Measurements& measurements);

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  // 0 if the arc has not been measured and none was inferred.
  [[nodiscard]] double rate_bps(const Flow& arc) const;
  [[nodiscard]] bool was_measured(const Flow& arc) const { return best(arc) > 0; }
  // False if other arcs stand for some.
  [[nodiscard]] bool were_all_measured() const { return round_trip_s_.empty(); }
  [[nodiscard]] std::optional<double> alone_bps(const Flow& arc) const;
  // In the round in which it was slowest.
  [[nodiscard]] std::optional<double> in_round_bps(const Flow& arc) const;
  // The rate of the rank's fastest arc.
  [[nodiscard]] double sends_bps(std::size_t rank) const { return out_[rank]; }
  [[nodiscard]] double receives_bps(std::size_t rank) const { return in_[rank]; }
  // What it carried in total in fans; 0 without.
  [[nodiscard]] double fans_out_bps(std::size_t rank) const { return fan_out_[rank]; }
  [[nodiscard]] double fans_in_bps(std::size_t rank) const { return fan_in_[rank]; }
  // Typical relative deviation of a repeat from its median; at least 0.005.
  [[nodiscard]] double noise() const { return noise_; }
  // A relative difference above this is a different rate, not noise.
  [[nodiscard]] double tolerance() const;
  // Whether the arc is as fast as its ends are on any other arc. If so, nothing between them
  // limited it.
  [[nodiscard]] bool reaches_rate_of_ends(const Flow& arc, double rate_Bps) const;
  // Whether it was slower beside other flows than alone, or than in another round.
  [[nodiscard]] bool was_disturbed(const Flow& arc) const;
  // Whether its round trip is several times that of another arc of one of its ends. Counts only
  // where arcs have not been measured, for which others of their clusters stand.
  [[nodiscard]] bool is_far(const Flow& arc) const;
  // Measured arcs that have not been measured alone and are slower than their ends, so that other
  // flows may have disturbed them; those between the fastest ends first, and of these the slowest.
  [[nodiscard]] std::vector<Flow> doubtful() const;

  // Gives doubtful arcs and arcs without a measurement a rate of their class: that of their ends,
  // or the limit that the class's arcs had alone. Doubtful arcs keep theirs if those disagree, or
  // if none tells. class_of: a number for each rank; arcs whose end ranks have the same pair of
  // numbers form a class.
  void adopt_class_rates(std::span<const std::size_t> class_of);

 private:
  struct ArcClassRates;
  [[nodiscard]] std::size_t index(const Flow& arc) const { return arc.from * ranks_ + arc.to; }
  [[nodiscard]] double best(const Flow& arc) const;
  void take_rates(const Experiment& experiment);
  void take_round_trips(const Measurements& measurements);
  [[nodiscard]] double rate_of_ends(const Flow& arc) const;
  [[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, ArcClassRates> class_rates(
      std::span<const std::size_t> class_of) const;
  [[nodiscard]] std::vector<Flow> arcs() const;  // all ordered pairs of ranks, ascending

  std::size_t ranks_;
  std::vector<double> alone_;         // [from * ranks + to], 0: not measured
  std::vector<double> fastest_;       // likewise, in rounds
  std::vector<double> slowest_;       // likewise
  std::vector<double> inferred_;      // likewise, 0: not inferred
  std::vector<bool> was_tried_;       // likewise; it has no rate if no message arrived
  std::vector<double> round_trip_s_;  // likewise; empty if all arcs were measured
  std::vector<double> nearest_s_;     // shortest round trip of each rank
  std::vector<double> out_;           // rate of the fastest arc out of each rank
  std::vector<double> in_;            // and into it
  std::vector<double> fan_out_;       // the most that each rank sent in a fan
  std::vector<double> fan_in_;        // and received
  double noise_;
};

// `values`, with values that differ by less than the relative `tolerance` replaced by their median.
// Groups start at the smallest value and span at most `tolerance`. Zeros are kept.
std::vector<double> levelled(std::span<const double> values, double tolerance);

}  // namespace espalier::runtime::probe
