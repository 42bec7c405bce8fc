#include "cli/espalier/plan_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/espalier/options.hpp"
#include "cli/espalier/run.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using simulate::Choice;
using simulate::Rival;

// One of each kind that there is.
bool is_single(const Rival& rival) {
  return rival.reduce_trees <= 1 && rival.broadcast_trees <= 1;
}

std::size_t trees_in(const Rival& rival) {
  return rival.reduce_trees + rival.broadcast_trees;
}

std::string trees_of(const Rival& rival) {
  if (trees_in(rival) == 1) return fmt::format("one tree {} deep", rival.depth);
  return fmt::format("{}{} {} deep", count_of_trees(rival.reduce_trees, rival.broadcast_trees),
                     rival.reduce_trees > 0 && rival.broadcast_trees > 0 ? ", at most" : " up to",
                     rival.depth);
}

std::string time_of(const Rival& rival) {
  return fmt::format("{}{}", rival.simulated ? "" : "at least ", format_duration(rival.makespan));
}

// Against the packing; where that is the choice, and has several trees, against the best of one.
std::string reason(const Choice& choice) {
  const Rival& own = choice.rivals.front();
  const auto others = std::span(choice.rivals).subspan(1);
  if (own.algorithm != "optimal") {
    const auto packing = std::ranges::find(others, std::string_view("optimal"), &Rival::algorithm);
    if (packing == others.end()) return {};
    const std::string_view why = packing->makespan <= own.makespan ? "as good, but less sure"
                                 : packing->depth > own.depth ? "deeper trees take longer to fill"
                                 : trees_in(*packing) > trees_in(own)
                                     ? "its trees wait for each other"
                                     : "its trees are made for throughput alone";
    return fmt::format("; the optimal packing, {}, would need {}: {}", trees_of(*packing),
                       time_of(*packing), why);
  }
  if (is_single(own)) return {};
  const auto single = std::ranges::find_if(others, is_single);
  if (single == others.end()) return {};
  return fmt::format("; the best of one tree{}, {}, would need {}",
                     trees_in(*single) > 1 ? " each way" : "", single->algorithm, time_of(*single));
}

}  // namespace

simulate::Choice choose_for(const planner::Collective& collective, Bytes message,
                            simulate::ChoiceOptions options, const Console& console) {
  ProgressLine line(console, "plan");
  options.on_progress = [&line](Seconds elapsed, std::string_view text) {
    line.show(elapsed, fmt::format("{:.1f} s, {}", elapsed.value, text));
  };
  options.operation = collective.operation();
  Choice choice =
      simulate::choose_plan(collective.platform(), collective.source(), collective.model(),
                            collective.options().latency_occupies, message, options);
  for (const Rival& rival : choice.rivals) {
    console.detail(fmt::format("{}: {}, slices of {}: {}", rival.algorithm, trees_of(rival),
                               format_size(rival.slice), time_of(rival)));
  }
  if (!choice.complete) {
    console.warn("the time limit came before all plans and slices were tried");
  }
  return choice;
}

std::string choice_text(const Choice& choice, Bytes message,
                        std::optional<BytesPerSecond> compute) {
  const Rival& own = choice.rivals.front();
  std::string text =
      fmt::format("{} in {}{}: {} ({}), slices of {}{}\n", format_size(message),
                  choice.extrapolated ? "about " : "", format_duration(choice.makespan),
                  own.algorithm, trees_of(own), format_size(choice.plan.slice), reason(choice));
  if (choice.overhead.value > 0) {
    text += fmt::format("counted: {} a slice on links that name no overhead (--overhead)\n",
                        format_duration(choice.overhead));
  }
  if (compute)
    text += fmt::format("counted: hosts combine at {} (--compute)\n", format_rate(*compute));
  return text;
}

Json choice_json(const Choice& choice, Bytes message, std::optional<BytesPerSecond> compute) {
  Json rivals = Json::array();
  for (const Rival& rival : choice.rivals) {
    rivals.push_back({{"algorithm", rival.algorithm},
                      {"trees", trees_in(rival)},
                      {"reduce_trees", rival.reduce_trees},
                      {"depth", rival.depth},
                      {"slice_bytes", rival.slice.value},
                      {"makespan_s", rival.makespan.value},
                      {"simulated", rival.simulated}});
  }
  return {{"message_bytes", message.value},
          {"algorithm", choice.rivals.front().algorithm},
          {"slice_bytes", choice.plan.slice.value},
          {"makespan_s", choice.makespan.value},
          {"extrapolated", choice.extrapolated},
          {"overhead_s", choice.overhead.value},
          {"compute_Bps", compute ? Json(compute->value) : Json()},
          {"formula_slice_bytes", choice.formula_slice.value},
          {"formula_makespan_s", choice.formula_makespan.value},
          {"simulations", choice.simulations},
          {"complete", choice.complete},
          {"rivals", std::move(rivals)}};
}

BytesPerSecond parse_compute(const std::string& text) {
  const BytesPerSecond compute = parse_option("--compute", text, parse_rate);
  if (!(compute.value > 0)) throw InputError({}, "--compute", "must be above zero");
  return compute;
}

Seconds parse_overhead(const std::string& text) {
  return parse_span("--overhead", text);
}

}  // namespace espalier::cli
