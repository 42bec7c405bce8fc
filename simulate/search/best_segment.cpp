#include "simulate/search/best_segment.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "planner/plan/segment_grid.hpp"
#include "simulate/search/extrapolated_time.hpp"
#include "simulate/simulate.hpp"

namespace espalier::simulate {

namespace {

constexpr double kMostSegments = 1U << 20U;

class Search {
 public:
  Search(const planner::Plan& plan, const platforms::Platform& platform, Bytes message,
         const BestSegmentOptions& options)
      : plan_(plan), platform_(platform), message_(message), most_sends_(options.most_sends) {
    const std::uint64_t most = message.value / options.least_segment.value;
    most_ = std::clamp(static_cast<double>(most), 1.0, kMostSegments);
  }

  BestSegment run() {
    for (double segments = 1; segments < kFew && segments <= most_; ++segments) evaluate(segments);
    for (double segments = kFew; segments <= most_ && !is_far_off(); segments *= kStep)
      evaluate(segments);
    if (!is_far_off()) evaluate(most_);
    for (const double factor : {1.25, 1.12, 1.06, 1.03, 1.015}) {
      const double middle = best_segments_;
      evaluate(middle / factor);
      evaluate(middle * factor);
    }
    return best_;
  }

 private:
  static constexpr double kFew = 16;  // with few segments, every number is tried
  static constexpr double kStep = 1.5;

  // Whether the last number of segments was so slow that larger numbers cannot be better.
  [[nodiscard]] bool is_far_off() const {
    constexpr double kMuch = 2;
    return last_s_ > kMuch * best_.makespan.value;
  }

  void evaluate(double segments) {
    const auto wanted = static_cast<std::uint64_t>(std::llround(std::clamp(segments, 1.0, most_)));
    const Bytes segment{planner::SegmentGrid{message_.value, wanted}.count()};
    const auto [known, is_new] = seconds_.try_emplace(segment, 0.0);
    if (is_new) known->second = seconds_in(segment);
    last_s_ = known->second;
    if (best_.segment.value == 0 || last_s_ < best_.makespan.value) {
      best_ = {segment, {last_s_}};
      best_segments_ =
          static_cast<double>(planner::SegmentGrid{message_.value, segment.value}.count());
    }
  }

  [[nodiscard]] double seconds_in(Bytes segment) const {
    Options options;
    options.segment = segment;
    options.follow_schedule = false;
    const Simulator simulator(plan_, platform_, options);
    const std::uint64_t segments = planner::SegmentGrid{message_.value, segment.value}.count();
    const auto seconds_of = [&](std::uint64_t count) {
      const Bytes part = count == segments ? message_ : Bytes{count * segment.value};
      return simulator.run(part).makespan.value;
    };
    const std::uint64_t edges = std::max<std::uint64_t>(plan_.nodes.size() - 1, 1);
    return extrapolated_time(segments, edges, most_sends_, seconds_of).seconds;
  }

  const planner::Plan& plan_;
  const platforms::Platform& platform_;
  Bytes message_;
  std::uint64_t most_sends_;
  double most_ = 1;  // the largest number of segments to try
  std::map<Bytes, double> seconds_;
  double last_s_ = 0;
  BestSegment best_;
  double best_segments_ = 1;
};

}  // namespace

BestSegment best_segment(const planner::Plan& plan, const platforms::Platform& platform,
                         Bytes message, const BestSegmentOptions& options) {
  if (message.value == 0) throw std::invalid_argument("a message has at least one byte");
  if (options.least_segment.value == 0)
    throw std::invalid_argument("a segment has at least one byte");
  return Search(plan, platform, message, options).run();
}

}  // namespace espalier::simulate
