#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "platforms/generators/generators.hpp"
#include "platforms/generators/link_drawer.hpp"
#include "platforms/generators/sampler.hpp"

namespace espalier::platforms {

namespace {

void require_sound(const RandomFamily& family) {
  constexpr std::size_t kMostNodes = 1'000'000;
  if (family.nodes < 2 || family.nodes > kMostNodes) {
    throw InputError(fmt::format("nodes must be 2 to {}, not {}", kMostNodes, family.nodes));
  }
  if (!(family.density > 0 && family.density <= 1)) {
    throw InputError(
        fmt::format("the density must be over 0 and at most 1, not {}", family.density));
  }
  require_mean(family.bandwidth, "the bandwidth");
  if (!(family.deviation.value >= 0 && family.deviation.value <= 1000 * family.bandwidth.value)) {
    throw InputError(fmt::format("the deviation must be 0 to 1000 times the bandwidth, not {} B/s",
                                 family.deviation.value));
  }
}

class Generator {
 public:
  explicit Generator(const RandomFamily& family)
      : family_(family), sampler_(family.seed), builder_(title(family)) {}

  Platform generate() {
    for (std::size_t i = 0; i < family_.nodes; ++i) builder_.node_named(fmt::format("n{}", i));
    add_tree();
    const std::uint64_t n = family_.nodes;
    const double all_pairs = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
    const auto links = static_cast<std::uint64_t>(std::llround(family_.density * all_pairs));
    if (links * 2 > static_cast<std::uint64_t>(all_pairs)) {
      add_from_all_pairs(links);
    } else {
      // At most half of the pairs are taken, so a draw is new with a probability of about 1/2 or
      // more.
      while (pairs_.size() < links) {
        const std::uint64_t u = sampler_.below(n);
        add_link(u, sampler_.below(n));
      }
    }
    return std::move(builder_).build();
  }

 private:
  static std::string title(const RandomFamily& family) {
    return fmt::format("random {} nodes, density {}, seed {}", family.nodes, family.density,
                       family.seed);
  }

  // Links each node, in random order, to a random one of the nodes before it.
  void add_tree() {
    std::vector<std::uint64_t> order(family_.nodes);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    sampler_.shuffle(order);
    for (std::size_t i = 1; i < order.size(); ++i) add_link(order[i], order[sampler_.below(i)]);
  }

  void add_from_all_pairs(std::uint64_t links) {
    std::vector<std::uint64_t> free;
    for (std::uint64_t u = 0; u < family_.nodes; ++u) {
      for (std::uint64_t v = u + 1; v < family_.nodes; ++v) {
        if (!pairs_.contains(key(u, v))) free.push_back(key(u, v));
      }
    }
    sampler_.shuffle(free);
    for (std::size_t i = 0; pairs_.size() < links; ++i) {
      add_link(free[i] / family_.nodes, free[i] % family_.nodes);
    }
  }

  [[nodiscard]] std::uint64_t key(std::uint64_t u, std::uint64_t v) const {
    return std::min(u, v) * family_.nodes + std::max(u, v);
  }

  void add_link(std::uint64_t u, std::uint64_t v) {
    if (u == v || !pairs_.insert(key(u, v)).second) return;
    Arc arc;
    arc.from = NodeId{static_cast<std::uint32_t>(u)};
    arc.to = NodeId{static_cast<std::uint32_t>(v)};
    arc.bandwidth = sampler_.bandwidth(family_.bandwidth, spread_);
    builder_.add_arc(arc);
    std::swap(arc.from, arc.to);
    builder_.add_arc(arc);
  }

  const RandomFamily& family_;
  double spread_ = family_.deviation.value / family_.bandwidth.value;
  Sampler sampler_;
  PlatformBuilder builder_;
  std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace

Platform generate_random(const RandomFamily& family) {
  require_sound(family);
  return Generator(family).generate();
}

}  // namespace espalier::platforms
