#include "cli/plan_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/options.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using simulate::Choice;
using simulate::Rival;

std::string trees_of(const Rival& rival) {
  return rival.trees == 1 ? fmt::format("one tree {} deep", rival.depth)
                          : fmt::format("{} trees up to {} deep", rival.trees, rival.depth);
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
    const std::string_view why = packing->depth > own.depth ? "deeper trees take longer to fill"
                                 : packing->trees > own.trees
                                     ? "its trees wait for each other"
                                     : "its trees are made for throughput alone";
    return fmt::format("; the optimal packing, {}, would need {}: {}", trees_of(*packing),
                       time_of(*packing), why);
  }
  if (own.trees == 1) return {};
  const auto single = std::ranges::find(others, std::size_t{1}, &Rival::trees);
  if (single == others.end()) return {};
  return fmt::format("; the best of one tree, {}, would need {}", single->algorithm,
                     time_of(*single));
}

}  // namespace

simulate::Choice choose_for(const planner::Instance& instance, Bytes message,
                            simulate::ChoiceOptions options, const Console& console) {
  ProgressLine line(console, "plan");
  options.on_progress = [&line](Seconds elapsed, std::string_view text) {
    line.show(elapsed, fmt::format("{:.1f} s, {}", elapsed.value, text));
  };
  Choice choice = simulate::choose_plan(instance.platform(), instance.source(), instance.model(),
                                        instance.options().latency_occupies, message, options);
  for (const Rival& rival : choice.rivals) {
    console.detail(fmt::format("{}: {}, slices of {}: {}", rival.algorithm, trees_of(rival),
                               format_size(rival.slice), time_of(rival)));
  }
  if (!choice.complete) {
    console.warn("the time limit came before all plans and slices were tried");
  }
  return choice;
}

std::string choice_text(const Choice& choice, Bytes message) {
  const Rival& own = choice.rivals.front();
  std::string text =
      fmt::format("{} in {}{}: {} ({}), slices of {}{}\n", format_size(message),
                  choice.extrapolated ? "about " : "", format_duration(choice.makespan),
                  own.algorithm, trees_of(own), format_size(choice.plan.slice), reason(choice));
  if (choice.overhead.value > 0) {
    text += fmt::format("counted: {} a slice on links that name no overhead (--overhead)\n",
                        format_duration(choice.overhead));
  }
  return text;
}

Json choice_json(const Choice& choice, Bytes message) {
  Json rivals = Json::array();
  for (const Rival& rival : choice.rivals) {
    rivals.push_back({{"algorithm", rival.algorithm},
                      {"trees", rival.trees},
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
          {"formula_slice_bytes", choice.formula_slice.value},
          {"formula_makespan_s", choice.formula_makespan.value},
          {"simulations", choice.simulations},
          {"complete", choice.complete},
          {"rivals", std::move(rivals)}};
}

Seconds parse_overhead(const std::string& text) {
  const Seconds overhead = parse_option("--overhead", text, parse_duration);
  if (!(overhead.value >= 0) || !std::isfinite(overhead.value)) {
    throw InputError({}, "--overhead", "must not be negative");
  }
  return overhead;
}

}  // namespace espalier::cli
