// How near the rule of the pull (engine/pull/) comes to the best possible, over random platforms of
// several families: the simulated time of a broadcast or an allgather over that of the proven
// optimum, of messages of 8, 64 and 256 MiB. docs/performance.md has its results. Run it before and
// after each change to the rule.
//
// Usage: pull_platforms [PLATFORMS [MOST_HOSTS [FAMILY [OPERATION]]]]
// PLATFORMS: per family (default 30); MOST_HOSTS: of a platform (32); FAMILY: only those whose
// names contain this.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "planner/problem/any_problem.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/pull/simulate_pull.hpp"
#include "support/deadline.hpp"

namespace {

using namespace espalier;
using platforms::NodeId;
using platforms::Platform;

constexpr BytesPerSecond kLink{125e6};
constexpr Seconds kLatency{1e-4};  // of a link
constexpr std::array<Bytes, 3> kMessages{{{8U << 20U}, {64U << 20U}, {256U << 20U}}};

// The same numbers with every standard library.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double part() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  std::size_t whole(std::size_t least, std::size_t most) {
    return least + static_cast<std::size_t>(part() * static_cast<double>(most - least + 1));
  }
  // Log-uniform over so many decades below the link.
  BytesPerSecond rate(double decades) { return {kLink.value * std::pow(10.0, -decades * part())}; }
  std::size_t hosts(std::size_t most) { return whole(std::min<std::size_t>(4, most), most); }

 private:
  std::mt19937_64 random_;
};

// A star whose uplinks and downlinks differ by so many decades.
Platform star(Draw& draw, std::size_t most, double up_decades, double down_decades) {
  platforms::StarFamily family;
  family.hosts = draw.hosts(most);
  family.latency = kLatency;
  family.bandwidth.clear();
  for (std::size_t host = 0; host < family.hosts; ++host) {
    family.bandwidth.push_back(draw.rate(down_decades));
    family.upload.push_back(draw.rate(up_decades));
  }
  return platforms::generate_star(family);
}

Platform equal_hosts(Draw& draw, std::size_t most) {
  return star(draw, most, 0, 0);
}
Platform unlike_uplinks(Draw& draw, std::size_t most) {
  return star(draw, most, 2, 0);
}
Platform unlike_links(Draw& draw, std::size_t most) {
  return star(draw, most, 1, 1);
}

// One host, not the source, has a hundred times the uplink of all others, and the source ten times.
// Its downlink is as theirs, or thinner.
Platform with_large_uplink(Draw& draw, std::size_t most, bool is_downlink_thin) {
  platforms::StarFamily family;
  family.hosts = draw.hosts(most);
  family.latency = kLatency;
  family.bandwidth.assign(family.hosts, {kLink.value});
  family.upload.assign(family.hosts, {kLink.value / 100});
  family.upload[0] = {kLink.value / 10};
  const std::size_t large = draw.whole(1, family.hosts - 1);
  family.upload[large] = kLink;
  if (is_downlink_thin) family.bandwidth[large] = draw.rate(2);
  return platforms::generate_star(family);
}
Platform large_uplink(Draw& draw, std::size_t most) {
  return with_large_uplink(draw, most, false);
}
Platform large_uplink_thin_downlink(Draw& draw, std::size_t most) {
  return with_large_uplink(draw, most, true);
}

// Pods of equal hosts, whose trunks have from a quarter to twice the rate of a host's link: in a
// line, or on a core.
Platform pods(Draw& draw, std::size_t most, bool in_line) {
  const std::size_t count = draw.whole(2, 4);
  const std::size_t hosts = std::max(draw.hosts(most), 2 * count);
  const bool interleaved = draw.part() < 0.5;
  platforms::PlatformBuilder builder("pods");
  const auto relay = [&](const std::string& name) {
    return builder.add_node({.name = name, .relay = true});
  };
  std::vector<NodeId> ids;
  for (std::size_t host = 0; host < hosts; ++host) {
    ids.push_back(builder.node_named(fmt::format("h{}", host)));
  }
  std::vector<NodeId> switches;
  for (std::size_t pod = 0; pod < count; ++pod) switches.push_back(relay(fmt::format("s{}", pod)));
  for (std::size_t host = 0; host < hosts; ++host) {
    const std::size_t pod = interleaved ? host % count : host * count / hosts;
    builder.add_both_ways({ids[host], switches[pod], kLink, kLatency});
  }
  const BytesPerSecond trunk{kLink.value * 0.25 * std::pow(8.0, draw.part())};
  const NodeId core = in_line ? switches[0] : relay("core");
  for (std::size_t pod = in_line ? 1 : 0; pod < count; ++pod) {
    builder.add_both_ways({in_line ? switches[pod - 1] : core, switches[pod], trunk, kLatency});
  }
  return std::move(builder).build();
}
Platform pods_on_core(Draw& draw, std::size_t most) {
  return pods(draw, most, false);
}
Platform pods_in_line(Draw& draw, std::size_t most) {
  return pods(draw, most, true);
}

