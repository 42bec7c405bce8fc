#include "engine/pull/traffic.hpp"

#include <algorithm>

namespace espalier::engine::pull {

void Traffic::note(std::size_t source, double bytes, double begin_s, double end_s) {
  if (end_s < 0) return;
  const double from_s = std::clamp(begin_s, 0.0, end_s);
  note_end(end_s);
  while (end_s >= static_cast<double>(kMostBins) * bin_s_) widen();
  const auto first = static_cast<std::size_t>(from_s / bin_s_);
  const auto last = static_cast<std::size_t>(end_s / bin_s_);
  for (std::size_t bin = first; bin <= last; ++bin) {
    const double start_s = std::max(from_s, static_cast<double>(bin) * bin_s_);
    const double stop_s = std::min(end_s, static_cast<double>(bin + 1) * bin_s_);
    const double share = end_s > from_s ? std::max(stop_s - start_s, 0.0) / (end_s - from_s) : 1.0;
    Cell& cell = at(bin, source);
    cell.bytes += bytes * share;
    cell.busy_s = std::min(cell.busy_s + std::max(stop_s - start_s, 0.0), bin_s_);
  }
}

void Traffic::widen_to(double bin_s) {
  while (bin_s_ < bin_s) widen();
}

void Traffic::widen() {
  bin_s_ *= 2;
  for (std::size_t bin = 0; bin < kMostBins; ++bin) {
    for (std::size_t source = 0; source < ranks_; ++source) {
      Cell joint;
      if (bin < kMostBins / 2) {
        const Cell& first = at(2 * bin, source);
        const Cell& second = at(2 * bin + 1, source);
        joint = {first.bytes + second.bytes, first.busy_s + second.busy_s};
      }
      at(bin, source) = joint;
    }
  }
}

}  // namespace espalier::engine::pull
