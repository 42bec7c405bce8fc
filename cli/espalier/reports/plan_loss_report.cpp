#include "cli/espalier/reports/plan_loss_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/run.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

constexpr std::size_t kNamed = 3;  // resources named in a sentence
constexpr double kNoLoss = 2e-6;   // relative: plan and bound are each known within a gap of 1e-6

// "a, b and 3 more".
std::string listed(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() > most + 1) {
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(most));
    return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - most);
  }
  if (names.size() < 2) return names.empty() ? "nothing" : names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

// "; 50.00 % up, 50.00 % down": how much of a resource each half of an allreduce uses. Empty for
// other operations.
std::string halves_of(const std::vector<planner::ResourceUser>& users,
                      planner::Operation operation) {
  if (operation != planner::Operation::kAllreduce) return {};
  double up = 0;
  double down = 0;
  for (const planner::ResourceUser& user : users) (user.up ? up : down) += user.load;
  return fmt::format("; {} up, {} down", percent(up), percent(down));
}

std::string saturated_text(const ExplainedPlan& explained) {
  if (explained.loss.full.empty()) {
    return fmt::format(
        "The plan saturates no resource: the busiest, the {}, is busy {} of the time, so all rates "
        "could be {:.2f} times as high.\n",
        explained.busiest_resource, percent(explained.busiest_load), 1 / explained.busiest_load);
  }
  std::vector<std::string> names;
  for (const planner::FullResource& full : explained.loss.full) {
    const std::string price = full.price >= planner::kLeastPrice
                                  ? fmt::format("price {}", percent(full.price))
                                  : "not a bottleneck of the optimum";
    names.push_back(fmt::format("{} ({}{})", full.resource, price,
                                halves_of(full.users, explained.plan.operation)));
  }
  return fmt::format("The plan saturates: {}.\n", listed(names, kNamed));
}

// The trees that use a resource: "1 (33 %), 0 (20 %)"; for an allreduce
// "up 1 (33 %), down 0 (20 %)".
std::string users_of(const std::vector<planner::ResourceUser>& users,
                     planner::Operation operation) {
  std::vector<std::string> names;
  for (const planner::ResourceUser& user : users) {
    const std::string_view half = operation != planner::Operation::kAllreduce ? ""
                                  : user.up                                   ? "up "
                                                                              : "down ";
    names.push_back(fmt::format("{}{} ({})", half, user.tree, percent(user.load)));
  }
  return listed(names, kNamed);
}

std::string idle_table(const ExplainedPlan& explained, double all, std::size_t top) {
  const planner::PlanLoss& loss = explained.loss;
  Table table({{"loss"},
               {"share"},
               {"load"},
               {"price"},
               {"idle resource", Table::Align::kLeft},
               {"used by trees", Table::Align::kLeft}});
  std::size_t rows = 0;
  for (const planner::IdleResource& idle : loss.idle_resources) {
    if (rows++ == top || idle.loss.value < kNoLoss * loss.bound.value) break;
    table.add_row({format_rate(idle.loss), percent(idle.loss.value / all), percent(idle.load),
                   percent(idle.price), idle.resource,
                   users_of(idle.users, explained.plan.operation)});
  }
  return table.text();
}

std::string costly_edges_table(const ExplainedPlan& explained, double all, std::size_t top) {
  const planner::PlanLoss& loss = explained.loss;
  const bool is_allreduce = explained.plan.operation == planner::Operation::kAllreduce;
  Table table({{"loss"},
               {"share"},
               {"carries"},
               {"cost"},
               {"cheapest"},
               {"costly edge", Table::Align::kLeft},
               {"edge of the cheapest tree", Table::Align::kLeft}});
  std::size_t rows = 0;
  for (const planner::CostlyEdge& costly : loss.costly_edges) {
    if (rows++ == top || costly.loss.value < kNoLoss * loss.bound.value) break;
    table.add_row(
        {format_rate(costly.loss), percent(costly.loss.value / all), format_rate(costly.rate),
         fixed(costly.cost, 4), fixed(costly.cheapest_cost, 4),
         is_allreduce ? fmt::format("{} {}", costly.up ? "up" : "down", costly.edge) : costly.edge,
         costly.cheapest});
  }
  return table.text();
}

}  // namespace

