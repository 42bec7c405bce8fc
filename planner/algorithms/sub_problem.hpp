// A planning problem among some of a platform's hosts, for an algorithm that plans a part of a
// tree, or for ranks that are some of the hosts.
#pragma once

#include <span>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

// A platform of some of the whole's hosts: the members are its hosts, ranked in the order given;
// relays are there as in the whole, and so are the links, caps and shared links among all these.
// Other hosts are left out, but for the way-points, which only forward. model, occupation: of the
// whole, for what its other links take from a member. members: at least two hosts, none twice.
// way_points: hosts that are no members.
platforms::Platform part_of(const platforms::Platform& whole, platforms::Model model,
                            const platforms::Occupation& occupation,
                            std::span<const platforms::NodeId> members,
                            std::span<const platforms::NodeId> way_points = {});

// The instance is an ordinary one, on such a platform.
class SubProblem {
 public:
  // root: one of the members. Throws InfeasibleError when a member cannot be reached from the root
  // along these.
  SubProblem(const Instance& whole, std::span<const platforms::NodeId> members,
             platforms::NodeId root, std::span<const platforms::NodeId> way_points = {});
  // The instance refers to the platform beside it.
  SubProblem(const SubProblem&) = delete;
  SubProblem& operator=(const SubProblem&) = delete;
  SubProblem(SubProblem&&) = delete;
  SubProblem& operator=(SubProblem&&) = delete;
  ~SubProblem() = default;

  [[nodiscard]] const Instance& instance() const { return instance_; }
  // Adds the edges of a tree of instance() to one of the whole.
  void add_to(lp::RoutedTree& whole_tree, const lp::RoutedTree& tree) const;

 private:
  platforms::Platform platform_;
  Instance instance_;
  std::vector<std::uint32_t> whole_arc_;  // per arc of platform_, the whole's
};

}  // namespace espalier::planner
