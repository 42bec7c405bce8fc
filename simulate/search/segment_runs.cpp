// How a segment search simulates its candidates (simulate/search/segment_search.hpp).
#include <algorithm>

#include "planner/plan/segment_grid.hpp"
#include "simulate/search/pipeline_bound.hpp"
#include "simulate/search/segment_search.hpp"
#include "simulate/transport/engine_run.hpp"

namespace espalier::simulate {

namespace {

// A segment of a reduction and a broadcast is sent twice as often.
std::uint64_t sends_a_segment(const Candidate& candidate) {
  const planner::Operation operation = candidate.plan.operation;
  const std::uint64_t kinds = planner::reduces(operation) && planner::broadcasts(operation) ? 2 : 1;
  return kinds * std::max<std::uint64_t>(candidate.plan.nodes.size() - 1, 1);
}

}  // namespace

const SegmentSearch::Cut& SegmentSearch::cut(std::uint64_t segments) {
  if (cut_.segments == segments) return cut_;
  cut_.segments = segments;
  cut_.segment = segment_of(segments);
  cut_.rest = {message_.value % cut_.segment.value};
  cut_.full = platforms::occupation(platform_, model_, {cut_.segment, latency_occupies_});
  if (cut_.rest.value > 0) {
    cut_.last = platforms::occupation(platform_, model_, {cut_.rest, latency_occupies_});
  }
  cut_.combining = combining_at(options_.run.compute, cut_.segment, cut_.rest);
  return cut_;
}

// A candidate's message in one cut, before its segments are assigned.
struct SegmentSearch::Prepared {
  Prepared(const Candidate& candidate, const Cut& cut, platforms::Model model)
      : has_rest(cut.rest.value > 0),
        full(candidate.flows, cut.full, model, cut.segment),
        last(candidate.flows, has_rest ? cut.last : cut.full, model,
             has_rest ? cut.rest : cut.segment),
        task{candidate.flows, full, last, candidate.source, cut.combining} {}

  // A message of `segments` segments.
  void assign(Candidate& candidate, const Cut& cut, std::uint64_t segments) {
    grids.assign(candidate.assignments.blocks().size(), cut.grid_of(segments));
    candidate.assignments.end_at(grids);
    task.assign_segments(candidate.assignments, grids);
  }

  bool has_rest;
  std::vector<planner::SegmentGrid> grids{};  // of each block
  Holdings full;
  Holdings last;
  Task task;  // refers to the holdings
};

void SegmentSearch::evaluate(const std::vector<std::size_t>& which, std::uint64_t segments) {
  for (const std::size_t index : which) {
    if (cells_[index].contains(segments)) continue;
    const Cut& now = cut(segments);
    Candidate& candidate = candidates_[index];
    Prepared run(candidate, now, model_);
    run.assign(candidate, now, segments);
    Cell& cell = cells_[index][segments];
    cell.bound_s =
        pipeline_bound(run.task, candidate.assignments, now.full.resources.size()).value +
        candidate.crowded.value;
    cell.handled = most_handled(run.task);
    cell.least_s = cell.bound_s;
  }
}

double SegmentSearch::seconds_of(std::size_t index, Prepared& run, std::uint64_t count,
                                 Sharing sharing, Seconds longest) {
  Candidate& candidate = candidates_[index];
  run.assign(candidate, cut_, count);
  const Windows windows{.sends = options_.run.window.value_or(window_for(candidate.plan.operation)),
                        .receives = options_.run.receives,
                        .sharing = sharing,
                        .longest = longest};
  const EngineTimes times =
      run_engines({candidate.plan, candidate.flows, candidate.assignments, run.grids}, run.task,
                  windows, cut_.full.resources.size(), {});
  return times.done_s.empty() ? kUnlimited.value : *std::ranges::max_element(times.done_s);
}

Forecast SegmentSearch::forecast(std::size_t index, std::uint64_t segments,
                                 std::uint64_t most_sends, Seconds longest) {
  constexpr std::uint64_t kLeastSteadySegments = 1024;
  Prepared run(candidates_[index], cut(segments), model_);
  ++simulations_;
  const std::uint64_t many =
      std::max(most_sends / sends_a_segment(candidates_[index]), kLeastSteadySegments);
  const auto time_of = [&](std::uint64_t count) {
    return seconds_of(index, run, count, Sharing::kTurns, longest);
  };
  const double whole = time_of(std::min(segments, many));
  if (whole == kUnlimited.value) return {.makespan = longest, .stopped = true};
  if (segments <= many) return {.makespan = {whole}};
  const std::uint64_t half = many / 2;
  const double per_segment = (whole - time_of(half)) / static_cast<double>(many - half);
  return {.makespan = {whole + per_segment * static_cast<double>(segments - many)},
          .extrapolated = true};
}

Forecast SegmentSearch::simulate_cell(std::size_t candidate, std::uint64_t segments,
                                      std::uint64_t most_sends, Seconds longest) {
  const double crowded_s = candidates_[candidate].crowded.value;
  Forecast found = forecast(candidate, segments, most_sends, {longest.value - crowded_s});
  found.makespan.value += crowded_s;
  Cell& cell = cells_[candidate][segments];
  if (found.stopped) {
    cell.least_s = std::max(cell.least_s, found.makespan.value);
    return found;
  }
  cell.simulated_s = found.makespan.value;
  cell.extrapolated = found.extrapolated;
  cell.in_full = !found.extrapolated;
  return found;
}

// Each send changes the rates of some of the others: a run takes time in proportion to both.
double SegmentSearch::slowdown_by_sharing(const Trial& trial) {
  constexpr double kMostWork = 1e8;  // sends times edges: about two seconds
  constexpr std::uint64_t kLeast = 16;
  Prepared run(candidates_[trial.candidate], cut(trial.segments), model_);
  const Candidate& candidate = candidates_[trial.candidate];
  const double work = static_cast<double>(sends_a_segment(candidate)) *
                      static_cast<double>(candidate.flows.all().size());
  const std::uint64_t many = std::max(static_cast<std::uint64_t>(kMostWork / work), kLeast);
  const auto time_of = [&](Sharing sharing) {
    return seconds_of(trial.candidate, run, std::min(trial.segments, many), sharing, kUnlimited);
  };
  simulations_ += 2;
  return time_of(Sharing::kEdges) / time_of(Sharing::kTurns);
}

}  // namespace espalier::simulate
