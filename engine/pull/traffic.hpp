// What a rank received from whom and when, during a message that is pulled: enough to tell later
// which rates the network carried at the same time (runtime/pull/learnt_network.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::engine::pull {

// Time is divided into at most kMostBins bins of equal length, which doubles when they do not
// suffice, so memory does not grow: 16 bytes for each bin and rank.
class Traffic {
 public:
  static constexpr std::size_t kMostBins = 128;
  static constexpr double kFirstBin_s = 1e-3;

  struct Cell {
    double bytes = 0;   // that arrived
    double busy_s = 0;  // while at least one segment was on its way, at most the bin
  };

  explicit Traffic(std::size_t ranks) : ranks_(ranks), cells_(kMostBins * ranks) {}

  // A segment from `source` was on its way from begin_s to end_s, in seconds since the beginning of
  // the message. Its bytes count as spread evenly over that time. Nothing for an end below 0.
  void note(std::size_t source, double bytes, double begin_s, double end_s);
  // Doubles the length of the bins until it is at least this.
  void widen_to(double bin_s);
  // Something has arrived as late as this, in seconds since the beginning of the message.
  void note_end(double end_s) { end_s_ = end_s > end_s_ ? end_s : end_s_; }

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] double bin_s() const { return bin_s_; }
  // The last arrival; 0: nothing has arrived.
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] const Cell& at(std::size_t bin, std::size_t source) const {
    return cells_[bin * ranks_ + source];
  }
  // For traffic that was sent from another rank. Precondition: both are in range.
  Cell& at(std::size_t bin, std::size_t source) { return cells_[bin * ranks_ + source]; }

 private:
  void widen();

  std::size_t ranks_;
  double bin_s_ = kFirstBin_s;
  double end_s_ = 0;
  std::vector<Cell> cells_;  // [bin * ranks + source]
};

}  // namespace espalier::engine::pull
