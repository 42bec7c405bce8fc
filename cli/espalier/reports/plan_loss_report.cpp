#include "cli/espalier/reports/plan_loss_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/run.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

constexpr std::size_t kNamed = 3;  // of many resources in a sentence
constexpr double kNoLoss = 2e-6;   // relative: what is left where two proofs of gap 1e-6 meet

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

// "; 0.50 up, 0.50 down": what each half of an allreduce takes of a resource; else nothing.
std::string halves_of(const std::vector<planner::ResourceUser>& users, planner::Operation way) {
  if (way != planner::Operation::kAllreduce) return {};
  double up = 0;
  double down = 0;
  for (const planner::ResourceUser& user : users) (user.up ? up : down) += user.load;
  return fmt::format("; {} up, {} down", percent(up), percent(down));
}

std::string what_stops(const ExplainedPlan& explained) {
  if (explained.loss.full.empty()) {
    return fmt::format(
        "No resource is full under it: the busiest, the {}, is in use {} of the time, and all "
        "rates could be {:.2f} times as high.\n",
        explained.busiest_resource, percent(explained.busiest_load), 1 / explained.busiest_load);
  }
  std::vector<std::string> names;
  for (const planner::FullResource& full : explained.loss.full) {
    const std::string price = full.price >= planner::kLeastPrice
                                  ? fmt::format("price {}", percent(full.price))
                                  : "no price";
    names.push_back(fmt::format("{} ({}{})", full.resource, price,
                                halves_of(full.users, explained.plan.operation)));
  }
  return fmt::format("It fills the {}.\n", listed(names, kNamed));
}

// "1 (33 %), 0 (20 %)", of an allreduce "up 1 (33 %), down 0 (20 %)": what a resource is busy with.
std::string users_of(const std::vector<planner::ResourceUser>& users, planner::Operation way) {
  std::vector<std::string> names;
  for (const planner::ResourceUser& user : users) {
    const std::string_view half = way != planner::Operation::kAllreduce ? ""
                                  : user.up                             ? "up "
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
               {"idle", Table::Align::kLeft},
               {"busy with trees", Table::Align::kLeft}});
  std::size_t rows = 0;
  for (const planner::IdleResource& idle : loss.idle_resources) {
    if (rows++ == top || idle.loss.value < kNoLoss * loss.bound.value) break;
    table.add_row({format_rate(idle.loss), percent(idle.loss.value / all), percent(idle.load),
                   percent(idle.price), idle.resource,
                   users_of(idle.users, explained.plan.operation)});
  }
  return table.text();
}

std::string dear_table(const ExplainedPlan& explained, double all, std::size_t top) {
  const planner::PlanLoss& loss = explained.loss;
  const bool both_ways = explained.plan.operation == planner::Operation::kAllreduce;
  Table table({{"loss"},
               {"share"},
               {"carries"},
               {"cost"},
               {"cheapest"},
               {"dear", Table::Align::kLeft},
               {"the cheapest tree has", Table::Align::kLeft}});
  std::size_t rows = 0;
  for (const planner::DearEdge& dear : loss.dear_edges) {
    if (rows++ == top || dear.loss.value < kNoLoss * loss.bound.value) break;
    table.add_row({format_rate(dear.loss), percent(dear.loss.value / all), format_rate(dear.rate),
                   fixed(dear.cost, 4), fixed(dear.cheapest_cost, 4),
                   both_ways ? fmt::format("{} {}", dear.up ? "up" : "down", dear.edge) : dear.edge,
                   dear.cheapest});
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
  text += what_stops(explained);
  text += fmt::format(
      "{} of the loss is priced resources that it leaves idle, {} is trees that cost more than "
      "the cheapest.\n",
      percent(loss.idle.value / all), percent(loss.dear.value / all));
  if (loss.idle.value > kNoLoss * loss.bound.value) text += '\n' + idle_table(explained, all, top);
  if (loss.dear.value > kNoLoss * loss.bound.value) text += '\n' + dear_table(explained, all, top);
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
  for (const planner::DearEdge& one : loss.dear_edges) {
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
          {"dear_Bps", loss.dear.value},
          {"busiest_resource", explained.busiest_resource},
          {"busiest_load", explained.busiest_load},
          {"full", std::move(full)},
          {"idle", std::move(idle)},
          {"dear", std::move(dear)}};
}

}  // namespace espalier::cli
