#include "simulate/search/pipeline_bound.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace espalier::simulate {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Fill and drain times per host and tree, in seconds.
class Paths {
 public:
  Paths(const Task& task, const Assignments& assignments)
      : task_(task),
        assignments_(assignments),
        trees_(task.flows.trees()),
        fill_(task.flows.hosts() * trees_, kNever),
        drain_(fill_.size(), 0) {
    const auto up_trees = static_cast<std::uint32_t>(task.flows.up_trees());
    std::vector<std::vector<std::uint32_t>> hosts(trees_);  // parents before children
    for (std::uint32_t tree = 0; tree < trees_; ++tree) {
      if (task.segments[tree] > 0) hosts[tree] = from_source(tree);
    }
    // The broadcast trees' fill follows the reduce trees' fill, and the reduce trees' drain
    // includes the broadcast trees' drain.
    for (std::uint32_t tree = 0; tree < up_trees; ++tree) fill_upwards(tree, hosts[tree]);
    for (std::uint32_t tree = up_trees; tree < trees_; ++tree) walk_down(tree, hosts[tree]);
    for (std::uint32_t tree = 0; tree < up_trees; ++tree) drain_upwards(tree, hosts[tree]);
  }
  // The time until the first segment of `tree` has arrived; in a reduce tree: until it is combined
  // with those of all hosts below.
  [[nodiscard]] double fill(std::uint32_t host, std::uint32_t tree) const {
    return fill_[host * trees_ + tree];
  }
  // The least time from the arrival of the tree's last segment (in a reduce tree: from its
  // combination) until it is complete everywhere; if several segments may be a resource's last, of
  // the fastest.
  [[nodiscard]] double drain(std::uint32_t host, std::uint32_t tree) const {
    return drain_[host * trees_ + tree];
  }
  // The same for flow `i`: until its sender can begin with the first segment, and from the
  // departure of the last one.
  [[nodiscard]] double fill_of(std::uint32_t i) const {
    const Flow& flow = task_.flows.all()[i];
    return fill(flow.up ? flow.child : flow.parent, flow.tree);
  }
  [[nodiscard]] double drain_of(std::uint32_t i) const {
    const Flow& flow = task_.flows.all()[i];
    if (!flow.up) return flow.latency_s + drain(flow.child, flow.tree);
    // Its siblings' segments are added after its own.
    const std::uint32_t left = task_.flows.below(flow.parent, flow.tree).last - i;
    return flow.latency_s + left * last_combining(flow.tree) + drain(flow.parent, flow.tree);
  }
  // The time at which the first segment of an edge of a reduce tree arrives at the parent.
  [[nodiscard]] double arrival_of(std::uint32_t i) const {
    const Flow& flow = task_.flows.all()[i];
    return fill(flow.child, flow.tree) + first(flow.tree).seconds(i) + flow.latency_s;
  }

 private:
  [[nodiscard]] const Holdings& first(std::uint32_t tree) const {
    return task_.is_short(tree, 0) ? task_.last : task_.full;
  }
  [[nodiscard]] const Holdings& last(std::uint32_t tree) const {
    return task_.ends_short[tree] != 0 ? task_.last : task_.full;
  }
  [[nodiscard]] double last_combining(std::uint32_t tree) const {
    return task_.ends_short[tree] != 0 ? task_.combining.last_s : task_.combining.full_s;
  }

  [[nodiscard]] std::vector<std::uint32_t> from_source(std::uint32_t tree) const {
    std::vector<std::uint32_t> hosts{task_.source};
    for (std::size_t place = 0; place < hosts.size(); ++place) {
      const auto [begin, end] = task_.flows.below(hosts[place], tree);
      for (std::uint32_t i = begin; i < end; ++i) hosts.push_back(task_.flows.all()[i].child);
    }
    return hosts;
  }

  // A host adds its children's segments one after the other, in the plan's order, as they arrive.
  void fill_upwards(std::uint32_t tree, const std::vector<std::uint32_t>& hosts) {
    const double combining =
        task_.is_short(tree, 0) ? task_.combining.last_s : task_.combining.full_s;
    for (std::size_t place = hosts.size(); place-- > 0;) {
      double& whole = fill_[hosts[place] * trees_ + tree];
      whole = 0;
      const auto [begin, end] = task_.flows.below(hosts[place], tree);
      for (std::uint32_t i = begin; i < end; ++i)
        whole = std::max(whole, arrival_of(i)) + combining;
    }
  }

