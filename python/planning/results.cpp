#include "python/planning/results.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "planner/solve/budget.hpp"
#include "platforms/core/faster.hpp"

namespace espalier::python {

namespace {

namespace py = pybind11;
using namespace pybind11::literals;  // NOLINT(google-build-using-namespace)

std::optional<double> value_of(const std::optional<BytesPerSecond>& rate) {
  return rate ? std::optional(rate->value) : std::nullopt;
}

// Whether no time limit, and no lack of numerical progress, cut it short.
bool is_complete(planner::Termination end) {
  return end <= planner::Termination::kTreeLimit;
}

// None where there is no bound, or it is infinite.
std::optional<double> gap_of(BytesPerSecond throughput,
                             const std::optional<BytesPerSecond>& bound) {
  if (!bound || !std::isfinite(bound->value)) return std::nullopt;
  return bound->value > 0 ? std::max(0.0, 1 - throughput.value / bound->value) : 0;
}

py::object cost_of(const std::optional<planner::PlanCost>& cost) {
  if (!cost) return py::none();
  return py::dict("per_GB"_a = cost->per_GB, "per_hour"_a = cost->per_hour,
                  "budget_per_GB"_a = cost->budget_per_GB, "currency"_a = cost->currency);
}

py::list list_of(const std::vector<planner::BindingCut>& cuts) {
  py::list list;
  for (const planner::BindingCut& cut : cuts) {
    list.append(py::dict("cut"_a = cut.name, "capacity_Bps"_a = cut.rate.value,
                         "hosts"_a = cut.hosts, "links"_a = cut.links.size(),
                         "sentence"_a = planner::sentence_of(cut)));
  }
  return list;
}

// What `bound` and `explain` have in common.
py::dict of_optimum(const planner::Outcome& optimum, BytesPerSecond reached,
                    const std::vector<planner::BindingCut>& cuts,
                    const platforms::Platform& platform) {
  return py::dict("optimum_Bps"_a = reached.value, "bound_Bps"_a = value_of(optimum.bound),
                  "bound_final"_a = optimum.bound && optimum.ends.is_bound_final(),
                  "gap"_a = gap_of(reached, optimum.bound),
                  "trees"_a = planner::tree_count(optimum), "cuts"_a = list_of(cuts),
                  "cost"_a = cost_of(planner::cost_of(optimum, platform)));
}

py::list edges_of(const planner::Plan& plan, const planner::PlanTree& tree, bool up) {
  py::list edges;
  for (const planner::PlanEdge edge : tree.edges) {
    const std::string& parent = plan.nodes[edge.parent];
    const std::string& child = plan.nodes[edge.child];
    edges.append(up ? py::make_tuple(child, parent) : py::make_tuple(parent, child));
  }
  return edges;
}

py::dict via_of(const planner::Plan& plan, const planner::PlanTree& tree, bool up) {
  py::dict via;
  for (const auto& [ends, names] : tree.via) {
    std::pair on_edge(plan.nodes[ends.first], plan.nodes[ends.second]);
    if (up) std::swap(on_edge.first, on_edge.second);
    via[py::cast(on_edge)] = names;
  }
  return via;
}

py::list trees_of(const planner::Plan& plan) {
  py::list trees;
  for (const planner::PlanTrees& block : planner::blocks_of(plan)) {
    for (const planner::PlanTree& tree : *block.trees) {
      trees.append(py::dict(
          "kind"_a = planner::name_of(block.kind()), "root"_a = plan.nodes[block.root],
          "share"_a = block.share, "rate_Bps"_a = tree.rate.value,
          "edges"_a = edges_of(plan, tree, block.up), "via"_a = via_of(plan, tree, block.up)));
    }
  }
  return trees;
}

void add_upgrade(const planner::Upgrade& upgrade, const planner::Explanation& explanation,
                 py::list& list) {
  const planner::Bottleneck& what = upgrade.what;
  py::list faster;
  for (const planner::WhatIf& one : upgrade.outcomes) {
    const planner::Gain gain = planner::gain_of(one, explanation);
    faster.append(py::dict("factor"_a = one.factor, "optimum_Bps"_a = one.optimum.value,
                           "bound_Bps"_a = one.bound.value, "gain"_a = gain.likely,
                           "least_gain"_a = gain.least, "most_gain"_a = gain.most));
  }
  list.append(py::dict("kind"_a = planner::name_of(what.kind), "name"_a = what.name,
                       "price"_a = what.price, "load"_a = what.load, "copies"_a = what.copies,
                       "copies_up"_a = what.copies_up, "resources"_a = what.size,
                       "raised"_a = platforms::describe(what.figures), "faster"_a = faster));
}

py::dict loss_of(const planner::PlanLoss& loss) {
  py::list idle;
  for (const planner::IdleResource& one : loss.idle_resources) {
    idle.append(py::dict("resource"_a = one.resource, "price"_a = one.price, "load"_a = one.load,
                         "loss_Bps"_a = one.loss.value));
  }
  py::list costly;
  for (const planner::CostlyEdge& one : loss.costly_edges) {
    costly.append(py::dict("edge"_a = one.edge, "rate_Bps"_a = one.rate.value, "cost"_a = one.cost,
                           "cheapest"_a = one.cheapest, "cheapest_cost"_a = one.cheapest_cost,
                           "loss_Bps"_a = one.loss.value));
  }
  py::list full;
  for (const planner::FullResource& one : loss.full) {
    full.append(py::dict("resource"_a = one.resource, "load"_a = one.load, "price"_a = one.price));
  }
  return py::dict("throughput_Bps"_a = loss.throughput.value, "bound_Bps"_a = loss.bound.value,
                  "idle_Bps"_a = loss.idle.value, "costly_Bps"_a = loss.costly.value,
                  "idle"_a = idle, "costly"_a = costly, "full"_a = full);
}

}  // namespace

py::dict facts_of(const Made& made) {
  return py::dict("bound_final"_a = made.plan.optimum && made.ends.is_bound_final(),
                  "complete"_a = is_complete(made.ends.worst()), "seconds"_a = made.seconds,
                  "makespan_s"_a = made.makespan_s);
}

py::dict fields_of(const planner::Plan& plan) {
  const planner::TreeFigures figures = planner::figures_of(plan);
  return py::dict("operation"_a = planner::name_of(plan.operation), "platform"_a = plan.platform,
                  "source"_a = plan.source.empty() ? py::object(py::none()) : py::cast(plan.source),
                  "model"_a = plan.model, "algorithm"_a = plan.algorithm, "nodes"_a = plan.nodes,
                  "segment_bytes"_a = plan.segment.value,
                  "throughput_Bps"_a = plan.throughput.value,
                  "optimum_Bps"_a = value_of(plan.optimum), "trees"_a = trees_of(plan),
                  "depth"_a = figures.depth, "out_degree"_a = figures.out_degree,
                  "cost"_a = cost_of(plan.cost));
}

py::dict result_of(const Proof& proof, const platforms::Platform& platform) {
  py::dict result = of_optimum(proof.outcome, proof.throughput, proof.cuts, platform);
  py::list bottlenecks;
  for (const planner::NamedPrice& one : proof.prices) {
    bottlenecks.append(py::dict("resource"_a = one.resource, "price"_a = one.price));
  }
  result["bottlenecks"] = bottlenecks;
  result["complete"] = is_complete(proof.outcome.ends.worst());
  result["seconds"] = proof.seconds;
  return result;
}

py::dict result_of(const Explained& explained, const platforms::Platform& platform) {
  const planner::Explanation& explanation = explained.explanation;
  py::dict result =
      of_optimum(explanation.optimum, explanation.reached, explanation.cuts, platform);
  py::list upgrades;
  for (const auto* list : {&explanation.resources, &explanation.links, &explanation.sets}) {
    for (const planner::Upgrade& upgrade : *list) add_upgrade(upgrade, explanation, upgrades);
  }
  if (explanation.all) add_upgrade(*explanation.all, explanation, upgrades);
  result["bottlenecks"] = upgrades;
  result["loss"] = explained.loss ? py::object(loss_of(*explained.loss)) : py::none();
  result["complete"] =
      is_complete(explanation.optimum.ends.worst()) && is_complete(explanation.termination);
  result["seconds"] = explained.seconds;
  return result;
}

py::list result_of(const std::vector<planner::RankedSource>& ranking,
                   const platforms::Platform& platform) {
  py::list list;
  for (const planner::RankedSource& one : ranking) {
    list.append(
        py::dict("source"_a = platform.node(one.source).name, "optimum_Bps"_a = one.optimum.value,
                 "bound_Bps"_a =
                     std::isfinite(one.bound.value) ? std::optional(one.bound.value) : std::nullopt,
                 "complete"_a = is_complete(one.termination),
                 "error"_a = one.error.empty() ? py::object(py::none()) : py::cast(one.error)));
  }
  return list;
}

py::dict result_of(const planner::VerifyReport& report) {
  return py::dict(
      "valid"_a = report.faults.empty(), "faults"_a = report.faults,
      "throughput_Bps"_a = report.throughput.value, "scheduled_Bps"_a = value_of(report.scheduled),
      "bound_Bps"_a = value_of(report.bound),
      "bound_final"_a = report.bound && report.proof.is_bound_final(),
      "busiest_resource"_a = report.busiest_resource, "busiest_load"_a = report.busiest_load,
      "trees"_a = report.trees, "depth"_a = report.depth, "out_degree"_a = report.out_degree,
      "hosts_left_out"_a = report.hosts_left_out, "cost"_a = cost_of(report.cost));
}

py::dict result_of(const simulate::Simulation& simulation, const planner::Plan& plan,
                   const std::vector<std::string>& resources) {
  py::dict done;
  for (std::size_t node = 0; node < plan.nodes.size(); ++node) {
    done[py::cast(plan.nodes[node])] = simulation.done[node].value;
  }
  py::dict busy;
  for (std::size_t r = 0; r < resources.size(); ++r) {
    if (simulation.busy[r].value > 0) busy[py::cast(resources[r])] = simulation.busy[r].value;
  }
  return py::dict("makespan_s"_a = simulation.makespan.value,
                  "achieved_Bps"_a = simulation.achieved.value, "segments"_a = simulation.segments,
                  "sends"_a = simulation.sends, "done_s"_a = done, "busy_s"_a = busy);
}

}  // namespace espalier::python
