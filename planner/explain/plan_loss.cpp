#include "planner/explain/plan_loss.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "lp/packing/tree_pricer.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "planner/problem/collective_problem.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// What idles, and what is full. Problem: any of planner/problem/any_problem.hpp.
template <class Problem>
class LossCounter {
 public:
  LossCounter(const Plan& plan, const std::vector<double>& loads, const Problem& problem,
              const std::vector<PricedResource>& prices, BytesPerSecond bound)
      : plan_(plan),
        loads_(loads),
        problem_(problem),
        platform_(problem.platform()),
        price_(prices_by_row(prices, loads.size())) {
    for (const double price : price_) sum_of_prices_ += price;
    if (!(sum_of_prices_ > 0)) throw InfeasibleError("the prices prove no bound");
    result_.throughput = plan.throughput;
    result_.bound = bound;
  }

  PlanLoss run() {
    for (double& price : price_) price /= sum_of_prices_;
    list_users();
    count_idle();
    list_full();
    result_.costly.value = result_.bound.value - result_.throughput.value - result_.idle.value;
    return std::move(result_);
  }

 protected:
  void list_users() {
    users_.resize(loads_.size());
    const std::vector<PlanTrees> kinds = trees_by_kind(plan_);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const bool up = kinds[kind].up;
      for (std::size_t t = 0; t < kinds[kind].trees->size(); ++t) {
        const PlanTree& tree = (*kinds[kind].trees)[t];
        const std::vector<double> seconds =
            lp::tree_load(problem_.occupation().seconds_per_byte, links_of(platform_, tree, up));
        for (std::size_t row = 0; row < seconds.size(); ++row) {
          if (seconds[row] > 0)
            users_[row].push_back({kind, t, up, tree.rate.value * seconds[row]});
        }
      }
    }
    for (std::vector<ResourceUser>& users : users_) {
      std::stable_sort(users.begin(), users.end(),
                       [](const auto& a, const auto& b) { return a.load > b.load; });
    }
  }

  void count_idle() {
    for (std::size_t row = 0; row < price_.size(); ++row) {
      if (!(price_[row] > 0)) continue;
      const double loss = result_.bound.value * price_[row] * (1 - loads_[row]);
      result_.idle.value += loss;
      if (loss != 0) {
        result_.idle_resources.push_back(
            {name_of(row), price_[row], loads_[row], {loss}, users_[row]});
      }
    }
    worst_first(result_.idle_resources);
  }

  void list_full() {
    for (std::size_t row = 0; row < loads_.size(); ++row) {
      if (loads_[row] >= kFullLoad) {
        result_.full.push_back({name_of(row), loads_[row], price_[row], users_[row]});
      }
    }
    std::stable_sort(
        result_.full.begin(), result_.full.end(),
        [](const FullResource& a, const FullResource& b) { return a.price > b.price; });
  }

  template <typename Part>
  static void worst_first(std::vector<Part>& parts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.loss > b.loss; });
  }

  [[nodiscard]] std::string name_of(std::size_t row) const {
    return platforms::describe(problem_.occupation().resources[row], platform_);
  }

  const Plan& plan_;
  const std::vector<double>& loads_;
  const Problem& problem_;
  const platforms::Platform& platform_;
  std::vector<double> price_;  // sum 1, once it runs
  double sum_of_prices_ = 0;
  std::vector<std::vector<ResourceUser>> users_;  // of each resource
  PlanLoss result_;
};

// The links of one edge, in the direction of the data. Routes of the two halves of an allreduce
// differ even where their links are the same.
struct Route {
  std::vector<std::uint32_t> links;
  bool up;
  auto operator<=>(const Route&) const =
      default;  // NOLINT(modernize-use-nullptr): as in quantities
};

// And which edges cost more than the cheapest tree's.
class EdgeLossCounter : LossCounter<Collective> {
 public:
  EdgeLossCounter(const Plan& plan, const std::vector<double>& loads, const Collective& problem,
                  const std::vector<PricedResource>& prices)
      : LossCounter(plan, loads, problem, prices, {}), arc_cost_(platform_.arcs().size(), 0.0) {}

