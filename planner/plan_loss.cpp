#include "planner/plan_loss.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "lp/tree_pricer.hpp"
#include "planner/bottlenecks.hpp"
#include "planner/plan_on_platform.hpp"
#include "planner/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using Path = std::vector<std::uint32_t>;  // arcs

class LossCounter {
 public:
  LossCounter(const Plan& plan, const std::vector<double>& loads, const Instance& instance,
              const std::vector<PricedResource>& prices)
      : plan_(plan),
        loads_(loads),
        instance_(instance),
        price_(instance.resource_count(), 0.0),
        arc_cost_(instance.digraph().arc_count(), 0.0) {
    for (const PricedResource& priced : prices) price_[priced.row] = priced.price;
  }

  PlanLoss run() {
    price_arcs();
    for (const PlanTree& tree : plan_.broadcast_trees) result_.throughput.value += tree.rate.value;
    count_idle();
    count_dear();
    list_full();
    return std::move(result_);
  }

 private:
  // The cheapest tree, and every arc's cost as a share of it.
  void price_arcs() {
    const lp::PackingProblem problem = packing_problem(instance_);
    const lp::TreePricer::Priced cheapest = lp::TreePricer(problem).cheapest_tree(price_);
    if (!(cheapest.cost > 0)) throw InfeasibleError("the prices prove no bound");
    double sum = 0;
    for (const double price : price_) sum += price;
    result_.bound = {sum / cheapest.cost};
    for (double& price : price_) price /= sum;
    using Column = Eigen::SparseMatrix<double>::InnerIterator;
    for (std::size_t arc = 0; arc < arc_cost_.size(); ++arc) {
      for (Column it(problem.occupation, static_cast<Eigen::Index>(arc)); it; ++it) {
        arc_cost_[arc] +=
            result_.bound.value * price_[static_cast<std::size_t>(it.row())] * it.value();
      }
    }
    for (std::size_t edge = 0; edge < cheapest.tree.edge_count(); ++edge) {
      const auto path = cheapest.tree.path(edge);
      cheapest_into_[problem.graph.head[path.back()]] = Path(path.begin(), path.end());
    }
  }

  void count_idle() {
    for (std::size_t row = 0; row < price_.size(); ++row) {
      if (!(price_[row] > 0)) continue;
      const double loss = result_.bound.value * price_[row] * (1 - loads_[row]);
      result_.idle.value += loss;
      if (loss != 0) {
        result_.idle_resources.push_back({name_of(row), price_[row], loads_[row], {loss}});
      }
    }
    worst_first(result_.idle_resources);
  }

  void count_dear() {
    std::map<Path, double> rates;
    for (const PlanTree& tree : plan_.broadcast_trees) {
      for (const PlanEdge& edge : tree.edges) {
        rates[arcs_along(instance_.platform(), tree, edge)] += tree.rate.value;
      }
    }
    for (const auto& [path, rate] : rates) {
      const Path& cheapest = cheapest_into_.at(instance_.digraph().head[path.back()]);
      const double cost = cost_of(path);
      const double least = cost_of(cheapest);
      const double loss = rate * (cost - least);
      result_.dear.value += loss;
      if (path == cheapest || loss == 0) continue;
      result_.dear_edges.push_back({name_of(path), {rate}, cost, name_of(cheapest), least, {loss}});
    }
    worst_first(result_.dear_edges);
  }

  void list_full() {
    for (std::size_t row = 0; row < loads_.size(); ++row) {
      if (loads_[row] >= kFullLoad) {
        result_.full.push_back({name_of(row), loads_[row], price_[row]});
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

  [[nodiscard]] double cost_of(const Path& path) const {
    double cost = 0;
    for (const std::uint32_t arc : path) cost += arc_cost_[arc];
    return cost;
  }
  [[nodiscard]] std::string name_of(std::size_t row) const {
    return platforms::describe(instance_.occupation().resources[row], instance_.platform());
  }
  [[nodiscard]] std::string name_of(const Path& path) const {
    const platforms::Platform& platform = instance_.platform();
    std::string name = printable(platform.node(platform.arcs()[path.front()].from).name);
    for (const std::uint32_t arc : path) {
      name += " -> " + printable(platform.node(platform.arcs()[arc].to).name);
    }
    return name;
  }

  const Plan& plan_;
  const std::vector<double>& loads_;
  const Instance& instance_;
  std::vector<double> price_;     // sum 1
  std::vector<double> arc_cost_;  // the cheapest tree costs 1
  std::map<std::uint32_t, Path> cheapest_into_;
  PlanLoss result_;
};

}  // namespace

PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Instance& instance,
                 const std::vector<PricedResource>& prices) {
  return LossCounter(plan, loads, instance, prices).run();
}

}  // namespace espalier::planner
