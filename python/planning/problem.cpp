#include "python/planning/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/schedule/makespan.hpp"
#include "planner/solve/budget.hpp"
#include "python/planning/given_tree.hpp"
#include "python/planning/interrupts.hpp"
#include "simulate/search/choose_blocks.hpp"
#include "simulate/search/choose_plan.hpp"
#include "support/errors.hpp"

namespace espalier::python {

namespace {

using planner::Operation;

std::vector<platforms::NodeId> hosts_named(const platforms::Platform& platform,
                                           const std::vector<std::string>& names,
                                           std::string_view what) {
  std::vector<platforms::NodeId> hosts;
  for (const std::string& name : names) {
    hosts.push_back(planner::source_named(platform, name, what));
  }
  std::ranges::sort(hosts);
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

std::optional<Seconds> seconds(const std::optional<double>& value) {
  return value ? std::optional(Seconds{*value}) : std::nullopt;
}

template <class AnyProblem>
Made made_of(const AnyProblem& problem, std::string_view algorithm, const Options& options,
             const planner::Outcome& outcome) {
  std::optional<Seconds> makespan;
  if (options.message_bytes) {
    makespan = planner::makespan_of(outcome, problem, Bytes{*options.message_bytes});
  }
  return {planner::make_plan(problem, algorithm, outcome, problem.options().segment), outcome.ends,
          0, makespan ? std::optional(makespan->value) : std::nullopt};
}

}  // namespace

planner::AlgorithmOptions Options::limits(Clock& clock) const {
  planner::AlgorithmOptions limits;
  if (gap) {
    if (!(*gap >= 0 && *gap < 1)) throw InputError("gap must be at least 0 and below 1");
    limits.gap = *gap;
    limits.dense_gap = *gap;
  }
  if (time_limit_s && !(*time_limit_s > 0)) throw InputError("time_limit must be above 0");
  if (chains == 0) throw InputError("k-chain needs at least one chain");
  if (message_bytes && *message_bytes == 0) throw InputError("a message has at least one byte");
  limits.deadline = Deadline(seconds(time_limit_s), &clock);
  limits.max_trees = max_trees;
  limits.max_depth = max_depth;
  limits.max_latency = seconds(max_latency_s);
  limits.chains = chains;
  limits.message = Bytes{message_bytes.value_or(limits.message.value)};
  if (guided_by) limits.guided_by = platforms::parse_model(*guided_by);
  return limits;
}

Problem::Problem(Network whole, const Question& question)
    : network_(std::move(whole)),
      operation_(planner::parse_operation(question.operation)),
      model_(platforms::parse_model(question.model)),
      chooses_segment_(!question.segment_bytes),
      occupation_{.segment = Bytes{question.segment_bytes.value_or(planner::kDefaultSegment.value)},
                  .latency_occupies = question.latency_occupies},
      shares_(question.counts) {
  if (occupation_.segment.value == 0) throw InputError("a segment has at least one byte");
  const std::string operation = planner::with_article(operation_);
  if (std::ranges::find(planner::kEveryOperation, operation_) == planner::kEveryOperation.end()) {
    throw InputError(fmt::format("{} is planned on the command line only", operation));
  }
  if (!planner::may_have_root(operation_) && question.source) {
    throw InputError(fmt::format("{} has no source: every host is a root", operation));
  }
  if (planner::needs_root(operation_) && !question.source) {
    throw InputError(fmt::format("{} needs a source", operation));
  }
  if (!shares_.empty() && !planner::has_parts(operation_)) {
    throw InputError(
        fmt::format("counts: {} has one message, not a part for each host", operation));
  }
  if (question.source) root_ = planner::source_named(*network_, *question.source);
  take_receivers(question);
  on([](const auto& /*problem*/) {});  // its constructor checks the rest
}

void Problem::take_receivers(const Question& question) {
  if (question.to.empty()) {
    if (question.helpers) throw InputError("helpers needs to");
    return;
  }
  if (operation_ != Operation::kBroadcast) {
    throw InputError(fmt::format("to is for a broadcast; {} concerns all hosts",
                                 planner::with_article(operation_)));
  }
  const auto all = network_->hosts();
  const std::vector<platforms::NodeId> helpers =
      question.helpers ? hosts_named(*network_, *question.helpers, "helper")
                       : std::vector(all.begin(), all.end());
  const std::string source = network_->node(*root_).name;
  network_ = std::make_shared<const platforms::Platform>(
      planner::part_for(*network_, model_, occupation_, *root_,
                        hosts_named(*network_, question.to, "host"), helpers));
  root_ = planner::source_named(*network_, source);
  receivers_ = hosts_named(*network_, question.to, "host");
  // Where nobody can help, it is a broadcast to all hosts of the part.
  if (receivers_.size() + 1 == network_->hosts().size()) receivers_.clear();
}

Problem Problem::of(const planner::Plan& plan, Network whole) {
  auto network = std::make_shared<const platforms::Platform>(planner::platform_of(plan, *whole));
  return {std::move(network),
          {.operation = std::string(planner::name_of(plan.operation)),
           .source = plan.source.empty() ? std::nullopt : std::optional(plan.source),
           .model = plan.model,
           .segment_bytes = plan.segment.value,
           .latency_occupies = plan.latency_occupies}};
}

std::vector<std::string> Problem::algorithms(const std::string& list) const {
  std::vector<planner::Algorithm> found = planner::parse_algorithms(list, operation_);
  std::ranges::sort(found);
  std::vector<std::string> names;
  on([&](const auto& problem) {
    for (const planner::Algorithm& algorithm : found) {
      if (list == "all" && !planner::is_for(algorithm, problem)) continue;
      names.push_back(algorithm.name);
    }
  });
  return names;
}

Made Problem::plan_for_money(const Options& options, Clock& clock) const {
  const planner::MoneyProblem priced{operation_, *network_,   root_,
                                     model_,     occupation_, {shares_, receivers_}};
  const planner::MoneyOptions how{options.limits(clock)};
  planner::Outcome outcome;
  if (options.budget_per_GB) {
    if (!(*options.budget_per_GB > 0)) throw InputError("budget must be above 0");
    outcome = planner::within_budget(priced, *options.budget_per_GB, how).outcome;
  } else {
    if (!options.message_bytes) throw InputError("deadline needs a message");
    if (!(*options.deadline_s > 0)) throw InputError("deadline must be above 0");
    const double bytes = static_cast<double>(*options.message_bytes);
    outcome = planner::cheapest_at(priced, {bytes / *options.deadline_s}, how).outcome;
  }
  Made made = on(
      [&](const auto& problem) { return made_of(problem, planner::kOptimal, options, outcome); });
  made.plan.cost->budget_per_GB = options.budget_per_GB;
  return made;
}

Made Problem::plan(const std::string& name, const Options& options) const {
  const planner::Algorithm algorithm = planner::find_algorithm(name, operation_);
  const bool is_optimal = algorithm.entry->name == planner::kOptimal;
  if ((options.max_depth > 0 || options.max_latency_s || options.budget_per_GB ||
       options.deadline_s) &&
      !is_optimal) {
    throw InputError(
        fmt::format("'{}' limits neither depth, latency nor costs; use 'optimal'", algorithm.name));
  }
  const bool has_one_root = root_ && !planner::has_parts(operation_) && receivers_.empty();
  if ((options.max_depth > 0 || options.max_latency_s || options.schedule) && !has_one_root) {
    throw InputError(
        "max_depth, max_latency and schedule are for operations with one root and one message, "
        "without helpers");
  }
  if (options.max_depth > 0 && options.max_latency_s) {
    throw InputError("max_latency cannot be combined with max_depth; give one of them");
  }
  return unlocked([&](Clock& clock) {
    const Stopwatch watch;
    if (options.budget_per_GB || options.deadline_s) {
      Made made = plan_for_money(options, clock);
      made.seconds = watch.elapsed().value;
      return made;
    }
    return on([&](const auto& problem) {
      const planner::AlgorithmOptions limits = options.limits(clock);
      Made made = made_of(problem, algorithm.name, options, run(algorithm, problem, limits));
      if constexpr (std::is_same_v<std::decay_t<decltype(problem)>, planner::Collective>) {
        if (options.schedule) {
          made.plan.schedule =
              planner::make_schedule(problem, made.plan, {.deadline = limits.deadline.restarted()});
        }
      }
      made.seconds = watch.elapsed().value;
      return made;
    });
  });
}

Made Problem::choose(const std::optional<std::string>& algorithm, const Options& options) const {
  if (!receivers_.empty()) {
    throw InputError("message cannot be combined with helpers yet; give helpers=[]");
  }
  if (options.schedule) throw InputError("schedule cannot be combined with message");
  return unlocked([&](Clock& clock) {
    const Stopwatch watch;
    simulate::ChoiceOptions how;
    if (algorithm) how.algorithms = {planner::find_algorithm(*algorithm, operation_)};
    if (!chooses_segment_) how.run.segment = occupation_.segment;
    how.overhead = seconds(options.overhead_s);
    if (options.compute_Bps) how.run.compute = BytesPerSecond{*options.compute_Bps};
    how.limits = options.limits(clock);
    const Bytes message = how.limits.message;
    simulate::Choice choice =
        on([&](const auto& problem) { return simulate::choose_plan(problem, message, how); });
    planner::Ends ends = choice.outcome.ends;
    if (!choice.complete) ends.search = planner::Termination::kTimeLimit;
    return Made{std::move(choice.plan), ends, watch.elapsed().value, choice.makespan.value};
  });
}

Made Problem::plan_along(const std::string& algorithm, const std::vector<planner::PlanEdge>& edges,
                         const Options& options) const {
  return on([&](const auto& problem) -> Made {
    if constexpr (std::is_same_v<std::decay_t<decltype(problem)>, planner::Collective>) {
      return made_of(problem, algorithm, options, outcome_along(problem, algorithm, edges));
    } else {
      throw InputError(fmt::format(
          "{}: one tree is a plan only of an operation with one root and one message", algorithm));
    }
  });
}

Proof Problem::bound(const Options& options, std::size_t top) const {
  return unlocked([&](Clock& clock) {
    const Stopwatch watch;
    std::optional<double> money_per_s;
    std::optional<planner::Outcome> within;
    if (options.budget_per_GB) {
      const planner::MoneyProblem priced{operation_, *network_,   root_,
                                         model_,     occupation_, {shares_, receivers_}};
      planner::PlanWithinBudget found = planner::within_budget(
          priced, *options.budget_per_GB, {{options.limits(clock)}, /*plan=*/false});
      within = std::move(found.outcome);
      money_per_s = found.money_per_s;
    }
    return on(
        [&](const auto& problem) {
          Proof proof;
          proof.outcome =
              within ? *std::move(within) : planner::prove_optimum(problem, options.limits(clock));
          proof.throughput = planner::throughput_of(proof.outcome);
          proof.prices = planner::highest_priced_resources(problem.platform(), problem.occupation(),
                                                           proof.outcome, top);
          if (!money_per_s) proof.cuts = planner::binding_cuts(problem, proof.outcome, top);
          proof.seconds = watch.elapsed().value;
          return proof;
        },
        money_per_s);
  });
}

Explained Problem::explain(const Options& options, std::size_t top,
                           const planner::Plan* plan) const {
  return unlocked([&](Clock& clock) {
    const Stopwatch watch;
    planner::ExplainOptions how;
    how.top = top;
    how.limits = options.limits(clock);
    return on([&](const auto& problem) {
      std::vector<double> loads;
      if (plan != nullptr) {
        const planner::VerifyReport report =
            planner::verify(*plan, problem.platform(), {.prove = false});
        if (!report.faults.empty()) throw CheckFailed("the plan: " + report.faults.front());
        loads = report.loads;
      }
      Explained explained{planner::explain(problem, how)};
      const planner::Outcome& optimum = explained.explanation.optimum;
      if (plan != nullptr && optimum.bound) {
        explained.loss = planner::loss_of(*plan, loads, problem, optimum);
      }
      explained.seconds = watch.elapsed().value;
      return explained;
    });
  });
}

std::vector<planner::RankedSource> Problem::rank(const std::vector<std::string>& sources,
                                                 const Options& options) const {
  if (planner::has_parts(operation_) || !receivers_.empty()) {
    throw InputError("sources are ranked for a broadcast, a reduce or an allreduce, to all hosts");
  }
  std::vector<platforms::NodeId> nodes;
  for (const std::string& name : sources) {
    nodes.push_back(planner::source_named(*network_, name));
  }
  return unlocked([&](Clock& clock) {
    return planner::rank_sources(operation_, *network_, nodes, model_, occupation_,
                                 options.limits(clock));
  });
}

}  // namespace espalier::python
