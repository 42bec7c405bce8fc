#include "cli/espalier/plan_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/common/interrupt.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/run.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using simulate::CandidateResult;
using simulate::Choice;

// At most one tree of each kind.
bool is_single(const CandidateResult& candidate) {
  return candidate.reduce_trees <= 1 && candidate.broadcast_trees <= 1;
}

std::size_t trees_in(const CandidateResult& candidate) {
  return candidate.reduce_trees + candidate.broadcast_trees;
}

std::string trees_of(const CandidateResult& candidate) {
  if (trees_in(candidate) == 1) return fmt::format("one tree {} deep", candidate.depth);
  return fmt::format(
      "{}{} {} deep", count_of_trees(candidate.reduce_trees, candidate.broadcast_trees),
      candidate.reduce_trees > 0 && candidate.broadcast_trees > 0 ? ", at most" : " up to",
      candidate.depth);
}

std::string time_of(const CandidateResult& candidate) {
  return fmt::format("{}{}", candidate.simulated ? "" : "at least ",
                     format_duration(candidate.makespan));
}

// Compares the choice with the optimal packing. If the packing itself was chosen and has several
// trees: with the best single tree.
std::string reason(const Choice& choice) {
  const CandidateResult& own = choice.candidates.front();
  const auto others = std::span(choice.candidates).subspan(1);
  if (own.algorithm != "optimal") {
    const auto packing =
        std::ranges::find(others, std::string_view("optimal"), &CandidateResult::algorithm);
    if (packing == others.end()) return {};
    constexpr double kMuchFaster = 1.025;
    const bool is_faster = packing->makespan.value * kMuchFaster < own.makespan.value;
    const std::string_view why = is_faster ? "slower where sends share ports"
                                 : packing->makespan <= own.makespan ? "as fast, but less robust"
                                 : packing->depth > own.depth ? "deeper trees take longer to fill"
                                 : trees_in(*packing) > trees_in(own)
                                     ? "its trees compete for ports and links"
                                     : "its trees are chosen for throughput only";
    return fmt::format("; the optimal packing, {}, would need {}: {}", trees_of(*packing),
                       time_of(*packing), why);
  }
  if (is_single(own)) return {};
  const auto single = std::ranges::find_if(others, is_single);
  if (single == others.end()) return {};
  return fmt::format("; the best single tree{}, {}, would need {}",
                     trees_in(*single) > 1 ? " in each direction" : "", single->algorithm,
                     time_of(*single));
}

}  // namespace

Choice choose_in_sight(simulate::ChoiceOptions options, const Console& console,
                       const Choosing& choose) {
  ProgressLine line(console, "plan");
  options.limits.deadline = line.follow(options.limits.deadline);
  options.on_progress = [&line](Seconds elapsed, std::string_view text) {
    line.show(elapsed, text);
  };
  Choice choice = choose(options);
  for (const CandidateResult& candidate : choice.candidates) {
    console.detail(fmt::format(
        "{}: {}, {}{}", label_of(candidate), trees_of(candidate),
        candidate.simulated ? fmt::format("segments of {}: ", format_size(candidate.segment)) : "",
        time_of(candidate)));
  }
  if (!choice.complete) {
    console.warn(fmt::format("{} before all plans and segment sizes were tried",
                             end_of_time(interrupted())));
  }
  return choice;
}

std::string choice_text(const Choice& choice, Bytes message,
                        std::optional<BytesPerSecond> compute) {
  const CandidateResult& own = choice.candidates.front();
  std::string text =
      fmt::format("{} in {}{}: {} ({}), segments of {}{}\n", format_size(message),
                  choice.extrapolated ? "about " : "", format_duration(choice.makespan),
                  label_of(own), trees_of(own), format_size(choice.plan.segment), reason(choice));
  if (choice.overhead.value > 0) {
    text += fmt::format("assumed: {} per segment on links without an overhead (--overhead)\n",
                        format_duration(choice.overhead));
  }
  if (compute)
    text += fmt::format("assumed: hosts combine at {} (--compute)\n", format_rate(*compute));
  return text;
}

Json choice_json(const Choice& choice, Bytes message, std::optional<BytesPerSecond> compute) {
  const bool has_formula = choice.formula_segment.value > 0;
  const Json formula_bytes = has_formula ? Json(choice.formula_segment.value) : Json();
  Json candidates = Json::array();
  for (const CandidateResult& candidate : choice.candidates) {
    candidates.push_back({{"algorithm", label_of(candidate)},
                          {"trees", trees_in(candidate)},
                          {"reduce_trees", candidate.reduce_trees},
                          {"depth", candidate.depth},
                          {"segment_bytes", candidate.segment.value},
                          {"slice_bytes", candidate.segment.value},
                          {"makespan_s", candidate.makespan.value},
                          {"simulated", candidate.simulated}});
  }
  return {{"message_bytes", message.value},
          {"algorithm", label_of(choice.candidates.front())},
          {"segment_bytes", choice.plan.segment.value},
          {"slice_bytes", choice.plan.segment.value},
          {"makespan_s", choice.makespan.value},
          {"extrapolated", choice.extrapolated},
          {"overhead_s", choice.overhead.value},
          {"compute_Bps", compute ? Json(compute->value) : Json()},
          {"formula_segment_bytes", formula_bytes},
          {"formula_slice_bytes", formula_bytes},
          {"formula_makespan_s", has_formula ? Json(choice.formula_makespan.value) : Json()},
          {"simulations", choice.simulations},
          {"complete", choice.complete},
          {"candidates", candidates},
          {"rivals", candidates}};
}

}  // namespace espalier::cli
