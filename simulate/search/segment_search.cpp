#include "simulate/search/segment_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "planner/plan/segment_grid.hpp"

namespace espalier::simulate {

namespace {

constexpr std::uint64_t kMostSegments = 1U << 20U;  // to try
constexpr std::uint64_t kMostSends = 80'000;  // of a run in the search: some hundredths of a second
constexpr double kRefinedWithin = 1.1;        // of the best
// The margins of most_robust: where overheads occupy ports, in general, and if hosts would be
// overloaded.
constexpr double kSharingMargin = 1.25;
constexpr double kRobustnessMargin = 1.01;
constexpr double kOverloadedHostMargin = 1.025;

}  // namespace

Candidate::Candidate(const planner::Plan& of, const platforms::Platform& platform)
    : algorithm(of.algorithm),
      label(of.algorithm),
      plan(of),
      depth(0),
      source(planner::source_index(plan)),
      flows(plan, platform, plan.latency_occupies),
      assignments(plan) {}

SegmentSearch::SegmentSearch(const platforms::Platform& platform, platforms::Model model,
                             bool latency_occupies, Bytes message, SegmentSearchOptions options,
                             const Deadline& deadline)
    : platform_(platform),
      model_(model),
      latency_occupies_(latency_occupies),
      message_(message),
      options_(std::move(options)),
      deadline_(deadline) {}

void SegmentSearch::add(Candidate candidate) {
  candidates_.push_back(std::move(candidate));
  cells_.emplace_back();
  slowdown_.push_back(1);
}

Bytes SegmentSearch::segment_of(std::uint64_t segments) const {
  if (options_.run.segment) return *options_.run.segment;
  return {
      planner::SegmentGrid{message_.value, segments}.count()};  // message / segments, rounded up
}

// The nearest number of segments that equal segments of whole bytes can have.
std::uint64_t SegmentSearch::count_for(double segments) const {
  if (options_.run.segment)
    return planner::SegmentGrid{message_.value, options_.run.segment->value}.count();
  const std::uint64_t most =
      std::clamp<std::uint64_t>(message_.value / options_.least_segment.value, 1, kMostSegments);
  const auto wanted = static_cast<std::uint64_t>(
      std::llround(std::clamp(segments, 1.0, static_cast<double>(most))));
  return planner::SegmentGrid{message_.value, segment_of(wanted).value}.count();
}

// All numbers up to 16, then powers of two and their midpoints.
std::vector<std::uint64_t> SegmentSearch::first_counts() const {
  std::vector<std::uint64_t> counts;
  const double most = static_cast<double>(kMostSegments);
  for (double segments = 1; segments < 16; ++segments) counts.push_back(count_for(segments));
  for (double segments = 16; segments <= most; segments *= 2) {
    counts.push_back(count_for(segments));
    counts.push_back(count_for(1.5 * segments));
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

void SegmentSearch::simulate_best_first(const std::vector<std::size_t>& which, Trial& best) {
  struct Entry {
    double least_s = 0;
    std::uint64_t segments;
    std::size_t candidate;
    bool operator<(const Entry& other) const {
      return std::tie(least_s, segments, candidate) <
             std::tie(other.least_s, other.segments, other.candidate);
    }
  };
  std::vector<Entry> entries;
  for (const std::size_t index : which) {
    for (const auto& [segments, cell] : cells_[index]) {
      const bool known = cell.simulated_s.has_value();
      if (known && (!best.simulated || *cell.simulated_s < best.makespan.value)) {
        best = {index, segments, {*cell.simulated_s}, true};
      }
      if (!known) entries.push_back({cell.least_s, segments, index});
    }
  }
  std::ranges::sort(entries, std::less<>{});
  for (const Entry& entry : entries) {
    const Seconds least = std::min(best.makespan, options_.longest);
    if (best.simulated && entry.least_s >= least.value) return;
    if (best.simulated && deadline_.passed()) {
      complete_ = false;
      return;
    }
    if (options_.on_progress) {
      options_.on_progress(fmt::format("{} in {} segments, {} simulations so far",
                                       candidates_[entry.candidate].label, entry.segments,
                                       simulations_));
    }
    const Seconds longest =
        best.simulated ? Seconds{kRefinedWithin * best.makespan.value} : kUnlimited;
    const double seconds =
        simulate_cell(entry.candidate, entry.segments, kMostSends, longest).makespan.value;
    if (!best.simulated || seconds < best.makespan.value) {
      best = {entry.candidate, entry.segments, {seconds}, true};
    }
  }
}

std::vector<std::uint64_t> SegmentSearch::counts_near(std::size_t candidate, double factor) const {
  const auto middle = static_cast<double>(best_so_far(candidate).segments);
  return {count_for(middle / factor), count_for(middle * factor)};
}

Trial SegmentSearch::best_of(const std::vector<std::size_t>& which, bool closely) {
  Trial best;
  for (const std::uint64_t segments : first_counts()) evaluate(which, segments);
  simulate_best_first(which, best);
  if (!closely || options_.run.segment) return best;  // the segment size fixes their number
  for (const double factor : {1.25, 1.12, 1.06, 1.03, 1.015}) {
    std::map<std::uint64_t, std::vector<std::size_t>> near;  // by segments, as each cut takes time
    for (const std::size_t index : which) {
      if (best_so_far(index).makespan.value > kRefinedWithin * best.makespan.value) continue;
      for (const std::uint64_t segments : counts_near(index, factor))
        near[segments].push_back(index);
    }
    for (const auto& [segments, candidates] : near) {
      if (deadline_.passed()) complete_ = false;
      if (complete_) evaluate(candidates, segments);
    }
    simulate_best_first(which, best);
  }
  scan_around(best);
  return best;
}

// Several trees wait for each other, more or less so depending irregularly on the number of
// segments, most of all where trees have few of them. So neighbours are tried, and all small
// numbers, which are fast.
void SegmentSearch::scan_around(Trial& best) {
  constexpr std::uint64_t kManyOfATree = 64;
  const std::size_t candidate = best.candidate;
  // The same is true of an allreduce's two halves, even with one tree each.
  const std::size_t trees = planner::tree_count(candidates_[candidate].plan);
  if (trees < 2 || best.segments > kManyOfATree * trees) return;
  constexpr int kEachWay = 16;
  constexpr int kFew = 96;
  const auto middle = static_cast<double>(best.segments);
  for (int segments = 1; segments <= kFew; ++segments) evaluate({candidate}, count_for(segments));
  for (int step = -kEachWay; step <= kEachWay; ++step) {
    if (deadline_.passed()) complete_ = false;
    if (!complete_) return;
    evaluate({candidate}, count_for(middle * std::pow(1.02, step)));
  }
  simulate_best_first({candidate}, best);
}

Forecast SegmentSearch::run_in_full(Trial& best, std::uint64_t most_sends) {
  constexpr int kMostRuns = 16;
  for (int run = 0;; ++run) {
    const bool is_last = run == kMostRuns || deadline_.passed();
    best = {};
    for (const bool only_in_full : {true, false}) {
      if (best.simulated && is_last) break;
      for (std::size_t index = 0; index < cells_.size(); ++index) {
        for (const auto& [segments, cell] : cells_[index]) {
          if (!cell.simulated_s || (only_in_full && !cell.in_full)) continue;
          if (best.simulated && *cell.simulated_s >= best.makespan.value) continue;
          best = {index, segments, {*cell.simulated_s}, true};
        }
      }
    }
    Cell& cell = cells_[best.candidate][best.segments];
    if (cell.in_full || is_last) return {best.makespan, cell.extrapolated};
    (void)simulate_cell(best.candidate, best.segments, most_sends);
    cell.in_full = true;
  }
}

// How many times the formula's bound a trial hardly takes less than: in all segment sizes that were
// simulated it took longer than that, by twice as much.
double SegmentSearch::half_the_least_excess(const std::map<std::uint64_t, Cell>& cells) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [segments, cell] : cells) {
    if (cell.simulated_s) least = std::min(least, *cell.simulated_s / cell.bound_s);
  }
  return std::isfinite(least) ? 1 + std::max(0.0, least - 1) / 2 : 1;
}

// examined: only trials that have been simulated in full and with sharing edges. The limit may grow
// from one call to the next, as it may be based on an extrapolated time.
Trial SegmentSearch::least_demanding(Seconds overhead, double factor, bool examined) const {
  const bool is_late = deadline_.passed();
  double limit_s = std::numeric_limits<double>::infinity();
  for (const auto& cells : cells_) {
    for (const auto& [segments, cell] : cells) {
      if (cell.simulated_s) limit_s = std::min(limit_s, factor * *cell.simulated_s);
    }
  }
  Trial found;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < cells_.size(); ++index) {
    const double excess = half_the_least_excess(cells_[index]);
    for (const auto& [segments, cell] : cells_[index]) {
      const double simulated_s =
          cell.simulated_s.value_or(std::max(cell.least_s, excess * cell.bound_s));
      if (examined ? !cell.shared_s : simulated_s > limit_s) continue;
      if (is_late && !cell.simulated_s) continue;
      const double shared_s = cell.shared_s.value_or(slowdown_[index] * simulated_s);
      const double overheads_s = overhead.value * static_cast<double>(cell.handled);
      const double takes_s = std::max(simulated_s, shared_s) + overheads_s;
      if (takes_s >= least_s) continue;
      found = {index, segments, {simulated_s}, cell.simulated_s.has_value()};
      least_s = takes_s;
    }
  }
  return found;
}

