// Stars, two clusters, and cloud regions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "platforms/generators/generators.hpp"
#include "platforms/generators/geography.hpp"
#include "platforms/generators/link_drawer.hpp"

namespace espalier::platforms {

namespace {

// The entry of a list whose last entry is used for all further indices.
BytesPerSecond entry_or_last(const std::vector<BytesPerSecond>& rates, std::size_t index) {
  return rates[std::min(index, rates.size() - 1)];
}

void require_star(const StarFamily& family) {
  require_hosts(family.hosts);
  require_duration(family.latency, "the latency");
  if (family.bandwidth.empty()) throw InputError("a star needs a bandwidth");
  const std::size_t links = family.hosts - (family.master ? 1 : 0);
  for (const auto& rates : {family.bandwidth, family.upload}) {
    for (const BytesPerSecond rate : rates) require_mean(rate, "a bandwidth");
    if (rates.size() > links) {
      throw InputError(fmt::format("{} bandwidths for {} links", rates.size(), links));
    }
  }
}

void require_pairs(std::size_t nodes) {
  const std::size_t pairs = nodes * (nodes - 1) / 2;
  if (pairs <= kMostFabricCables) return;
  throw InputError(
      fmt::format("more than {} links between all pairs of {} nodes", kMostFabricCables, nodes));
}

class TwoClusters {
 public:
  explicit TwoClusters(const TwoClustersFamily& family)
      : family_(family),
        builder_(fmt::format("two clusters {},{}, seed {}", family.hosts[0], family.hosts[1],
                             family.spread.seed)),
        drawer_(builder_, family.spread, family.hosts[0] + family.hosts[1]) {
    add_hosts();
  }

  Platform generate() {
    switch (family_.form) {
      case TwoClustersFamily::Form::kSwitches:
        add_switches();
        break;
      case TwoClustersFamily::Form::kGateways:
        add_pairs();
        add_thin_link(hosts_[0].front(), hosts_[1].front());
        break;
      case TwoClustersFamily::Form::kSharedLink:
        add_pairs();
        add_shared_link();
        break;
    }
    return std::move(builder_).build();
  }

 private:
  using Ends = std::vector<std::pair<NodeId, NodeId>>;

  void add_hosts() {
    std::array<std::size_t, 2> left = family_.hosts;
    std::size_t cluster = 0;
    while (left[0] + left[1] > 0) {
      if (left[cluster] == 0) cluster = 1 - cluster;
      hosts_[cluster].push_back(drawer_.add_host(fmt::format("cluster-{}", cluster)));
      --left[cluster];
      if (family_.interleaved) cluster = 1 - cluster;
    }
  }

  void add_switches() {
    const std::array<NodeId, 2> switches{drawer_.add_relay("s0"), drawer_.add_relay("s1")};
    for (std::size_t cluster = 0; cluster < 2; ++cluster) {
      for (const NodeId host : hosts_[cluster]) {
        drawer_.link(host, switches[cluster], family_.bandwidth[cluster], family_.latency);
      }
    }
    add_thin_link(switches[0], switches[1]);
  }

  void add_pairs() {
    for (std::size_t cluster = 0; cluster < 2; ++cluster) {
      const std::vector<NodeId>& hosts = hosts_[cluster];
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        for (std::size_t j = i + 1; j < hosts.size(); ++j) {
          drawer_.link(hosts[i], hosts[j], family_.bandwidth[cluster], family_.latency);
        }
      }
    }
  }

  void add_thin_link(NodeId one, NodeId other) {
    const BytesPerSecond drawn =
        drawer_.trunk(one, other, family_.thin_bandwidth, family_.thin_latency);
    if (!family_.half_duplex) return;
    builder_.add_shared_link("thin link", drawn, Ends{{one, other}, {other, one}});
  }

