#include "cli/espalier/reports/plan_loss_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/run.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

constexpr std::size_t kNamed = 3;  // resources named in a sentence
constexpr double kNoLoss = 2e-6;   // relative: plan and bound are each known within a gap of 1e-6

// "a, b and 3 more". all: how many there are, of which `names` are at least the first most + 2.
std::string listed(const std::vector<std::string>& names, std::size_t most, std::size_t all) {
  if (all > most + 1) {
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(most));
    return fmt::format("{} and {} more", fmt::join(first, ", "), all - most);
  }
  if (names.size() < 2) return names.empty() ? "nothing" : names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

// "; 50.00 % up, 50.00 % down": how much of a resource each half of an allreduce uses. Empty for
// other operations.
std::string halves_of(const std::vector<planner::ResourceUser>& users,
                      planner::Operation operation) {
  if (!planner::goes_both_ways(operation)) return {};
  double up = 0;
  double down = 0;
  for (const planner::ResourceUser& user : users) (user.up ? up : down) += user.load;
  return fmt::format("; {} up, {} down", percent(up), percent(down));
}

std::string saturated_text(const LoadedPlan& loaded, const planner::PlanLoss& loss) {
  if (loss.full.empty()) {
    return fmt::format(
        "The plan saturates no resource: the busiest, the {}, is busy {} of the time, so all rates "
        "could be {:.2f} times as high.\n",
        loaded.report.busiest_resource, percent(loaded.report.busiest_load),
        1 / loaded.report.busiest_load);
  }
  std::vector<std::string> names;
  for (const planner::FullResource& full : loss.full) {
    const std::string price = full.price >= planner::kLeastPrice
                                  ? fmt::format("price {}", percent(full.price))
                                  : "not a bottleneck of the optimum";
    names.push_back(fmt::format("{} ({}{})", full.resource, price,
                                halves_of(full.users, loaded.plan.operation)));
  }
  return fmt::format("The plan saturates: {}.\n", listed(names, kNamed, names.size()));
}

// The trees that use a resource.
class TreeNames {
 public:
  explicit TreeNames(const planner::Plan& plan)
      : plan_(plan), kinds_(planner::trees_by_kind(plan)) {}

  // "1 (33 %), 0 (20 %)"; for an allreduce "up 1 (33 %), down 0 (20 %)"; with several roots or
  // parts "from a (33 %), b to c (20 %)".
  [[nodiscard]] std::string text(const std::vector<planner::ResourceUser>& users) const {
    std::vector<std::string> names;
    for (const planner::ResourceUser& user : users) {
      if (names.size() > kNamed + 1) break;
      names.push_back(fmt::format("{} ({})", name_of(user), percent(user.load)));
    }
    return listed(names, kNamed, users.size());
  }

  [[nodiscard]] Json json(const std::vector<planner::ResourceUser>& users) const {
    Rows rows({written("kind"), written("tree"), written("load")});
    for (const planner::ResourceUser& user : users) {
      rows.add({kinds_[user.kind].key, user.tree, share(user.load)});
    }
    return rows.json();
  }

 private:
  [[nodiscard]] std::string name_of(const planner::ResourceUser& user) const {
    const planner::PlanTrees& kind = kinds_[user.kind];
    if (plan_.blocks.empty()) {
      const std::string_view half = !planner::goes_both_ways(plan_.operation) ? ""
                                    : user.up                                 ? "up "
                                                                              : "down ";
      return fmt::format("{}{}", half, user.tree);
    }
    const std::string root = kind.root < plan_.nodes.size() ? printable(plan_.nodes[kind.root])
                                                            : printable(plan_.source);
    std::string name = kind.to   ? fmt::format("{} to {}", root, printable(plan_.nodes[*kind.to]))
                       : user.up ? "to " + root
                                 : "from " + root;
    if (kind.trees->size() > 1) name += fmt::format(": {}", user.tree);
    return name;
  }

  const planner::Plan& plan_;
  std::vector<planner::PlanTrees> kinds_;
};

