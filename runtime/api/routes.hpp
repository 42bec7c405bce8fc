// Which ranks a plan's blocks route parts between, as far as one rank has to know.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/bound_plan.hpp"

namespace espalier::runtime {

// Of one part. Ranks of the communicator.
struct Route {
  std::size_t from;
  std::size_t to;
};

class Routes {
 public:
  // bound: of a plan that routes.
  explicit Routes(const BoundPlan& bound);

  // Of the blocks that concern this rank, in the plan's order.
  [[nodiscard]] std::span<const Route> here() const { return here_; }
  // Whether the plan has a block from one rank to the other.
  [[nodiscard]] bool exists(const Route& route) const {
    return exists_[route.from * ranks_ + route.to];
  }
  // A pair of different ranks without one, if there is any.
  [[nodiscard]] const std::optional<Route>& missing() const { return missing_; }

 private:
  std::size_t ranks_;
  std::vector<Route> here_;
  std::vector<bool> exists_;  // of each pair
  std::optional<Route> missing_;
};

}  // namespace espalier::runtime