  void add_shared_link() {
    const BytesPerSecond drawn = drawer_.draw(family_.thin_bandwidth);
    Ends there;
    Ends back;
    for (const NodeId one : hosts_[0]) {
      for (const NodeId other : hosts_[1]) {
        builder_.add_arc({one, other, drawn, family_.thin_latency, {}});
        builder_.add_arc({other, one, drawn, family_.thin_latency, {}});
        there.emplace_back(one, other);
        back.emplace_back(other, one);
      }
    }
    if (family_.half_duplex) {
      there.insert(there.end(), back.begin(), back.end());
      return builder_.add_shared_link("thin link", drawn, std::move(there));
    }
    builder_.add_shared_link("thin link from cluster-0", drawn, std::move(there));
    builder_.add_shared_link("thin link from cluster-1", drawn, std::move(back));
  }

  const TwoClustersFamily& family_;
  PlatformBuilder builder_;
  LinkDrawer drawer_;
  std::array<std::vector<NodeId>, 2> hosts_;
};

std::size_t providers_of(const MultiRegionFamily& family) {
  const std::size_t one = family.egress.size();
  const std::size_t other = family.ingress.size();
  if (one > 1 && other > 1 && one != other) {
    throw InputError(
        fmt::format("{} caps on what leaves regions, but {} on what enters them", one, other));
  }
  const std::size_t providers = std::max<std::size_t>({1, one, other});
  if (providers > family.regions) {
    throw InputError(fmt::format("caps of {} providers for {} regions", providers, family.regions));
  }
  return providers;
}

void require_regions(const MultiRegionFamily& family) {
  constexpr std::size_t kMostRegions = 700;
  if (family.regions < 2 || family.regions > kMostRegions) {
    throw InputError(fmt::format("regions must be 2 to {}, not {}", kMostRegions, family.regions));
  }
  require_hosts(family.hosts, 1);
  const std::size_t nodes = family.regions * (family.hosts + 1);
  if (nodes > kMostFabricNodes) {
    throw InputError(fmt::format("more than {} nodes", kMostFabricNodes));
  }
  require_mean(family.bandwidth, "the bandwidth");
  require_duration(family.latency, "the latency");
  require_mean(family.least_wan, "a bandwidth between regions");
  require_mean(family.most_wan, "a bandwidth between regions");
  if (family.most_wan < family.least_wan) {
    throw InputError(fmt::format("bandwidths between regions must ascend, not go from {} to {} B/s",
                                 family.least_wan.value, family.most_wan.value));
  }
  constexpr double kMostRatio = 1e9;
  if (!(family.most_wan.value / family.least_wan.value <= kMostRatio)) {
    throw InputError(
        fmt::format("bandwidths between regions must lie within a factor of {}", kMostRatio));
  }
}

// Uniformly distributed on the sphere.
std::vector<Place> draw_places(std::size_t count, Sampler& sampler) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < count; ++i) {
    const double height = 2 * sampler.unit() - 1;
    const double longitude = 360 * sampler.unit() - 180;
    places.push_back({std::asin(height) * 180 / std::numbers::pi, longitude});
  }
  return places;
}

BytesPerSecond draw_between(BytesPerSecond least, BytesPerSecond most, Sampler& sampler) {
  if (least == most) return least;
  // Rounded to billionths, because the last bits of log() and exp() differ between machines.
  constexpr double kSteps = 1e9;
  const double drawn = std::exp(sampler.unit() * std::log(most.value / least.value));
  return {std::clamp(least.value * std::round(kSteps * drawn) / kSteps, least.value, most.value)};
}

// Rounded to about ten metres, because the last bits of asin() differ between machines.
Position map_position(const Place& place) {
  const Position exact = position_of(place);
  return {std::round(exact.x * 1e4) / 1e4, std::round(exact.y * 1e4) / 1e4};
}

