#include "simulate/search/slice_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "planner/plan/slice_grid.hpp"
#include "simulate/transport/event_loop.hpp"
#include "simulate/search/pipeline_bound.hpp"
#include "simulate/search/told_time.hpp"

namespace espalier::simulate {

namespace {

constexpr std::uint64_t kMostSlices = 1U << 20U;  // of those that are tried
constexpr std::uint64_t kMostSends =
    80'000;                                // of a run while searching: some hundredths of a second
constexpr double kWorthACloserLook = 1.1;  // of the best: what is refined
// What the makespan may grow by for a surer plan, and where hosts would have no time left.
constexpr double kWorthBeingSure = 1.01;
constexpr double kWorthHostsLackOfTime = 1.025;

// How many slices the host with the most sends and receives.
std::uint64_t most_handled(const Task& task) {
  std::vector<std::uint64_t> handled(task.flows.hosts());
  for (const Flow& flow : task.flows.all()) {
    handled[flow.parent] += task.slices[flow.tree];
    handled[flow.child] += task.slices[flow.tree];
  }
  return std::ranges::max(handled);
}

}  // namespace

SliceSearch::SliceSearch(const platforms::Platform& platform, platforms::Model model,
                         bool latency_occupies, Bytes message, SliceSearchOptions options,
                         const planner::Deadline& deadline)
    : platform_(platform),
      model_(model),
      latency_occupies_(latency_occupies),
      message_(message),
      options_(std::move(options)),
      deadline_(deadline) {}

void SliceSearch::add(Contender contender) {
  contenders_.push_back(std::move(contender));
  cells_.emplace_back();
}

Bytes SliceSearch::slice_of(std::uint64_t slices) const {
  if (options_.slice) return *options_.slice;
  return {planner::SliceGrid{message_.value, slices}.count()};  // message / slices, rounded up
}

// The nearest number of slices that equal slices of whole bytes can have.
std::uint64_t SliceSearch::count_for(double slices) const {
  if (options_.slice) return planner::SliceGrid{message_.value, options_.slice->value}.count();
  const std::uint64_t most =
      std::clamp<std::uint64_t>(message_.value / options_.least_slice.value, 1, kMostSlices);
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(std::clamp(slices, 1.0, static_cast<double>(most))));
  return planner::SliceGrid{message_.value, slice_of(wanted).value}.count();
}

