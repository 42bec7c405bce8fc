#include "tests/planner/references/executed_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::testing {
namespace {

using namespace planner;

// Steps from the source to every node.
std::vector<std::size_t> depths(const PlanTree& tree, std::uint32_t source, std::size_t nodes) {
  std::vector<std::size_t> depth(nodes, 0);
  for (std::size_t round = 1; round < nodes; ++round) {
    for (const auto [parent, child] : tree.edges) {
      if (parent == source || depth[parent] > 0) depth[child] = depth[parent] + 1;
    }
  }
  return depth;
}

struct Ends {
  std::uint32_t sender;
  std::uint32_t receiver;
};
Ends ends_of(const ScheduledSend& send, const std::vector<DirectedTree>& trees) {
  if (trees[send.tree].up) return {send.child, send.parent};
  return {send.parent, send.child};
}

// Two sends that share a port never overlap, checked for all pairs; and each has the seconds that
// its bytes take, with the segments' overheads divided evenly.
void expect_ports_keep_up(const platforms::Platform& platform, const Plan& plan) {
  const PlanSchedule& schedule = plan.schedule.value();
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  const auto segment = static_cast<double>(plan.segment.value);
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
    const ScheduledSend& one = schedule.sends[i];
    const Ends ends = ends_of(one, trees);
    const platforms::Arc& arc = platform.arc(
        platform.find_arc(platform.hosts()[ends.sender], platform.hosts()[ends.receiver]).value());
    const double overhead = arc.overhead.value + (plan.latency_occupies ? arc.latency.value : 0);
    EXPECT_LE(one.bytes / arc.bandwidth.value + one.bytes / segment * overhead,
              one.time.value * (1 + 1e-9));
    const double end = one.start.value + one.time.value;
    EXPECT_LE(end, schedule.period.value);
    for (std::size_t j = i + 1; j < schedule.sends.size(); ++j) {
      const ScheduledSend& other = schedule.sends[j];
      const auto [sender, receiver] = ends_of(other, trees);
      if (sender != ends.sender && receiver != ends.receiver) continue;
      EXPECT_TRUE(end <= other.start.value ||
                  other.start.value + other.time.value <= one.start.value)
          << "sends " << i << " and " << j;
    }
  }
}

// The number of edges below every node.
std::vector<std::size_t> heights(const PlanTree& tree, std::size_t nodes) {
  std::vector<std::size_t> height(nodes, 0);
  for (std::size_t round = 1; round < nodes; ++round) {
    for (const auto [parent, child] : tree.edges) {
      height[parent] = std::max(height[parent], height[child] + 1);
    }
  }
  return height;
}

// The first period in which each edge, named by tree and child, can carry a batch.
std::vector<std::vector<std::size_t>> first_periods(const Plan& plan) {
  const std::uint32_t source = source_index(plan);
  std::vector<std::vector<std::size_t>> first;
  std::size_t up = 0;  // periods until the root has the first batch of all reduce trees
  for (const DirectedTree& of : trees_in_order(plan)) {
    first.push_back(of.up ? heights(*of.tree, plan.nodes.size())
                          : depths(*of.tree, source, plan.nodes.size()));
    for (std::size_t& period : first.back()) period += of.up ? 1 : up;
    const bool carries_any = plan.schedule.value().segments[first.size() - 1] > 0;
    if (of.up && carries_any) up = std::max(up, depth_of(*of.tree, source));
  }
  return first;
}

// The batches of each tree that have passed along every edge, named by its child, and what they
// allow.
class Batches {
 public:
  explicit Batches(const Plan& plan)
      : trees_(trees_in_order(plan)),
        segments_(plan.schedule.value().segments),
        root_(source_index(plan)),
        passed_(trees_.size(), std::vector<double>(plan.nodes.size(), 0.0)) {}

  [[nodiscard]] double& passed(std::size_t tree, std::uint32_t child) {
    return passed_[tree][child];
  }
  // Of a tree, that the sender of this edge has to send.
  [[nodiscard]] double held(std::size_t tree, const PlanEdge& edge) const {
    if (trees_[tree].up) return combined(tree, edge.child);
    if (edge.parent != root_) return passed_[tree][edge.parent];
    double all = kEndless;
    for (std::size_t up = 0; up < trees_.size() && trees_[up].up; ++up) {
      if (segments_[up] > 0) all = std::min(all, combined(up, root_));
    }
    return all;
  }

 private:
  static constexpr double kEndless = 1e300;

  [[nodiscard]] double combined(std::size_t tree, std::uint32_t node) const {
    double least = kEndless;
    for (const auto [parent, child] : trees_[tree].tree->edges) {
      if (parent == node) least = std::min(least, passed_[tree][child]);
    }
    return least;
  }

  std::vector<DirectedTree> trees_;
  std::vector<std::uint64_t> segments_;  // of each tree in a batch
  std::uint32_t root_;
  std::vector<std::vector<double>> passed_;  // [tree][child]
};

// In every period, every host sends only data of each tree that it had before the period began, of
// all children where it is combined. While the pipeline fills, edge by edge, there is nothing to
// send; from then on every edge carries all of a period's segments in every period.
void expect_steady_state(const Plan& plan) {
  const PlanSchedule& schedule = plan.schedule.value();
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  const std::vector<std::vector<std::size_t>> first = first_periods(plan);
  std::size_t last = 0;
  for (const std::vector<std::size_t>& of_tree : first) {
    last = std::max(last, *std::max_element(of_tree.begin(), of_tree.end()));
  }
  Batches now(plan);
  for (std::size_t period = 1; period <= last + 3; ++period) {
    Batches before = now;
    for (const ScheduledSend& send : schedule.sends) {
      const double batch = static_cast<double>(schedule.segments[send.tree]) *
                           static_cast<double>(plan.segment.value);
      double& passed = now.passed(send.tree, send.child);
      const double there = before.held(send.tree, {send.parent, send.child}) - passed;
      passed += std::clamp(there, 0.0, send.bytes / batch);
    }
    for (std::size_t k = 0; k < trees.size(); ++k) {
      if (schedule.segments[k] == 0) continue;
      for (const auto [parent, child] : trees[k].tree->edges) {
        EXPECT_NEAR(now.passed(k, child) - before.passed(k, child),
                    period >= first[k][child] ? 1.0 : 0.0, 1e-6)
            << "tree " << k << ", edge " << parent << " " << child << ", period " << period;
      }
    }
  }
}

}  // namespace

void expect_executable(const platforms::Platform& platform, const Plan& plan) {
  ASSERT_NO_THROW(check_structure(plan));
  expect_ports_keep_up(platform, plan);
  expect_steady_state(plan);
  const PlanSchedule& schedule = plan.schedule.value();
  EXPECT_DOUBLE_EQ(schedule.throughput.value,
                   static_cast<double>(segments_in_period(plan, schedule)) *
                       static_cast<double>(plan.segment.value) / schedule.period.value);
  std::size_t jobs = 0;
  for (std::size_t k = 0; k < schedule.segments.size(); ++k) {
    if (schedule.segments[k] > 0) jobs += plan.nodes.size() - 1;
  }
  EXPECT_LE(step_count(schedule), jobs + 2 * plan.nodes.size());
}

}  // namespace espalier::testing
