#include "planner/check/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify_schedule.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/solve/budget.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

namespace {

using platforms::Platform;

class Verifier {
 public:
  Verifier(const Plan& plan, const Platform& platform, const VerifyOptions& options)
      : plan_(plan), platform_(platform), options_(options) {}

  VerifyReport run() {
    if (!names_fit() || !passes(check_structure)) return report_;
    count_shape();
    check_on_problem();
    passes(check_colors);
    return report_;
  }

 private:
  void add_fault(const std::string& place, const std::string& reason) {
    report_.faults.push_back(place + ": " + reason);
  }

  // Whether the plan alone passes; its fault is added otherwise.
  bool passes(void (*check)(const Plan&, const std::string&)) {
    try {
      check(plan_, {});
      return true;
    } catch (const InputError& fault) {
      report_.faults.emplace_back(fault.what());
      return false;
    }
  }

  bool names_fit() {
    for (const InputError& fault : misfits(plan_, platform_)) {
      report_.faults.emplace_back(fault.what());
    }
    if (plan_.nodes.size() != platform_.hosts().size()) return false;
    try {
      if (!plan_.algorithm.starts_with(kOwnAlgorithm)) {
        static_cast<void>(find_algorithm(plan_.algorithm, plan_.operation));
      }
    } catch (const InputError& error) {
      add_fault("/algorithm", error.what());
    }
    return report_.faults.empty();
  }

  void count_shape() {
    report_.trees = tree_count(plan_);
    const TreeFigures figures = figures_of(plan_);
    report_.depth = figures.depth;
    report_.out_degree = figures.out_degree;
  }

  void check_on_problem() {
    std::string_view place = "/model";
    try {
      const platforms::Model model = platforms::parse_model(plan_.model);
      place = plan_.has_one_root() ? "/source" : "/blocks";
      on_problem(plan_.operation, platform_, root_of(plan_, platform_), model,
                 platforms::OccupationOptions{plan_.segment, plan_.latency_occupies},
                 receipts_of(plan_, platform_), [&](const auto& problem) {
                   place = {};
                   check_on(problem);
                 });
    } catch (const Error& error) {
      if (place.empty()) throw;
      add_fault(std::string(place), error.what());
    }
  }

  template <class Problem>
  void check_on(const Problem& problem) {
    if (!follow_edges()) return;
    weigh(problem.occupation());
    check_schedule(problem);
    check_cost();
    check_optimum(problem);
  }

  // Every edge must consist of arcs of the platform, found from its ends and its `via` alone.
  bool follow_edges() {
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      for (std::size_t t = 0; t < kind.trees->size(); ++t) {
        follow_tree((*kind.trees)[t], kind.up, kind.key, t);
      }
    }
    return report_.faults.empty();
  }

  void follow_tree(const PlanTree& tree, bool up, std::string_view key, std::size_t place) {
    for (std::size_t e = 0; e < tree.edges.size(); ++e) {
      try {
        check_latency(tree, e, arcs_along(platform_, tree, tree.edges[e], up),
                      fmt::format("/{}/{}/latencies_s/{}", key, place, e));
      } catch (const InputError& error) {
        add_fault(fmt::format("/{}/{}/edges/{}", key, place, e), error.what());
      }
    }
  }

  void check_latency(const PlanTree& tree, std::size_t edge, std::span<const std::uint32_t> arcs,
                     const std::string& place) {
    if (tree.latencies.empty()) return;
    const Seconds claimed = tree.latency(edge);
    const Seconds found = platforms::latency_along(platform_, arcs);
    if (std::abs(claimed.value - found.value) <= options_.tolerance * found.value) return;
    add_fault(place, fmt::format("the plan states {}; the links of the path have {}",
                                 format_duration(claimed), format_duration(found)));
  }

