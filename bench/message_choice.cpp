// Evaluates the choices of `plan --message`, on random platforms of every kind and messages from
// 1 KiB to 1 GiB. docs/performance.md has its results. The ratios are:
//
// - fixed: the chosen plan's makespan over the least of all algorithms and segments of every power
//   of two, all simulated in full
// - segments: the same over the least of its own trees for every number of segments
// - formula: the makespan with the best segments by the pipeline formula, over the chosen plan's
// - forecast: the makespan of 4,097 segments extrapolated from 1,024, over the one simulated in
//   full, or the inverse
//
// In reductions hosts combine at 4 GB/s. Platforms are reversed for a reduce, and skipped for an
// allreduce if some host cannot reach the root.
//
// Usage: message_choice [SEEDS [MOST_HOSTS [MOST_SEGMENTS [OPERATION]]]]
// SEEDS: platforms per family (default 8); MOST_HOSTS: hosts per platform (10); MOST_SEGMENTS:
// segments per message (2048); OPERATION: broadcast, reduce or allreduce (broadcast).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "planner/plan/segment_grid.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "simulate/search/choose_plan.hpp"
#include "simulate/search/segment_search.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace {

using namespace espalier;

struct Tally {
  std::string_view name;
  std::vector<double> ratios{};
  void print() {
    if (ratios.empty()) return;
    std::ranges::sort(ratios);
    double sum = 0;
    for (const double ratio : ratios) sum += ratio;
    const auto over = [&](double limit) {
      return std::ranges::count_if(ratios, [&](double ratio) { return ratio > limit; });
    };
    fmt::print("{:<8}{:>8}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10}{:>10}{:>10}\n", name,
               ratios.size(), sum / static_cast<double>(ratios.size()), ratios[ratios.size() / 2],
               ratios[ratios.size() * 99 / 100], ratios.back(), over(1 + 1e-9), over(1.001),
               over(1.03));
  }
};

struct Sweep {
  planner::Operation operation;
  std::uint64_t most_segments;
  Tally fixed{"fixed"};
  Tally segments{"segments"};
  Tally formula{"formula"};
  Tally forecast{"forecast"};
  std::size_t simulations = 0;

  void add(const testing::DrawnPlatform& drawn, platforms::Model model, Bytes message,
           std::string_view trace);

 private:
  [[nodiscard]] std::optional<BytesPerSecond> compute() const {
    if (!planner::reduces(operation)) return std::nullopt;
    return BytesPerSecond{4e9};
  }
  [[nodiscard]] double simulated_s(const planner::Plan& plan, const platforms::Platform& platform,
                                   Bytes segment, Bytes message) const {
    const simulate::Options how{.segment = segment, .compute = compute()};
    return simulate::Simulator(plan, platform, how).run(message).makespan.value;
  }
  void add_forecast(const testing::DrawnPlatform& drawn, platforms::Model model,
                    const platforms::Platform& simulated);
  [[nodiscard]] double best_fixed(const testing::DrawnPlatform& drawn, platforms::Model model,
                                  const platforms::Platform& simulated, Bytes message) const;
};

double Sweep::best_fixed(const testing::DrawnPlatform& drawn, platforms::Model model,
                         const platforms::Platform& simulated, Bytes message) const {
  double best = 1e300;
  for (Bytes segment{1024}; segment.value < 2 * message.value; segment.value *= 2) {
    if (planner::SegmentGrid{message.value, segment.value}.count() > most_segments) continue;
    const planner::Collective collective(operation, drawn.platform, drawn.source, model,
                                         {segment, drawn.options.latency_occupies});
    for (const planner::Algorithm& algorithm : planner::parse_algorithms("all", operation)) {
      if (algorithm.entry->exponential || !planner::is_for(algorithm, collective)) continue;
      try {
        planner::AlgorithmOptions options;
        options.message = message;
        const planner::Plan plan = planner::make_plan(
            collective, algorithm.name, planner::run(algorithm, collective, options), segment);
        best = std::min(best, simulated_s(plan, simulated, segment, message));
      } catch (const InputError&) {
        continue;
      }
    }
  }
  return best;
}

