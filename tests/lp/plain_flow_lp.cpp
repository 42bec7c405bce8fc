#include "tests/lp/plain_flow_lp.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace espalier::lp {

namespace {

// Rates inside the program are multiples of the median arc's rate, so that its numbers are close to
// 1.
double typical_rate(const SparseMatrix& occupation) {
  std::vector<double> largest;
  for (Eigen::Index arc = 0; arc < occupation.outerSize(); ++arc) {
    double most = 0;
    for (SparseMatrix::InnerIterator it(occupation, arc); it; ++it)
      most = std::max(most, it.value());
    if (most > 0) largest.push_back(most);
  }
  const auto middle = largest.begin() + static_cast<std::ptrdiff_t>(largest.size() / 2);
  std::nth_element(largest.begin(), middle, largest.end());
  return 1 / *middle;
}

// Rows are collected sparsely, then added to the program as a whole.
class FlowProgram {
 public:
  explicit FlowProgram(const PackingProblem& problem)
      : problem_(problem), unit_(typical_rate(problem.occupation)) {
    throughput_ = program_.add_column({0, kInfinity}, 1.0);
    add_messages();
    add_targets();
    add_occupation();
  }

  void add_budget(const FlowBudget& budget) {
    std::vector<Entry> row{{throughput_, -budget.most}};
    for (std::uint32_t arc = 0; arc < use_.size(); ++arc) {
      for (const std::uint32_t column : use_[arc]) {
        if (budget.price[arc] > 0) row.push_back({column, budget.price[arc]});
      }
    }
    program_.add_row({-kInfinity, 0}, row);
  }

  FlowSolution solve(std::optional<Seconds> time_limit) {
    SimplexOptions options;
    options.time_limit = time_limit;
    options.scale = true;
    FlowSolution solution;
    solution.status = program_.solve(options);
    solution.throughput = program_.objective() * unit_;
    return solution;
  }

 private:
  struct HostPair {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t column;  // n_uv
  };

  // n: per arc between hosts one column; with relays also h^u per host u and arc that touches a
  // relay, and one n_uv for each pair that u may reach through them.
  void add_messages() {
    const Digraph& graph = problem_.graph;
    use_.resize(graph.arc_count());
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      if (graph.relay(graph.tail[arc]) || graph.relay(graph.head[arc])) continue;
      const std::uint32_t column = program_.add_column({0, kInfinity}, 0.0);
      use_[arc].push_back(column);
      pairs_.push_back({graph.tail[arc], graph.head[arc], column});
    }
    for (std::uint32_t host = 0; host < graph.node_count; ++host) {
      if (!graph.relay(host)) add_relayed_messages(host);
    }
  }

  void add_relayed_messages(std::uint32_t host) {
    const Digraph& graph = problem_.graph;
    std::map<std::uint32_t, std::vector<Entry>>
        balance;  // per relay and receiving host: inflow - outflow
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      const std::uint32_t tail = graph.tail[arc];
      const std::uint32_t head = graph.head[arc];
      const bool starts = tail == host && graph.relay(head);
      const bool goes_on = graph.relay(tail) && head != host;
      if (!starts && !goes_on) continue;
      const std::uint32_t column = program_.add_column({0, kInfinity}, 0.0);
      use_[arc].push_back(column);
      balance[head].push_back({column, 1.0});
      if (goes_on) balance[tail].push_back({column, -1.0});
    }
    for (auto& [node, entries] : balance) {
      if (!graph.relay(node)) {
        const std::uint32_t column = program_.add_column({0, kInfinity}, 0.0);
        entries.push_back({column, -1.0});
        pairs_.push_back({host, node, column});
      }
      program_.add_row({0, 0}, entries);
    }
  }

  void add_targets() {
    const Digraph& graph = problem_.graph;
    for (std::uint32_t target = 0; target < graph.node_count; ++target) {
      if (target == problem_.root || graph.relay(target)) continue;
      if (!problem_.is_member.empty() && problem_.is_member[target] == 0) continue;
      std::vector<std::vector<Entry>> balance(graph.node_count);
      for (const HostPair& pair : pairs_) {
        if (pair.to == problem_.root || pair.from == target) continue;
        const std::uint32_t flow = program_.add_column({0, kInfinity}, 0.0);
        program_.add_row({-kInfinity, 0}, std::vector<Entry>{{flow, 1.0}, {pair.column, -1.0}});
        balance[pair.to].push_back({flow, 1.0});
        balance[pair.from].push_back({flow, -1.0});
      }
      for (std::uint32_t node = 0; node < graph.node_count; ++node) {
        if (node == problem_.root || graph.relay(node)) continue;
        if (node == target) balance[node].push_back({throughput_, -1.0});
        if (!balance[node].empty()) program_.add_row({0, 0}, balance[node]);
      }
    }
  }

  void add_occupation() {
    std::vector<std::vector<Entry>> rows(static_cast<std::size_t>(problem_.occupation.rows()));
    for (std::uint32_t arc = 0; arc < use_.size(); ++arc) {
      for (SparseMatrix::InnerIterator it(problem_.occupation, static_cast<Eigen::Index>(arc)); it;
           ++it) {
        for (const std::uint32_t column : use_[arc]) {
          rows[static_cast<std::size_t>(it.row())].push_back({column, it.value() * unit_});
        }
      }
    }
    for (const std::vector<Entry>& row : rows) {
      if (!row.empty()) program_.add_row({-kInfinity, 1.0}, row);
    }
  }

  const PackingProblem& problem_;
  double unit_;
  LinearProgram program_{Sense::kMaximise};
  std::uint32_t throughput_ = 0;
  std::vector<std::vector<std::uint32_t>> use_;  // per arc: the columns that cross it
  std::vector<HostPair> pairs_;
};

}  // namespace

FlowSolution solve_flow_lp(const PackingProblem& problem, std::optional<Seconds> time_limit,
                           const std::optional<FlowBudget>& budget) {
  FlowProgram program(problem);
  if (budget) program.add_budget(*budget);
  return program.solve(time_limit);
}

}  // namespace espalier::lp