Forecast SegmentSearch::most_robust(Trial& best, std::optional<Seconds> overhead_of_links,
                                    std::uint64_t most_sends) {
  constexpr int kLeastExamined = 4;
  constexpr int kMostExamined = 16;
  const Seconds overhead = overhead_of_links.value_or(Seconds{0});
  const auto handled = static_cast<double>(cells_[best.candidate].at(best.segments).handled);
  const bool is_overloaded = overhead.value * handled > best.makespan.value;
  double factor = is_overloaded ? kOverloadedHostMargin : kRobustnessMargin;
  if (!overhead_of_links) factor = kSharingMargin;
  const auto edges = static_cast<double>(candidates_.front().plan.nodes.size() - 1);
  double examined_sends = 0;  // approximately
  // The time known for a trial only grows: by the formula, extrapolated, in full, with sharing
  // edges.
  for (int examined = 0;;) {
    const bool is_enough = examined >= kLeastExamined &&
                           (examined >= kMostExamined || examined_sends > 2.0 * kMostSends);
    best = least_demanding(overhead, factor, is_enough);
    Cell& cell = cells_[best.candidate].at(best.segments);
    if (deadline_.passed() || (cell.in_full && cell.shared_s)) {
      return {best.makespan, cell.extrapolated};
    }
    if (!cell.simulated_s) {
      (void)simulate_cell(best.candidate, best.segments, kMostSends);
      continue;
    }
    if (!cell.in_full) (void)simulate_cell(best.candidate, best.segments, most_sends);
    cell.in_full = true;
    const double turns_s = cell.seconds() - candidates_[best.candidate].crowded.value;
    cell.shared_s = slowdown_by_sharing(best) * turns_s;
    // In other segments a plan may lose less to sharing, but hardly less than half as much.
    slowdown_[best.candidate] = 1 + std::max(0.0, *cell.shared_s / cell.seconds() - 1) / 2;
    ++examined;
    examined_sends += edges * static_cast<double>(best.segments);
  }
}

Trial SegmentSearch::best_so_far(std::size_t candidate) const {
  const auto& cells = cells_[candidate];
  const auto least =
      std::ranges::min_element(cells, {}, [](const auto& entry) { return entry.second.seconds(); });
  return {
      candidate, least->first, {least->second.seconds()}, least->second.simulated_s.has_value()};
}

Trial SegmentSearch::best_to_report(std::size_t candidate) const {
  Trial best;
  for (const auto& [segments, cell] : cells_[candidate]) {
    if (!cell.simulated_s) continue;
    if (best.simulated && *cell.simulated_s >= best.makespan.value) continue;
    best = {candidate, segments, {*cell.simulated_s}, true};
  }
  return best.simulated ? best : best_so_far(candidate);
}

Trial SegmentSearch::best_by_formula(std::size_t candidate) const {
  const auto& cells = cells_[candidate];
  const auto least =
      std::ranges::min_element(cells, {}, [](const auto& entry) { return entry.second.bound_s; });
  return {candidate, least->first, {least->second.bound_s}, false};
}

}  // namespace espalier::simulate