// Every pair has a cap of its own, over a decade and a half.
Platform capped_pairs(Draw& draw, std::size_t most) {
  const std::size_t hosts = draw.hosts(most);
  platforms::PlatformBuilder builder("capped pairs");
  std::vector<NodeId> ids;
  for (std::size_t host = 0; host < hosts; ++host) {
    ids.push_back(builder.add_node({fmt::format("h{}", host), false, kLink, kLink}));
  }
  for (const NodeId from : ids) {
    for (const NodeId to : ids) {
      if (from != to) builder.add_arc({from, to, draw.rate(1.5), {2 * kLatency.value}});
    }
  }
  return std::move(builder).build();
}

Platform cloud_grid(Draw& draw, std::size_t most) {
  platforms::MultiRegionFamily family;
  family.regions = draw.whole(2, 6);
  family.hosts = std::max<std::size_t>(draw.hosts(most) / family.regions, 1);
  family.bandwidth = kLink;
  family.latency = kLatency;
  family.least_wan = {kLink.value / 10};
  family.most_wan = kLink;
  family.spread.heterogeneity = 0.2;
  family.spread.seed = draw.whole(1, 1'000'000);
  return platforms::generate_multi_region(family);
}

// Links only between neighbours, who pass on what others need.
Platform torus(Draw& draw, std::size_t most) {
  const std::size_t across = draw.whole(2, 4);
  platforms::TorusFamily family;
  family.dimensions = {across, std::max<std::size_t>(draw.hosts(most) / across, 2)};
  family.bandwidth = kLink;
  family.latency = kLatency;
  family.spread.heterogeneity = 0.2;
  family.spread.seed = draw.whole(1, 1'000'000);
  return platforms::generate_torus(family);
}
Platform sparse_random(Draw& draw, std::size_t most) {
  platforms::RandomFamily family{.nodes = draw.hosts(most), .density = 0.1 + 0.4 * draw.part()};
  family.seed = draw.whole(1, 1'000'000);
  return platforms::generate_random(family);
}

struct Family {
  std::string_view name;
  Platform (*make)(Draw& draw, std::size_t most_hosts);
};
constexpr std::array<Family, 11> kFamilies{{{"equal hosts", equal_hosts},
                                            {"unlike uplinks", unlike_uplinks},
                                            {"unlike links", unlike_links},
                                            {"one large uplink", large_uplink},
                                            {"and thin downlink", large_uplink_thin_downlink},
                                            {"pods on a core", pods_on_core},
                                            {"pods in a line", pods_in_line},
                                            {"capped pairs", capped_pairs},
                                            {"cloud grid", cloud_grid},
                                            {"torus of hosts", torus},
                                            {"sparse random", sparse_random}}};

struct Ratios {
  std::vector<double> of{};
  std::uint64_t worst_seed = 0;

  void add(double ratio, std::uint64_t seed) {
    if (of.empty() || ratio > *std::ranges::max_element(of)) worst_seed = seed;
    of.push_back(ratio);
  }
  [[nodiscard]] std::string text() const {
    std::vector<double> sorted = of;
    std::ranges::sort(sorted);
    return fmt::format("{:>8.3f} {:>7.3f} {:>6}", sorted[sorted.size() / 2], sorted.back(),
                       worst_seed);
  }
};

void run(const Family& family, std::uint64_t platforms, std::size_t most_hosts,
         planner::Operation operation) {
  constexpr platforms::Model kModel = platforms::Model::kBoundedMultiPort;
  std::array<Ratios, kMessages.size()> ratios;
  for (std::uint64_t seed = 1; seed <= platforms; ++seed) {
    Draw draw(seed);
    const Platform platform = family.make(draw, most_hosts);
    std::optional<NodeId> source;
    if (planner::needs_root(operation)) source = platform.hosts().front();
    planner::AlgorithmOptions limits;
    limits.deadline = Deadline(Seconds{20});
    const planner::Outcome proof = planner::on_problem(
        operation, platform, source, kModel, {}, {},
        [&](const auto& problem) { return planner::prove_optimum(problem, limits); });
    for (std::size_t i = 0; i < kMessages.size(); ++i) {
      const simulate::PullOutcome pulled =
          simulate::simulate_pull(platform, source, kModel, kMessages[i], {.seed = seed});
      ratios[i].add(proof.bound->value / pulled.achieved.value, seed);
    }
  }
  fmt::print("{:<17}", family.name);
  for (const Ratios& of_message : ratios) fmt::print(" |{}", of_message.text());
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::uint64_t platforms = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 30;
    const std::size_t most_hosts = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 32;
    const std::string_view wanted = argc > 3 ? argv[3] : "";
    const planner::Operation operation = planner::parse_operation(argc > 4 ? argv[4] : "broadcast");
    fmt::print("{}: {} platforms per family, of 4 to {} hosts; median, worst, and its seed\n",
               planner::name_of(operation), platforms, most_hosts);
    fmt::print("{:<17}", "");
    for (const Bytes message : kMessages) fmt::print(" |{:>23}", format_size(message));
    fmt::print("\n");
    for (const Family& family : kFamilies) {
      if (platforms > 0 && family.name.find(wanted) != std::string_view::npos) {
        run(family, platforms, std::max<std::size_t>(most_hosts, 4), operation);
      }
    }
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "pull_platforms: {}\n", fault.what());
    return 1;
  }
}