// The first `top` of the idle resources that lose at least `least`.
Rows idle_rows(const planner::Plan& plan, const planner::PlanLoss& loss, double all,
               std::size_t top, double least) {
  const TreeNames names(plan);
  Rows rows({left("idle resource", "resource"),
             {"price", "price"},
             {"load", "load"},
             {"loss", "loss_Bps"},
             {"share", "share"},
             left("used by trees", "trees")});
  rows.order_text({"loss_Bps", "share", "load", "price", "resource", "trees"});
  std::size_t count = 0;
  for (const planner::IdleResource& idle : loss.idle_resources) {
    if (count++ == top || idle.loss.value < least) break;
    rows.add({idle.resource, share(idle.price), share(idle.load), idle.loss,
              shown_only(percent(idle.loss.value / all)),
              Cell(names.text(idle.users), names.json(idle.users))});
  }
  return rows;
}

// Likewise the edges that cost more than those of the cheapest tree.
Rows costly_rows(const planner::Plan& plan, const planner::PlanLoss& loss, double all,
                 std::size_t top, double least) {
  const bool is_allreduce = planner::goes_both_ways(plan.operation);
  Rows rows({left("costly edge", "edge"),
             written("kind"),
             {"carries", "rate_Bps"},
             {"cost", "cost"},
             left("edge of the cheapest tree", "cheapest"),
             {"cheapest", "cheapest_cost"},
             {"loss", "loss_Bps"},
             {"share", "share"}});
  rows.order_text({"loss_Bps", "share", "rate_Bps", "cost", "cheapest_cost", "edge", "cheapest"});
  std::size_t count = 0;
  for (const planner::CostlyEdge& costly : loss.costly_edges) {
    if (count++ == top || costly.loss.value < least) break;
    const std::string direction = !is_allreduce ? "" : costly.up ? "up " : "down ";
    rows.add({Cell(direction + costly.edge, costly.edge),
              costly.up ? "reduce_trees" : "broadcast_trees", costly.rate, decimal(costly.cost),
              costly.cheapest, decimal(costly.cheapest_cost), costly.loss,
              shown_only(percent(costly.loss.value / all))});
  }
  return rows;
}

Json full_json(const planner::Plan& plan, const planner::PlanLoss& loss) {
  const TreeNames names(plan);
  Rows rows({written("resource"), written("load"), written("price"), written("trees")});
  for (const planner::FullResource& full : loss.full) {
    rows.add(
        {full.resource, share(full.load), share(full.price), written_only(names.json(full.users))});
  }
  return rows.json();
}

Json loss_json(const LoadedPlan& loaded, const planner::PlanLoss& loss, double all,
               std::size_t top) {
  return {{"algorithm", loaded.plan.algorithm},
          {"trees", planner::tree_count(loaded.plan)},
          {"throughput_Bps", loss.throughput.value},
          {"bound_Bps", loss.bound.value},
          {"loss_Bps", all},
          {"idle_Bps", loss.idle.value},
          {"dear_Bps", loss.costly.value},
          {"busiest_resource", loaded.report.busiest_resource},
          {"busiest_load", loaded.report.busiest_load},
          {"full", full_json(loaded.plan, loss)},
          {"idle", idle_rows(loaded.plan, loss, all, top, 0).json()},
          {"dear", costly_rows(loaded.plan, loss, all, top, 0).json()}};
}

}  // namespace

void add_plan_loss(Report& report, const LoadedPlan& loaded, const planner::PlanLoss& loss,
                   std::size_t top) {
  const double all = loss.bound.value - loss.throughput.value;
  const double least = kNoLoss * loss.bound.value;
  const planner::Plan& plan = loaded.plan;
  report.write("plan", loss_json(loaded, loss, all, top));
  std::string text =
      fmt::format("{} ({}, {}) carries {}", loaded.file, printable(plan.algorithm),
                  count_of_trees(planner::tree_count(plan, true), planner::tree_count(plan, false)),
                  format_rate(loss.throughput));
  if (all <= least) return report.say(text + ": the optimum, within the proof's gap.\n");
  text += fmt::format(", {} less than the proven bound ({}).\n", format_rate({all}),
                      percent(all / loss.bound.value));
  text += saturated_text(loaded, loss);
  text += fmt::format(
      "Of the loss, {} is idle time of bottlenecks and {} is trees that cost more than the "
      "cheapest.\n",
      percent(std::max(0.0, loss.idle.value) / all),
      percent(std::max(0.0, loss.costly.value) / all));  // no "-0.00 %" by rounding
  report.say(text);
  if (loss.idle.value > least) report.add("", idle_rows(plan, loss, all, top, least));
  if (loss.costly.value > least && !loss.costly_edges.empty()) {
    report.add("", costly_rows(plan, loss, all, top, least));
  }
}

}  // namespace espalier::cli