  PlanLoss run() {
    price_arcs();
    count_costly();
    return LossCounter::run();
  }

 private:
  // Computes the cheapest tree (for an allreduce, one of each kind), and every arc's cost as a
  // share of it.
  void price_arcs() {
    const CollectiveProblem problem(problem_);
    const lp::PackingProblem packing = problem.problem();
    const lp::PricedTree cheapest = lp::TreePricer(packing).cheapest_tree(price_);
    if (!(cheapest.cost > 0)) throw InfeasibleError("the prices prove no bound");
    result_.bound = {sum_of_prices_ / cheapest.cost};
    using Column = Eigen::SparseMatrix<double>::InnerIterator;
    for (std::size_t arc = 0; arc < arc_cost_.size(); ++arc) {
      for (Column it(problem_.occupation().seconds_per_byte, static_cast<Eigen::Index>(arc)); it;
           ++it) {
        arc_cost_[arc] += result_.bound.value / sum_of_prices_ *
                          price_[static_cast<std::size_t>(it.row())] * it.value();
      }
    }
    const CollectiveProblem::Halves halves = problem.split(cheapest.tree);
    for (const bool up : {true, false}) {
      const lp::RoutedTree& half = up ? halves.up : halves.down;
      for (std::size_t edge = 0; edge < half.edge_count(); ++edge) {
        const auto links = half.path(edge);
        Route route{{links.begin(), links.end()}, up};
        const Place place = place_of(route);
        cheapest_for_.emplace(place, std::move(route));
      }
    }
  }

  // Every tree of a kind has one edge for each of these: a host other than the source.
  struct Place {
    platforms::NodeId host;
    bool up;
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): the same
  };
  [[nodiscard]] Place place_of(const Route& route) const {
    const auto arcs = platform_.arcs();
    return {route.up ? arcs[route.links.front()].from : arcs[route.links.back()].to, route.up};
  }

  void count_costly() {
    std::map<Route, double> rates;
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      for (const PlanTree& tree : *kind.trees) {
        for (const PlanEdge& edge : tree.edges) {
          rates[{arcs_along(platform_, tree, edge, kind.up), kind.up}] += tree.rate.value;
        }
      }
    }
    for (const auto& [route, rate] : rates) {
      const Route& cheapest = cheapest_for_.at(place_of(route));
      const double cost = cost_of(route);
      const double least = cost_of(cheapest);
      const double loss = rate * (cost - least);
      if (route == cheapest || loss == 0) continue;
      result_.costly_edges.push_back(
          {name_of(route), route.up, {rate}, cost, name_of(cheapest), least, {loss}});
    }
    worst_first(result_.costly_edges);
  }

  [[nodiscard]] double cost_of(const Route& route) const {
    double cost = 0;
    for (const std::uint32_t arc : route.links) cost += arc_cost_[arc];
    return cost;
  }
  [[nodiscard]] std::string name_of(const Route& route) const {
    std::string name = printable(platform_.node(platform_.arcs()[route.links.front()].from).name);
    for (const std::uint32_t arc : route.links) {
      name += " -> " + printable(platform_.node(platform_.arcs()[arc].to).name);
    }
    return name;
  }

  std::vector<double> arc_cost_;  // the cheapest tree costs 1
  std::map<Place, Route> cheapest_for_;
};

}  // namespace

PlanLoss loss_at_prices(const Plan& plan, const std::vector<double>& loads,
                        const Collective& problem, const std::vector<PricedResource>& prices) {
  return EdgeLossCounter(plan, loads, problem, prices).run();
}
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Collective& problem,
                 const Outcome& optimum) {
  return loss_at_prices(plan, loads, problem, optimum.prices);
}
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const AllRoots& problem,
                 const Outcome& optimum) {
  return LossCounter(plan, loads, problem, optimum.prices, optimum.bound.value()).run();
}
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Routing& problem,
                 const Outcome& optimum) {
  return LossCounter(plan, loads, problem, optimum.prices, optimum.bound.value()).run();
}
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Multicast& problem,
                 const Outcome& optimum) {
  return LossCounter(plan, loads, problem, optimum.prices, optimum.bound.value()).run();
}

}  // namespace espalier::planner
