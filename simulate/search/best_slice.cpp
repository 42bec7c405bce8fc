#include "simulate/search/best_slice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "planner/plan/slice_grid.hpp"
#include "simulate/simulate.hpp"
#include "simulate/search/told_time.hpp"

namespace espalier::simulate {

namespace {

constexpr double kMostSlices = 1U << 20U;

class Search {
 public:
  Search(const planner::Plan& plan, const platforms::Platform& platform, Bytes message,
         const BestSliceOptions& options)
      : plan_(plan), platform_(platform), message_(message), most_sends_(options.most_sends) {
    const std::uint64_t most = message.value / options.least_slice.value;
    most_ = std::clamp(static_cast<double>(most), 1.0, kMostSlices);
  }

  BestSlice run() {
    for (double slices = 1; slices < kFew && slices <= most_; ++slices) look_at(slices);
    for (double slices = kFew; slices <= most_ && !is_far_off(); slices *= kStep) look_at(slices);
    if (!is_far_off()) look_at(most_);
    for (const double factor : {1.25, 1.12, 1.06, 1.03, 1.015}) {
      const double middle = best_slices_;
      look_at(middle / factor);
      look_at(middle * factor);
    }
    return best_;
  }

 private:
  static constexpr double kFew = 16;  // with few slices each one counts
  static constexpr double kStep = 1.5;

  // Whether the last number of slices has cost so much that more are no hope.
  [[nodiscard]] bool is_far_off() const {
    constexpr double kMuch = 2;
    return last_s_ > kMuch * best_.makespan.value;
  }

  void look_at(double slices) {
    const auto wanted = static_cast<std::uint64_t>(std::llround(std::clamp(slices, 1.0, most_)));
    const Bytes slice{planner::SliceGrid{message_.value, wanted}.count()};
    const auto [known, is_new] = seconds_.try_emplace(slice, 0.0);
    if (is_new) known->second = seconds_in(slice);
    last_s_ = known->second;
    if (best_.slice.value == 0 || last_s_ < best_.makespan.value) {
      best_ = {slice, {last_s_}};
      best_slices_ = static_cast<double>(planner::SliceGrid{message_.value, slice.value}.count());
    }
  }

  [[nodiscard]] double seconds_in(Bytes slice) const {
    Options options;
    options.slice = slice;
    options.follow_schedule = false;
    const Simulator simulator(plan_, platform_, options);
    const std::uint64_t slices = planner::SliceGrid{message_.value, slice.value}.count();
    const auto seconds_of = [&](std::uint64_t count) {
      const Bytes part = count == slices ? message_ : Bytes{count * slice.value};
      return simulator.run(part).makespan.value;
    };
    const std::uint64_t edges = std::max<std::uint64_t>(plan_.nodes.size() - 1, 1);
    return told_time(slices, edges, most_sends_, seconds_of).seconds;
  }

  const planner::Plan& plan_;
  const platforms::Platform& platform_;
  Bytes message_;
  std::uint64_t most_sends_;
  double most_ = 1;  // slices that are tried
  std::map<Bytes, double> seconds_;
  double last_s_ = 0;
  BestSlice best_;
  double best_slices_ = 1;
};

}  // namespace

BestSlice best_slice(const planner::Plan& plan, const platforms::Platform& platform, Bytes message,
                     const BestSliceOptions& options) {
  if (message.value == 0) throw std::invalid_argument("a message has at least one byte");
  if (options.least_slice.value == 0) throw std::invalid_argument("a slice has at least one byte");
  return Search(plan, platform, message, options).run();
}

}  // namespace espalier::simulate
