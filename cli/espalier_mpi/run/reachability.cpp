#include "cli/espalier_mpi/run/reachability.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "runtime/tcp/reach.hpp"
#include "runtime/tcp/stream.hpp"
#include "support/text.hpp"

namespace espalier::cli {

using doctor::RankFacts;
using doctor::TrialFacts;
using nlohmann::json;

namespace {

constexpr std::size_t kMostHosts = 64;  // that one host connects to
constexpr Seconds kTimeout{2};

// A host as the others see it.
struct Endpoint {
  std::string host{};
  std::uint16_t port = 0;
  std::vector<std::string> addresses{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Endpoint, host, port, addresses)

Descriptor listen_as_mpi(const RankFacts& mine) {
  constexpr int kLastPort = 65535;
  const auto number = [&](const char* name, int otherwise) {
    return std::clamp(parse_whole<int>(mine.variable(name)).value_or(otherwise), 0, kLastPort);
  };
  const int first = number("OMPI_MCA_btl_tcp_port_min_v4", 0);
  if (first == 0) return runtime::tcp::listen_anywhere();
  const int count = number("OMPI_MCA_btl_tcp_port_range_v4", kLastPort);
  const int last = std::clamp(first + count - 1, first, kLastPort);
  return runtime::tcp::listen_anywhere(static_cast<std::uint16_t>(first),
                                       static_cast<std::uint16_t>(last));
}

// The first endpoint of each host.
std::vector<Endpoint> one_a_host(const std::vector<std::string>& texts) {
  std::vector<Endpoint> hosts;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    auto one = json::parse(text).get<Endpoint>();
    if (seen.insert(one.host).second) hosts.push_back(std::move(one));
  }
  return hosts;
}

// What this host's attempts to connect to those after it in the list came to.
std::vector<TrialFacts> try_others(const std::vector<Endpoint>& hosts, std::size_t self) {
  std::vector<TrialFacts> trials;
  std::vector<runtime::tcp::Port> ports;
  const std::vector<std::string>& own = hosts[self].addresses;
  for (std::size_t step = 1; step < hosts.size() && step <= kMostHosts; ++step) {
    const Endpoint& other = hosts[(self + step) % hosts.size()];
    for (const std::string& address : other.addresses) {
      if (std::ranges::count(own, address) > 0) continue;  // it would reach itself
      trials.push_back({hosts[self].host, other.host, address, ""});
      ports.push_back({address, other.port});
    }
  }
  const std::vector<std::string> reasons = runtime::tcp::try_to_connect(ports, kTimeout);
  std::set<std::string> failed;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].reason = reasons[i];
    if (!reasons[i].empty()) failed.insert(trials[i].to);
  }
  std::erase_if(trials, [&](const TrialFacts& trial) { return !failed.contains(trial.to); });
  return trials;
}

}  // namespace

std::vector<TrialFacts> try_hosts(TextExchange& exchange, const RankFacts& mine) {
  const Descriptor listener = listen_as_mpi(mine);
  Endpoint endpoint{mine.host, runtime::tcp::port_of(listener), {}};
  for (const auto& one : mine.interfaces) endpoint.addresses.push_back(one.address);
  const auto hosts =
      json::parse(exchange.share(json(one_a_host(exchange.gather(json(endpoint).dump()))).dump()))
          .get<std::vector<Endpoint>>();
  // One rank of a host listens at the port that its host's entry names, and tries.
  const auto is_mine = [&](const Endpoint& one) {
    return one.host == mine.host && one.port == endpoint.port;
  };
  const auto self = std::ranges::find_if(hosts, is_mine);
  std::vector<TrialFacts> trials;
  if (self != hosts.end()) {
    trials = try_others(hosts, static_cast<std::size_t>(self - hosts.begin()));
  }
  std::vector<TrialFacts> all;
  for (const std::string& text : exchange.gather(doctor::json_text(trials))) {
    std::ranges::copy(doctor::trial_facts(text), std::back_inserter(all));
  }
  // Of the others, nobody may stop to listen before all have tried.
  static_cast<void>(exchange.share(""));
  return all;
}

}  // namespace espalier::cli
