// The planning problems of the Python module, and what is done with them: each function solves one
// without Python's lock and returns plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/explain/binding_cuts.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "planner/explain/explain.hpp"
#include "planner/explain/plan_loss.hpp"
#include "planner/explain/rank_sources.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"
#include "support/deadline.hpp"

namespace espalier::python {

using Network = std::shared_ptr<const platforms::Platform>;

// How far a search goes, and parameters of algorithms, as espalier/planning.py describes them.
struct Options {
  std::optional<double> gap{};
  std::optional<double> time_limit_s{};
  std::size_t max_trees = 0;
  std::uint32_t max_depth = 0;
  std::optional<double> max_latency_s{};
  std::size_t chains = planner::AlgorithmOptions{}.chains;
  std::optional<std::uint64_t> message_bytes{};
  std::optional<std::string> guided_by{};
  std::optional<double> overhead_s{};
  std::optional<double> compute_Bps{};
  std::optional<double> budget_per_GB{};
  std::optional<double> deadline_s{};
  bool schedule = false;

  // The clock must outlive the result. Throws InputError for a value out of range.
  [[nodiscard]] planner::AlgorithmOptions limits(Clock& clock) const;
};

struct Made {
  planner::Plan plan;
  planner::Ends ends{};
  double seconds = 0;
  std::optional<double> makespan_s{};  // of one tree and the message, unsegmented or simulated
};

struct Proof {
  planner::Outcome outcome;
  BytesPerSecond throughput;
  std::vector<planner::NamedPrice> prices;
  std::vector<planner::BindingCut> cuts;
  double seconds = 0;
};

struct Explained {
  planner::Explanation explanation;
  std::optional<planner::PlanLoss> loss{};  // of a plan
  double seconds = 0;
};

class Problem {
 public:
  struct Question {
    std::string operation;
    std::optional<std::string> source{};  // unset: there are several roots, or none
    std::string model;
    std::optional<std::uint64_t> segment_bytes{};
    bool latency_occupies = false;
    std::vector<double> counts{};                       // empty: equal parts
    std::vector<std::string> to{};                      // empty: all hosts
    std::optional<std::vector<std::string>> helpers{};  // unset: all others
  };

  // Throws InputError and InfeasibleError as `espalier plan` does.
  Problem(Network whole, const Question& question);

  // Of a plan: what it was made for, on the platform that verifies it.
  [[nodiscard]] static Problem of(const planner::Plan& plan, Network whole);

  [[nodiscard]] const platforms::Platform& network() const { return *network_; }
  [[nodiscard]] planner::Operation operation() const { return operation_; }
  // The names of algorithms of the list ("all", or "a,b") in the registry's order; of "all", those
  // for this problem.
  [[nodiscard]] std::vector<std::string> algorithms(const std::string& list) const;

  [[nodiscard]] Made plan(const std::string& algorithm, const Options& options) const;
  // The fastest plan for options.message_bytes, by one of the algorithms of the list, or any.
  [[nodiscard]] Made choose(const std::optional<std::string>& algorithm,
                            const Options& options) const;
  // The plan along one tree of the caller's, on which a hop that is not a link takes the fastest
  // path. edges: parent and child by their places among the hosts. Throws InputError, naming the
  // algorithm, where they are not a spanning tree.
  [[nodiscard]] Made plan_along(const std::string& algorithm,
                                const std::vector<planner::PlanEdge>& edges,
                                const Options& options) const;
  [[nodiscard]] Proof bound(const Options& options, std::size_t top) const;
  // plan: whose losses are explained too, made for this problem; null: none.
  [[nodiscard]] Explained explain(const Options& options, std::size_t top,
                                  const planner::Plan* plan = nullptr) const;
  // options.time_limit_s is for all of them together.
  [[nodiscard]] std::vector<planner::RankedSource> rank(const std::vector<std::string>& sources,
                                                        const Options& options) const;

 private:
  template <class Visit>
  auto on(const Visit& visit, std::optional<double> money_per_s = std::nullopt) const {
    platforms::OccupationOptions occupation = occupation_;
    occupation.money_per_s = money_per_s;
    return planner::on_problem(operation_, *network_, root_, model_, occupation,
                               {shares_, receivers_}, visit);
  }
  void take_receivers(const Question& question);
  [[nodiscard]] Made plan_for_money(const Options& options, Clock& clock) const;

  Network network_;  // or the part of it that a broadcast to some of the hosts is on
  planner::Operation operation_;
  std::optional<platforms::NodeId> root_{};
  platforms::Model model_;
  bool chooses_segment_;  // none was given
  platforms::OccupationOptions occupation_{};
  std::vector<double> shares_{};
  std::vector<platforms::NodeId> receivers_{};
};

}  // namespace espalier::python