  // The throughput that the rates of the trees, or of the blocks, give: the least of each kind.
  [[nodiscard]] double carried() const {
    double least = std::numeric_limits<double>::infinity();
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      if (kind.trees->empty()) continue;
      double sum = 0;
      for (const PlanTree& tree : *kind.trees) sum += tree.rate.value;
      least = std::min(least, sum / kind.share);
    }
    return least;
  }

  void weigh(const platforms::Occupation& occupation) {
    const std::vector<ResourceLoad> loads = loads_of(plan_, platform_, occupation);
    for (const ResourceLoad& load : loads) report_.loads.push_back(load.load);
    if (loads.empty()) return;  // a single host
    const auto busiest = std::ranges::max_element(loads, {}, &ResourceLoad::load);
    report_.busiest_load = busiest->load;
    report_.busiest_resource = platforms::describe(busiest->resource, platform_);
    report_.throughput = {carried() / std::max(1.0, report_.busiest_load)};
    if (report_.busiest_load > 1 + options_.tolerance) {
      add_fault(!plan_.has_one_root()         ? "/blocks"
                : broadcasts(plan_.operation) ? "/broadcast_trees"
                                              : "/reduce_trees",
                fmt::format("the rates load {} to {} of its capacity; throughput at most {}",
                            report_.busiest_resource, fixed(report_.busiest_load, 6),
                            format_rate(report_.throughput)));
    }
  }

  // From the links that the trees take.
  void check_cost() {
    if (report_.throughput.value > 0) report_.cost = cost_on(plan_, platform_);
    if (!plan_.cost) return;
    if (!report_.cost) {
      add_fault("/cost_per_GB", "the platform has no prices; give --prices FILE");
      return;
    }
    const auto compare = [&](const char* place, double claimed, double found) {
      if (std::abs(claimed - found) <= options_.tolerance * found) return;
      add_fault(place, fmt::format("the plan states {}; it is {}", claimed, found));
    };
    compare("/cost_per_GB", plan_.cost->per_GB, report_.cost->per_GB);
    compare("/cost_per_hour", plan_.cost->per_hour, report_.cost->per_hour);
    if (plan_.cost->currency != report_.cost->currency) {
      add_fault("/currency",
                fmt::format("the plan states {}; the platform's is {}",
                            in_quotes(plan_.cost->currency), in_quotes(report_.cost->currency)));
    }
    const std::optional<double>& budget = plan_.cost->budget_per_GB;
    report_.cost->budget_per_GB = budget;
    if (budget && report_.cost->per_GB > *budget * (1 + MoneyOptions{}.tolerance)) {
      add_fault("/budget_per_GB", fmt::format("the plan costs {}, more than its budget of {}",
                                              report_.cost->per_GB, *budget));
    }
  }

  template <class Problem>
  void check_schedule(const Problem& /*problem*/) {}  // with several roots there is none
  void check_schedule(const Collective& collective) {
    if (!plan_.schedule) return;
    const auto faults =
        faults_of_schedule(platform_, collective.model(), plan_, options_.tolerance);
    report_.faults.insert(report_.faults.end(), faults.begin(), faults.end());
    if (faults.empty()) report_.scheduled = plan_.schedule->throughput;
  }

  [[nodiscard]] std::vector<WeightedTree> weighted(const PlanTrees& kind) const {
    std::vector<WeightedTree> trees;
    for (const PlanTree& tree : *kind.trees) {
      trees.push_back({links_of(platform_, tree, kind.up), tree.rate});
    }
    return trees;
  }
  // The plan's trees may be as good as any, so that only the bound is left to prove.
  [[nodiscard]] Outcome prove(const Collective& collective) const {
    StartingTrees start;
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      for (const PlanTree& tree : *kind.trees) {
        (kind.up ? start.up : start.down).push_back(links_of(platform_, tree, kind.up));
      }
    }
    return prove_optimum(collective, options_.limits, start);
  }
  [[nodiscard]] Outcome prove(const AllRoots& problem) const {
    std::vector<BlockOfTrees> start;
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      start.push_back({kind.kind(), kind.root, weighted(kind)});
    }
    std::ranges::stable_sort(start, {}, &BlockOfTrees::root);
    return solve(problem, options_.limits, Purpose::kCheck, start);
  }

  [[nodiscard]] Outcome prove(const Multicast& problem) const {
    return solve(problem, options_.limits, weighted(trees_by_kind(plan_).front()));
  }
  [[nodiscard]] Outcome prove(const Routing& problem) const {
    return prove_optimum(problem, options_.limits);
  }

  // The optimum that the plan states is that of plans within its budget, where it has one.
  template <class Problem>
  [[nodiscard]] Outcome prove_as_planned(const Problem& problem) const {
    if (!report_.cost || !report_.cost->budget_per_GB) return prove(problem);
    const MoneyProblem priced{plan_.operation, platform_,         problem.root(),
                              problem.model(), problem.options(), receipts_of(plan_, platform_)};
    return within_budget(priced, *report_.cost->budget_per_GB, {{options_.limits}, /*plan=*/false})
        .outcome;
  }

  template <class Problem>
  void check_optimum(const Problem& problem) {
    constexpr double kSlack = 1e-5;  // more than two proofs with gap 1e-6 each may differ by
    const double throughput = report_.throughput.value;
    const bool below = plan_.optimum && plan_.optimum->value < throughput * (1 - kSlack);
    if (below) {
      add_fault("/optimum_Bps",
                fmt::format("{} is below the plan's own throughput {}", format_rate(*plan_.optimum),
                            format_rate({throughput})));
    }
    if (!options_.prove) return;
    const Outcome proof = prove_as_planned(problem);
    report_.bound = proof.bound;
    report_.proof = proof.ends;
    if (!plan_.optimum || below) return;
    const double reached = throughput_of(proof).value;
    // The stated bound may be looser than ours (a plan made under a time limit), but not tighter.
    if (plan_.optimum->value < reached * (1 - kSlack)) {
      add_fault("/optimum_Bps", fmt::format("the plan states an optimum of {}, but {} is reached",
                                            format_rate(*plan_.optimum), format_rate({reached})));
    }
  }

  const Plan& plan_;
  const Platform& platform_;
  const VerifyOptions& options_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify(const Plan& plan, const Platform& platform, const VerifyOptions& options) {
  if (plan.nodes.size() == platform.hosts().size()) return Verifier(plan, platform, options).run();
  const Platform part = platform_of(plan, platform);
  VerifyReport report = Verifier(plan, part, options).run();
  report.hosts_left_out = platform.hosts().size() - part.hosts().size();
  return report;
}

}  // namespace espalier::planner
