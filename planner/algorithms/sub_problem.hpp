// A planning problem among some of a platform's hosts, for an algorithm that plans a part of a
// tree.
#pragma once

#include <span>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "planner/problem/part_of.hpp"
#include "platforms/core/platform.hpp"
#include "support/pinned.hpp"

namespace espalier::planner {

// An ordinary instance on such a platform.
class SubProblem : public Pinned {  // instance_ refers to platform_
 public:
  // root: one of the members. Throws InfeasibleError when a member cannot be reached from the root
  // within the part.
  SubProblem(const Instance& whole, std::span<const platforms::NodeId> members,
             platforms::NodeId root, std::span<const platforms::NodeId> way_points = {});

  [[nodiscard]] const Instance& instance() const { return instance_; }
  // Adds the edges of a tree of instance() to one of the whole.
  void add_to(lp::RoutedTree& whole_tree, const lp::RoutedTree& tree) const;

 private:
  platforms::Platform platform_;
  Instance instance_;
  std::vector<std::uint32_t> whole_arc_;  // per arc of platform_, the arc of the whole
};

}  // namespace espalier::planner