// All to 16, then powers of two and what lies between: with few slices each one counts.
std::vector<std::uint64_t> SliceSearch::first_counts() const {
  std::vector<std::uint64_t> counts;
  const double most = static_cast<double>(kMostSlices);
  for (double slices = 1; slices < 16; ++slices) counts.push_back(count_for(slices));
  for (double slices = 16; slices <= most; slices *= 2) {
    counts.push_back(count_for(slices));
    counts.push_back(count_for(1.5 * slices));
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

const SliceSearch::Cut& SliceSearch::cut(std::uint64_t slices) {
  if (cut_.slices == slices) return cut_;
  cut_.slices = slices;
  cut_.slice = slice_of(slices);
  cut_.rest = {message_.value % cut_.slice.value};
  cut_.full = platforms::occupation(platform_, model_, {cut_.slice, latency_occupies_});
  if (cut_.rest.value > 0) {
    cut_.last = platforms::occupation(platform_, model_, {cut_.rest, latency_occupies_});
  }
  cut_.combining = combining_at(options_.compute, cut_.slice, cut_.rest);
  return cut_;
}

void SliceSearch::look_at(const std::vector<std::size_t>& which, std::uint64_t slices) {
  for (const std::size_t index : which) {
    if (cells_[index].contains(slices)) continue;
    const Cut& now = cut(slices);
    Contender& contender = contenders_[index];
    const bool has_rest = now.rest.value > 0;
    const Holdings full(contender.flows, now.full, model_, now.slice);
    const Holdings last(contender.flows, has_rest ? now.last : now.full, model_,
                        has_rest ? now.rest : now.slice);
    Task task{contender.flows, full, last, contender.source, now.combining};
    contender.deal.end_at(slices, now.slice);
    task.share_out(contender.deal, slices, has_rest);
    Cell& cell = cells_[index][slices];
    cell.bound_s =
        pipeline_bound(task, contender.deal, now.full.resources.size(), options_.receives).value;
    cell.handled = most_handled(task);
  }
}

Forecast SliceSearch::forecast(std::size_t index, std::uint64_t slices, std::uint64_t most_sends,
                               Sharing sharing) {
  const Cut& now = cut(slices);
  Contender& contender = contenders_[index];
  const bool has_rest = now.rest.value > 0;
  const Holdings full(contender.flows, now.full, model_, now.slice);
  const Holdings last(contender.flows, has_rest ? now.last : now.full, model_,
                      has_rest ? now.rest : now.slice);
  Task task{contender.flows, full, last, contender.source, now.combining};
  const auto seconds_of = [&](std::uint64_t count) {
    contender.deal.end_at(count, now.slice);
    task.share_out(contender.deal, count, has_rest);
    const Windows windows{
        .sends = options_.window, .receives = options_.receives, .sharing = sharing};
    const GreedyRun run =
        run_greedily(task, contender.deal, windows, now.full.resources.size(), {});
    return *std::ranges::max_element(run.done_s);
  };
  ++simulations_;
  const std::uint64_t kinds =
      planner::reduces(contender.plan.operation) && planner::broadcasts(contender.plan.operation)
          ? 2
          : 1;
  const std::uint64_t edges = std::max<std::uint64_t>(contender.plan.nodes.size() - 1, 1);
  const ToldTime told = told_time(slices, kinds * edges, most_sends, seconds_of);
  return {{told.seconds}, told.extrapolated};
}

Forecast SliceSearch::simulate_cell(std::size_t contender, std::uint64_t slices,
                                    std::uint64_t most_sends) {
  const Forecast found = forecast(contender, slices, most_sends);
  Cell& cell = cells_[contender][slices];
  cell.simulated_s = found.makespan.value;
  cell.extrapolated = found.extrapolated;
  cell.in_full = !found.extrapolated;
  return found;
}

void SliceSearch::simulate_best_first(const std::vector<std::size_t>& which, Trial& best) {
  struct Entry {
    double bound_s = 0;
    std::uint64_t slices;
    std::size_t contender;
    bool operator<(const Entry& other) const {
      return std::tie(bound_s, slices, contender) <
             std::tie(other.bound_s, other.slices, other.contender);
    }
  };
  std::vector<Entry> entries;
  for (const std::size_t index : which) {
    for (const auto& [slices, cell] : cells_[index]) {
      const bool known = cell.simulated_s.has_value();
      if (known && (!best.simulated || *cell.simulated_s < best.makespan.value)) {
        best = {index, slices, {*cell.simulated_s}, true};
      }
      if (!known) entries.push_back({cell.bound_s, slices, index});
    }
  }
  std::ranges::sort(entries, std::less<>{});
  for (const Entry& entry : entries) {
    if (best.simulated && entry.bound_s >= best.makespan.value) return;
    if (best.simulated && deadline_.passed()) {
      complete_ = false;
      return;
    }
    if (options_.on_progress) {
      options_.on_progress(fmt::format("{} in {} slices, {} simulations so far",
                                       contenders_[entry.contender].label, entry.slices,
                                       simulations_));
    }
    const double seconds = simulate_cell(entry.contender, entry.slices, kMostSends).makespan.value;
    if (!best.simulated || seconds < best.makespan.value) {
      best = {entry.contender, entry.slices, {seconds}, true};
    }
  }
}

std::vector<std::uint64_t> SliceSearch::counts_near(std::size_t contender, double factor) const {
  const auto middle = static_cast<double>(best_so_far(contender).slices);
  return {count_for(middle / factor), count_for(middle * factor)};
}

Trial SliceSearch::best_of(const std::vector<std::size_t>& which, bool closely) {
  Trial best;
  for (const std::uint64_t slices : first_counts()) look_at(which, slices);
  simulate_best_first(which, best);
  if (!closely || options_.slice) return best;  // of one size there is one number of slices
  for (const double factor : {1.25, 1.12, 1.06, 1.03, 1.015}) {
    std::map<std::uint64_t, std::vector<std::size_t>> near;  // by slices, for cutting is work
    for (const std::size_t index : which) {
      if (best_so_far(index).makespan.value > kWorthACloserLook * best.makespan.value) continue;
      for (const std::uint64_t slices : counts_near(index, factor)) near[slices].push_back(index);
    }
    for (const auto& [slices, contenders] : near) {
      if (deadline_.passed()) complete_ = false;
      if (complete_) look_at(contenders, slices);
    }
    simulate_best_first(which, best);
  }
  scan_around(best);
  return best;
}

// Several trees wait for each other now more, now less: which numbers of slices suit them is
// somewhat of a lottery, most of all among small ones, and those tickets are cheap.
void SliceSearch::scan_around(Trial& best) {
  const std::size_t contender = best.contender;
  // An allreduce's halves do so even with one tree each.
  if (planner::tree_count(contenders_[contender].plan) < 2) return;
  constexpr int kEachWay = 16;
  constexpr int kFew = 96;
  const auto middle = static_cast<double>(best.slices);
  for (int slices = 1; slices <= kFew; ++slices) look_at({contender}, count_for(slices));
  for (int step = -kEachWay; step <= kEachWay; ++step) {
    if (deadline_.passed()) complete_ = false;
    if (!complete_) return;
    look_at({contender}, count_for(middle * std::pow(1.02, step)));
  }
  simulate_best_first({contender}, best);
}

Forecast SliceSearch::run_in_full(Trial& best, std::uint64_t most_sends) {
  constexpr int kMostRuns = 16;
  for (int run = 0;; ++run) {
    const bool is_last = run == kMostRuns || deadline_.passed();
    best = {};
    for (const bool only_in_full : {true, false}) {
      if (best.simulated && is_last) break;
      for (std::size_t index = 0; index < cells_.size(); ++index) {
        for (const auto& [slices, cell] : cells_[index]) {
          if (!cell.simulated_s || (only_in_full && !cell.in_full)) continue;
          if (best.simulated && *cell.simulated_s >= best.makespan.value) continue;
          best = {index, slices, {*cell.simulated_s}, true};
        }
      }
    }
    Cell& cell = cells_[best.contender][best.slices];
    if (cell.in_full || is_last) return {best.makespan, cell.extrapolated};
    (void)simulate_cell(best.contender, best.slices, most_sends);
    cell.in_full = true;
  }
}

// looked: only those that have been run in full and with edges that share. The limit may grow from
// one call to the next, for it may be of a time that was told from a shorter message.
Trial SliceSearch::least_asking(Seconds overhead, double factor, bool looked) const {
  const bool is_late = deadline_.passed();
  double limit_s = std::numeric_limits<double>::infinity();
  for (const auto& cells : cells_) {
    for (const auto& [slices, cell] : cells) {
      if (cell.simulated_s) limit_s = std::min(limit_s, factor * *cell.simulated_s);
    }
  }
  Trial found;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < cells_.size(); ++index) {
    for (const auto& [slices, cell] : cells_[index]) {
      if (looked ? !cell.shared_s : cell.seconds() > limit_s) continue;
      if (is_late && !cell.simulated_s) continue;
      const double takes_s = std::max(cell.seconds(), cell.shared_s.value_or(0)) +
                             overhead.value * static_cast<double>(cell.handled);
      if (takes_s >= least_s) continue;
      found = {index, slices, {cell.seconds()}, cell.simulated_s.has_value()};
      least_s = takes_s;
    }
  }
  return found;
}

Forecast SliceSearch::surest(Trial& best, Seconds overhead, std::uint64_t most_sends) {
  constexpr int kLeastLooks = 4;
  constexpr int kMostLooks = 24;
  const auto handled = static_cast<double>(cells_[best.contender].at(best.slices).handled);
  const bool is_too_much = overhead.value * handled > best.makespan.value;
  const double factor = is_too_much ? kWorthHostsLackOfTime : kWorthBeingSure;
  const auto edges = static_cast<double>(contenders_.front().plan.nodes.size() - 1);
  double looked_at = 0;  // sends, about
  // What is known of a trial by the formula, as told, in full and with edges that share is ever
  // more.
  for (int looks = 0;;) {
    const bool is_enough =
        looks >= kLeastLooks && (looks >= kMostLooks || looked_at > 4.0 * kMostSends);
    best = least_asking(overhead, factor, is_enough);
    Cell& cell = cells_[best.contender].at(best.slices);
    if (deadline_.passed() || (cell.in_full && cell.shared_s)) {
      return {best.makespan, cell.extrapolated};
    }
    if (!cell.simulated_s) {
      (void)simulate_cell(best.contender, best.slices, kMostSends);
      continue;
    }
    if (!cell.in_full) (void)simulate_cell(best.contender, best.slices, most_sends);
    cell.in_full = true;
    cell.shared_s =
        forecast(best.contender, best.slices, kMostSends, Sharing::kEdges).makespan.value;
    ++looks;
    looked_at += edges * static_cast<double>(best.slices);
  }
}

Trial SliceSearch::best_so_far(std::size_t contender) const {
  const auto& cells = cells_[contender];
  const auto least =
      std::ranges::min_element(cells, {}, [](const auto& entry) { return entry.second.seconds(); });
  return {
      contender, least->first, {least->second.seconds()}, least->second.simulated_s.has_value()};
}

Trial SliceSearch::best_to_tell(std::size_t contender) const {
  Trial best;
  for (const auto& [slices, cell] : cells_[contender]) {
    if (!cell.simulated_s) continue;
    if (best.simulated && *cell.simulated_s >= best.makespan.value) continue;
    best = {contender, slices, {*cell.simulated_s}, true};
  }
  return best.simulated ? best : best_so_far(contender);
}

Trial SliceSearch::best_by_formula(std::size_t contender) const {
  const auto& cells = cells_[contender];
  const auto least =
      std::ranges::min_element(cells, {}, [](const auto& entry) { return entry.second.bound_s; });
  return {contender, least->first, {least->second.bound_s}, false};
}

}  // namespace espalier::simulate