void Sweep::add(const testing::DrawnPlatform& drawn, platforms::Model model, Bytes message,
                std::string_view trace) {
  simulate::ChoiceOptions how;
  how.operation = operation;
  how.run.compute = compute();
  const simulate::Choice choice = simulate::choose_plan(
      drawn.platform, drawn.source, model, drawn.options.latency_occupies, message, how);
  simulations += choice.simulations;
  const platforms::Platform simulated = simulate::with_overhead(drawn.platform, choice.overhead);
  const double own = choice.makespan.value;
  fixed.ratios.push_back(own / best_fixed(drawn, model, simulated, message));
  if (fixed.ratios.back() > 1.001) {
    fmt::print("{}, {}: {} in segments of {}: {:.4f}\n", trace, format_size(message),
               choice.candidates.front().algorithm, format_size(choice.plan.segment),
               fixed.ratios.back());
  }
  double best = 1e300;
  std::set<std::uint64_t> sizes;
  for (std::uint64_t count = 1; count <= std::min(most_segments, message.value / 1024); ++count) {
    sizes.insert(planner::SegmentGrid{message.value, count}.count());
  }
  Bytes best_segment;
  for (const std::uint64_t segment : sizes) {
    const double seconds = simulated_s(choice.plan, simulated, {segment}, message);
    if (seconds < best) best_segment = {segment};
    best = std::min(best, seconds);
  }
  segments.ratios.push_back(own / best);
  if (segments.ratios.back() > 1.01) {
    fmt::print("{}, {}: {} in segments of {}, not {}: {:.4f}\n", trace, format_size(message),
               choice.candidates.front().algorithm, choice.plan.segment.value, best_segment.value,
               segments.ratios.back());
  }
  formula.ratios.push_back(simulated_s(choice.plan, simulated, choice.formula_segment, message) /
                           own);
  add_forecast(drawn, model, simulated);
}

// 4,096 segments of 64 KiB and a shorter one, extrapolated from 1,024.
void Sweep::add_forecast(const testing::DrawnPlatform& drawn, platforms::Model model,
                         const platforms::Platform& simulated) {
  constexpr Bytes kMessage{(std::uint64_t{4096} << 16U) + 1000};
  constexpr Bytes kSegment{1U << 16U};
  const Deadline deadline(std::nullopt);
  const planner::Collective collective(operation, drawn.platform, drawn.source, model,
                                       {kSegment, drawn.options.latency_occupies});
  simulate::SegmentSearch search(simulated, model, drawn.options.latency_occupies, kMessage,
                                 {.run = {.segment = kSegment, .compute = compute()}}, deadline);
  simulate::CandidateOptions how;
  how.algorithms =
      planner::parse_algorithms("optimal,grow,binomial,chain,two-tree-complete", operation);
  for (simulate::Candidate& made : simulate::make_candidates(collective, how, deadline).all) {
    search.add(std::move(made));
    const std::size_t index = search.candidates().size() - 1;
    const double full = search.forecast(index, 4097, UINT64_MAX).makespan.value;
    forecast.ratios.push_back(search.forecast(index, 4097, 0).makespan.value / full);
    forecast.ratios.back() = std::max(forecast.ratios.back(), 1 / forecast.ratios.back());
  }
}

void run(std::uint64_t seeds, std::size_t most_hosts, std::uint64_t most_segments,
         planner::Operation operation) {
  Sweep sweep{operation, most_segments};
  std::size_t fit = 0;
  std::uint64_t drawn = 0;
  for (const testing::PlatformFamily& family : testing::platform_families()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, ++drawn) {
      const platforms::Model model = platforms::models()[drawn % platforms::models().size()].model;
      const Bytes message{std::uint64_t{1024} << (drawn * 7 % 21)};
      const auto platform = testing::fit_for(operation, family.draw(seed, most_hosts));
      if (!platform) continue;
      ++fit;
      sweep.add(*platform, model, message, testing::trace_of(family, seed, model));
    }
  }
  fmt::print("{} platforms, {} simulations\n", fit, sweep.simulations);
  fmt::print("{:<8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "ratio", "cases", "mean",
             "median", "99 %", "worst", "above 1", "> 1.001", "> 1.03");
  for (Tally* tally : {&sweep.fixed, &sweep.segments, &sweep.formula, &sweep.forecast})
    tally->print();
}

std::uint64_t argument(int argc, char** argv, int place, std::uint64_t otherwise) {
  return argc > place ? std::strtoull(argv[place], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argument(argc, argv, 1, 8), argument(argc, argv, 2, 10), argument(argc, argv, 3, 2048),
        planner::parse_operation(argc > 4 ? argv[4] : "broadcast"));
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "message_choice: {}\n", fault.what());
    return 1;
  }
}