  void drain_upwards(std::uint32_t tree, const std::vector<std::uint32_t>& hosts) {
    if (hosts.empty()) return;
    if (assignments_.down() != nullptr) {  // the root injects the segment
      const std::uint64_t turns = assignments_.up()->segment_of(tree, task_.segments[tree] - 1);
      drain_[task_.source * trees_ + tree] =
          drain(task_.source, down_tree(assignments_.down()->tree_of(turns)));
    }
    for (const std::uint32_t host : hosts) {
      const auto [begin, end] = task_.flows.below(host, tree);
      for (std::uint32_t i = begin; i < end; ++i) {
        drain_[task_.flows.all()[i].child * trees_ + tree] = last(tree).seconds(i) + drain_of(i);
      }
    }
  }

  void walk_down(std::uint32_t tree, const std::vector<std::uint32_t>& hosts) {
    if (hosts.empty()) return;
    fill_[task_.source * trees_ + tree] = first_injected(tree);
    for (const std::uint32_t host : hosts) {
      const auto [begin, end] = task_.flows.below(host, tree);
      for (std::uint32_t i = begin; i < end; ++i) {
        const Flow& flow = task_.flows.all()[i];
        fill_[flow.child * trees_ + tree] =
            fill(host, tree) + first(tree).seconds(i) + flow.latency_s;
      }
    }
    for (std::size_t place = hosts.size(); place-- > 0;) {
      double& left = drain_[hosts[place] * trees_ + tree];
      const auto [begin, end] = task_.flows.below(hosts[place], tree);
      for (std::uint32_t i = begin; i < end; ++i) {
        left = std::max(left, last(tree).seconds(i) + drain_of(i));
      }
    }
  }

  // The source of a broadcast has the whole message. The root of an allreduce injects a segment
  // when it is combined.
  [[nodiscard]] double first_injected(std::uint32_t tree) const {
    if (assignments_.up() == nullptr) return 0;
    const std::uint64_t segment = assignments_.segment_of(tree, 0);
    return fill(task_.source, static_cast<std::uint32_t>(assignments_.up()->tree_of(segment)));
  }
  [[nodiscard]] std::uint32_t down_tree(std::size_t number) const {
    return static_cast<std::uint32_t>(task_.flows.up_trees() + number);
  }

  const Task& task_;
  const Assignments& assignments_;
  std::size_t trees_;
  std::vector<double> fill_;
  std::vector<double> drain_;
};

struct Use {
  double fill = kNever;
  double busy = 0;
  double drain = kNever;

  void add(double from_s, double busy_s, double left_s) {
    fill = std::min(fill, from_s);
    busy += busy_s;
    drain = std::min(drain, left_s);
  }
};

}  // namespace

Seconds pipeline_bound(const Task& task, const Assignments& assignments, std::size_t resources) {
  const Paths paths(task, assignments);
  std::vector<Use> uses(resources + task.flows.hosts());  // processors after the resources
  for (std::uint32_t i = 0; i < task.flows.all().size(); ++i) {
    const Flow& flow = task.flows.all()[i];
    const std::uint64_t segments = task.segments[flow.tree];
    if (segments == 0) continue;
    const std::uint64_t short_ones = task.ends_short[flow.tree] != 0 ? 1 : 0;
    const auto add = [&](std::span<const Holding> holdings, double combining_s,
                         std::uint64_t number) {
      if (number == 0) return;
      const auto times = static_cast<double>(number);
      for (const Holding& held : holdings) {
        uses[held.resource].add(paths.fill_of(i), held.seconds * times, paths.drain_of(i));
      }
      if (!flow.up) return;
      uses[resources + flow.parent].add(paths.arrival_of(i), combining_s * times,
                                        paths.drain(flow.parent, flow.tree));
    };
    add(task.full.of(i), task.combining.full_s, segments - short_ones);
    add(task.last.of(i), task.combining.last_s, short_ones);
  }
  double longest = 0;
  for (const Use& use : uses) {
    if (use.busy > 0) longest = std::max(longest, use.fill + use.busy + use.drain);
  }
  return {longest};
}

}  // namespace espalier::simulate