std::string plan_loss_text(const ExplainedPlan& explained, std::size_t top) {
  const planner::PlanLoss& loss = explained.loss;
  const double all = loss.bound.value - loss.throughput.value;
  const planner::Plan& plan = explained.plan;
  std::string text =
      fmt::format("{} ({}, {}) carries {}", explained.file, printable(plan.algorithm),
                  count_of_trees(plan.reduce_trees.size(), plan.broadcast_trees.size()),
                  format_rate(loss.throughput));
  if (all <= kNoLoss * loss.bound.value) return text + ": the optimum, within the proof's gap.\n";
  text += fmt::format(", {} less than the proven bound ({}).\n", format_rate({all}),
                      percent(all / loss.bound.value));
  text += saturated_text(explained);
  text += fmt::format(
      "Of the loss, {} is idle time of bottlenecks and {} is trees that cost more than the "
      "cheapest.\n",
      percent(std::max(0.0, loss.idle.value) / all),
      percent(std::max(0.0, loss.costly.value) / all));  // no "-0.00 %" by rounding
  if (loss.idle.value > kNoLoss * loss.bound.value) text += '\n' + idle_table(explained, all, top);
  if (loss.costly.value > kNoLoss * loss.bound.value)
    text += '\n' + costly_edges_table(explained, all, top);
  return text;
}

namespace {

Json users_json(const std::vector<planner::ResourceUser>& users) {
  Json list = Json::array();
  for (const planner::ResourceUser& user : users) {
    list.push_back({{"kind", user.up ? "reduce_trees" : "broadcast_trees"},
                    {"tree", user.tree},
                    {"load", user.load}});
  }
  return list;
}

}  // namespace

Json plan_loss_json(const ExplainedPlan& explained, std::size_t top) {
  const planner::PlanLoss& loss = explained.loss;
  Json idle = Json::array();
  for (const planner::IdleResource& one : loss.idle_resources) {
    if (idle.size() == top) break;
    idle.push_back({{"resource", one.resource},
                    {"price", one.price},
                    {"load", one.load},
                    {"loss_Bps", one.loss.value},
                    {"trees", users_json(one.users)}});
  }
  Json dear = Json::array();
  for (const planner::CostlyEdge& one : loss.costly_edges) {
    if (dear.size() == top) break;
    dear.push_back({{"edge", one.edge},
                    {"kind", one.up ? "reduce_trees" : "broadcast_trees"},
                    {"rate_Bps", one.rate.value},
                    {"cost", one.cost},
                    {"cheapest", one.cheapest},
                    {"cheapest_cost", one.cheapest_cost},
                    {"loss_Bps", one.loss.value}});
  }
  Json full = Json::array();
  for (const planner::FullResource& one : loss.full) {
    full.push_back({{"resource", one.resource},
                    {"load", one.load},
                    {"price", one.price},
                    {"trees", users_json(one.users)}});
  }
  return {{"algorithm", explained.plan.algorithm},
          {"trees", planner::tree_count(explained.plan)},
          {"throughput_Bps", loss.throughput.value},
          {"bound_Bps", loss.bound.value},
          {"loss_Bps", loss.bound.value - loss.throughput.value},
          {"idle_Bps", loss.idle.value},
          {"dear_Bps", loss.costly.value},
          {"busiest_resource", explained.busiest_resource},
          {"busiest_load", explained.busiest_load},
          {"full", std::move(full)},
          {"idle", std::move(idle)},
          {"dear", std::move(dear)}};
}

}  // namespace espalier::cli
