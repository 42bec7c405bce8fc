// The packing of an operation whose message has a part for each host, each of which goes to one
// host only: a scatter (from one root), a gather (to one), an alltoall (from every host to every
// other). Parts are neither copied nor combined, so each is a flow along paths. Theory:
// docs/model.md, "Routed parts".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lp/problem/routes_problem.hpp"
#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

class Routing {
 public:
  // Keeps a reference to `platform`, which must outlive it.
  // root: of a scatter or a gather; an alltoall has none. shares: in any unit, >= 0, of the parts
  // of all hosts, that of the root included; of an alltoall, hosts x hosts, sender by sender, with
  // what each has for itself. Empty: all are equal.
  // Throws InputError for fewer than two hosts, a root that is a relay, shares that cannot be, or
  // by which nothing goes to another host; InfeasibleError naming hosts of which one cannot reach
  // the other.
  Routing(Operation operation, const platforms::Platform& platform,
          std::optional<platforms::NodeId> root, platforms::Model model,
          const platforms::OccupationOptions& options = {}, std::vector<double> shares = {});

  [[nodiscard]] Operation operation() const { return operation_; }
  [[nodiscard]] const platforms::Platform& platform() const { return *platform_; }
  [[nodiscard]] std::optional<platforms::NodeId> root() const { return root_; }
  [[nodiscard]] platforms::Model model() const { return model_; }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return options_; }
  // The platform's matrix: its rows index loads and prices.
  [[nodiscard]] const platforms::Occupation& occupation() const { return occupation_; }
  // Bytes from one host to another, given by their places among the hosts, for each byte of the
  // message: sum 1, or the number of hosts for an alltoall. 0 from a host to itself.
  [[nodiscard]] double share(std::size_t from, std::size_t to) const;
  // As given, scaled to that sum.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }
  // All of them together: below 1, or below the number of hosts.
  [[nodiscard]] double carried() const;
  [[nodiscard]] const lp::RoutesProblem& routes() const { return *routes_; }
  // Per node, its place among the hosts; relays have none.
  [[nodiscard]] const std::vector<std::uint32_t>& host_numbers() const { return host_number_; }

 private:
  [[nodiscard]] std::vector<lp::RoutedParts> parts() const;

  Operation operation_;
  const platforms::Platform* platform_;
  std::optional<platforms::NodeId> root_;
  platforms::Model model_;
  platforms::OccupationOptions options_;
  std::vector<std::uint32_t> host_number_;
  std::vector<double> shares_;
  platforms::Occupation occupation_;
  std::optional<lp::RoutesProblem> routes_;
};

// The optimum: the paths of each part (Outcome::blocks), the proven bound in bytes of the message
// per second, and prices by the rows of occupation().
Outcome prove_optimum(const Routing& problem, const AlgorithmOptions& options);

// Whether the algorithm makes trees on this platform, from every host that parts come from.
bool is_for(const Algorithm& algorithm, const Routing& problem);

// `optimal`: as above, for a plan. Any other algorithm makes the trees of a broadcast from each
// sender (of a reduce, for a gather), and every part goes along the path that the tree has: for
// `flat` these are the linear and the pairwise algorithms of MPI libraries, for `binomial` the
// binomial ones and Bruck's. The rates are as high as the first full resource allows, and there is
// no bound. Throws as run for an AllRoots does.
Outcome run(const Algorithm& algorithm, const Routing& problem, const AlgorithmOptions& options);

// Like make_plan of planner/solve/make_plan.hpp.
Plan make_plan(const Routing& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

}  // namespace espalier::planner