// Adds the caps on the traffic that leaves or enters each region, if the family has any.
void add_region_caps(const MultiRegionFamily& family, std::span<const NodeId> gateways,
                     std::size_t providers, PlatformBuilder& builder) {
  const auto cap_of = [&](const std::vector<BytesPerSecond>& caps, std::size_t region) {
    return entry_or_last(caps, region % providers);
  };
  for (std::size_t region = 0; region < gateways.size(); ++region) {
    std::vector<std::pair<NodeId, NodeId>> out;
    std::vector<std::pair<NodeId, NodeId>> in;
    for (const NodeId other : gateways) {
      if (other == gateways[region]) continue;
      out.emplace_back(gateways[region], other);
      in.emplace_back(other, gateways[region]);
    }
    if (!family.egress.empty()) {
      builder.add_shared_link(fmt::format("egress of region-{}", region),
                              cap_of(family.egress, region), std::move(out));
    }
    if (!family.ingress.empty()) {
      builder.add_shared_link(fmt::format("ingress of region-{}", region),
                              cap_of(family.ingress, region), std::move(in));
    }
  }
}

}  // namespace

Platform generate_star(const StarFamily& family) {
  require_star(family);
  const std::vector<BytesPerSecond>& up = family.upload.empty() ? family.bandwidth : family.upload;
  PlatformBuilder builder(fmt::format("star {}, seed {}", family.hosts, family.spread.seed));
  LinkDrawer drawer(builder, family.spread, family.hosts);
  std::vector<NodeId> hosts;
  for (std::size_t i = 0; i < family.hosts; ++i) hosts.push_back(drawer.add_host());
  const NodeId hub = family.master ? hosts.front() : drawer.add_relay("s0");
  if (family.master) hosts.erase(hosts.begin());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    drawer.link(hosts[i], hub, entry_or_last(up, i), entry_or_last(family.bandwidth, i),
                family.latency);
  }
  return std::move(builder).build();
}

Platform generate_two_clusters(const TwoClustersFamily& family) {
  for (const std::size_t hosts : family.hosts) require_hosts(hosts, 1);
  const std::size_t hosts = family.hosts[0] + family.hosts[1];
  require_hosts(hosts);
  if (family.form != TwoClustersFamily::Form::kSwitches) require_pairs(hosts);
  for (const BytesPerSecond rate : family.bandwidth) require_mean(rate, "a bandwidth");
  require_mean(family.thin_bandwidth, "the thin link's bandwidth");
  require_duration(family.latency, "the latency");
  require_duration(family.thin_latency, "the thin link's latency");
  return TwoClusters(family).generate();
}

Platform generate_multi_region(const MultiRegionFamily& family) {
  require_regions(family);
  const std::size_t providers = providers_of(family);
  PlatformBuilder builder(fmt::format("multi-region {} of {}, seed {}", family.regions,
                                      family.hosts, family.spread.seed));
  const std::size_t hosts = family.regions * family.hosts;
  LinkDrawer drawer(builder, family.spread, hosts);
  for (std::size_t i = 0; i < hosts; ++i) {
    const std::size_t region = i / family.hosts;
    const std::string group = fmt::format("region-{}", region);
    drawer.add_host(providers > 1 ? fmt::format("provider-{}/{}", region % providers, group)
                                  : group);
  }
  std::vector<NodeId> gateways;
  for (std::size_t i = 0; i < family.regions; ++i) {
    gateways.push_back(drawer.add_relay(fmt::format("gw{}", i)));
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    drawer.link(NodeId{static_cast<std::uint32_t>(i)}, gateways[i / family.hosts], family.bandwidth,
                family.latency);
  }
  // Separate draws from those of the hosts' links, so that neither affects the other.
  Sampler sampler(~family.spread.seed);
  const std::vector<Place> places = draw_places(family.regions, sampler);
  for (std::size_t i = 0; i < family.regions; ++i) {
    for (std::size_t j = 0; j < family.regions; ++j) {
      if (i == j) continue;
      builder.add_arc({gateways[i],
                       gateways[j],
                       draw_between(family.least_wan, family.most_wan, sampler),
                       latency_between(places[i], places[j]),
                       {}});
    }
  }
  for (std::size_t i = 0; i < builder.nodes().size(); ++i) {
    const std::size_t region = i < hosts ? i / family.hosts : i - hosts;
    builder.nodes()[i].position = map_position(places[region]);
  }
  add_region_caps(family, gateways, providers, builder);
  return std::move(builder).build();
}

}  // namespace espalier::platforms
