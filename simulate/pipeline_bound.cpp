#include "simulate/pipeline_bound.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace espalier::simulate {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Per host and tree, in seconds.
class Ways {
 public:
  explicit Ways(const Task& task)
      : task_(task),
        fill_(task.flows.hosts() * task.flows.trees(), kNever),
        drain_(fill_.size(), 0) {
    for (std::uint32_t tree = 0; tree < task.flows.trees(); ++tree) {
      if (task.slices[tree] > 0) walk(tree);
    }
  }
  // Until the first slice of `tree` is there.
  [[nodiscard]] double fill(std::uint32_t host, std::uint32_t tree) const {
    return fill_[host * task_.flows.trees() + tree];
  }
  // From when the tree's last slice is there until all below have it; of slices that may be the
  // last on some resource the fastest.
  [[nodiscard]] double drain(std::uint32_t host, std::uint32_t tree) const {
    return drain_[host * task_.flows.trees() + tree];
  }

 private:
  void walk(std::uint32_t tree) {
    const bool first_is_short = task_.is_short(tree, 0);
    const Holdings& first = first_is_short ? task_.last : task_.full;
    const Holdings& last = task_.ends_short[tree] != 0 ? task_.last : task_.full;
    std::vector<std::uint32_t> order;  // flows, parents before children
    fill_[task_.source * task_.flows.trees() + tree] = 0;
    for (std::vector<std::uint32_t> hosts{task_.source}; !hosts.empty();) {
      std::vector<std::uint32_t> below;
      for (const std::uint32_t host : hosts) {
        const auto [begin, end] = task_.flows.below(host, tree);
        for (std::uint32_t i = begin; i < end; ++i) {
          const Flow& flow = task_.flows.all()[i];
          fill_[flow.child * task_.flows.trees() + tree] =
              fill(host, tree) + first.seconds(i) + flow.latency_s;
          order.push_back(i);
          below.push_back(flow.child);
        }
      }
      hosts = std::move(below);
    }
    std::ranges::reverse(order);
    for (const std::uint32_t i : order) {
      const Flow& flow = task_.flows.all()[i];
      double& at_parent = drain_[flow.parent * task_.flows.trees() + tree];
      at_parent = std::max(at_parent, last.seconds(i) + flow.latency_s + drain(flow.child, tree));
    }
  }

  const Task& task_;
  std::vector<double> fill_;
  std::vector<double> drain_;
};

struct Use {
  double fill = kNever;
  double busy = 0;
  double drain = kNever;
};

}  // namespace

Seconds pipeline_bound(const Task& task, std::size_t resources) {
  const Ways ways(task);
  std::vector<Use> uses(resources);
  for (std::uint32_t i = 0; i < task.flows.all().size(); ++i) {
    const Flow& flow = task.flows.all()[i];
    const std::uint64_t slices = task.slices[flow.tree];
    if (slices == 0) continue;
    const bool has_short = task.ends_short[flow.tree] != 0;
    const auto add = [&](std::span<const Holding> holdings, std::uint64_t times) {
      if (times == 0) return;
      for (const Holding& held : holdings) {
        Use& use = uses[held.resource];
        use.fill = std::min(use.fill, ways.fill(flow.parent, flow.tree));
        use.busy += held.seconds * static_cast<double>(times);
        use.drain = std::min(use.drain, flow.latency_s + ways.drain(flow.child, flow.tree));
      }
    };
    add(task.full.of(i), slices - (has_short ? 1 : 0));
    if (has_short) add(task.last.of(i), 1);
  }
  double longest = 0;
  for (const Use& use : uses) {
    if (use.busy > 0) longest = std::max(longest, use.fill + use.busy + use.drain);
  }
  return {longest};
}

}  // namespace espalier::simulate
