#include "cli/espalier/reports/page_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cli/espalier/reports/explanation.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/explain/explain.hpp"
#include "planner/explain/plan_loss.hpp"
#include "simulate/model/overhead.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

using platforms::Platform;

Json lines_json(std::string_view text) {
  Json lines = Json::array();
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// What `explain --plan` says before its tables.
template <class Problem>
Json loss_sentences(const LoadedPlan& one, const Problem& problem,
                    const planner::Explanation& explanation) {
  Report report;
  add_plan_loss(report, one,
                planner::loss_of(one.plan, one.report.loads, problem, explanation.optimum), 0);
  const std::string text = report.text();
  return lines_json(std::string_view(text).substr(0, text.find("\n\n")));
}

template <class Problem>
Json facts_of(const Problem& problem, const PageProblem& page, std::span<const LoadedPlan> plans,
              const Console& console) {
  const planner::Explanation explanation = explain_timed(problem, page.top, page.limits, console);
  const Platform& platform = problem.platform();
  std::vector<planner::ResourceLoad> resources;
  for (const platforms::Resource& resource : problem.occupation().resources) {
    resources.push_back({resource, 0});
  }
  const std::vector<double> prices =
      planner::prices_by_row(explanation.optimum.prices, resources.size());
  const Report report = explanation_report(problem, explanation);
  Json losses = Json::object();
  for (std::size_t i = 0; i < plans.size() && explanation.optimum.bound; ++i) {
    if (!is_for(plans[i].plan, page, platform)) continue;
    losses[std::to_string(i)] = loss_sentences(plans[i], problem, explanation);
  }
  return {{"operation", planner::name_of(page.operation)},
          {"source", page.root ? Json(platform.node(*page.root).name) : Json()},
          {"model", platforms::name_of(page.model)},
          {"sentences", lines_json(limits_text(explanation, page.operation))},
          {"best", lines_json(best_upgrades_text(explanation))},
          {"report", report.json()},
          {"resources", render::resource_facts(resources, prices, platform)},
          {"losses", std::move(losses)}};
}

// As a shell reads it.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+-@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  return in_shell_quotes(text);
}

}  // namespace

bool is_for(const planner::Plan& plan, const PageProblem& problem, const Platform& platform) {
  if (plan.operation != problem.operation || !planner::misfits(plan, platform).empty()) {
    return false;  // perhaps for as many other hosts
  }
  const bool segments_matter =
      problem.occupation.latency_occupies || simulate::names_overhead(platform);
  const planner::Receipts receipts = planner::receipts_of(plan, platform);
  return planner::root_of(plan, platform) == problem.root &&
         receipts.shares == problem.receipts.shares &&
         receipts.receivers == problem.receipts.receivers &&
         plan.model == platforms::name_of(problem.model) &&
         (!segments_matter || plan.segment == problem.occupation.segment) &&
         plan.latency_occupies == problem.occupation.latency_occupies;
}

Json problem_facts(const PageProblem& problem, const Platform& platform,
                   std::span<const LoadedPlan> plans, const Console& console) {
  return planner::on_problem(problem.operation, platform, problem.root, problem.model,
                             problem.occupation, problem.receipts, [&](const auto& solved) {
                               return facts_of(solved, problem, plans, console);
                             });
}

Json plan_facts(const LoadedPlan& one, const Platform& platform, render::PageContents& contents) {
  const planner::Plan& plan = one.plan;
  Json facts = report_on(plan).json();
  facts["file"] = one.file;
  facts["optimum_Bps"] = *Cell(plan.optimum).json;
  facts["throughput_Bps"] = plan.throughput.value;
  facts["relative"] = number_or_null(1 - gap_of(plan.throughput, plan.optimum));
  facts["depth"] = one.report.depth;
  facts["trees_in_all"] = one.report.trees;
  facts["segment_bytes"] = plan.segment.value;
  if (one.report.cost) {
    facts["cost_per_GB"] = one.report.cost->per_GB;
    facts["currency"] = one.report.cost->currency;
  }
  facts["busiest"] =
      fmt::format("{}: {}", one.report.busiest_resource, percent(one.report.busiest_load));
  facts["trees"] = render::tree_facts(plan, platform, contents);
  facts["resources"] = render::resource_facts(planner::loads_of(plan, platform), {}, platform);
  return facts;
}

Json command_facts(const std::string& platform_file, const PageProblem& problem,
                   const Platform& platform, std::span<const LoadedPlan> plans) {
  const std::string file = shell_word(platform_file);
  std::string what;
  if (problem.operation != planner::Operation::kBroadcast) {
    what += fmt::format(" --operation {}", planner::name_of(problem.operation));
  }
  if (problem.root) {
    what += fmt::format(" --source {}", shell_word(platform.node(*problem.root).name));
  }
  const std::string model = fmt::format(" --model {}", platforms::name_of(problem.model));
  Json commands = Json::array();
  const auto add = [&](const std::string& why, const std::string& command) {
    commands.push_back({{"why", why}, {"command", "espalier " + command}});
  };
  if (plans.empty()) {
    add("Make the best plan.", fmt::format("plan {}{}{} -o plan.json", file, what, model));
    add("The same with few trees, which are easier to run.",
        fmt::format("plan {}{}{} --max-trees 1,2,4,8 -o plan.json", file, what, model));
  }
  for (const LoadedPlan& one : plans) {
    const std::string plan = shell_word(one.file);
    add(fmt::format("How long {} takes, and a trace for this page.", one.file),
        fmt::format("simulate {} --platform {} --message 1GiB --segment 16MiB --trace trace.json",
                    plan, file));
    add(fmt::format("Where {} loses.", one.file), fmt::format("explain {} --plan {}", file, plan));
  }
  add("More of the bottlenecks, and what raising them by 10 % or twofold gains.",
      fmt::format("explain {}{}{} --top 20", file, what, model));
  if (problem.root && !planner::has_parts(problem.operation)) {
    add("Which host would be the best source.",
        fmt::format("explain {} --operation {} --source each{}", file,
                    planner::name_of(problem.operation), model));
  }
  if (platform.has_prices()) {
    add("What less money gives.",
        fmt::format("compare {}{}{} --algorithm optimal --frontier", file, what, model));
  }
  return commands;
}

}  // namespace espalier::cli
