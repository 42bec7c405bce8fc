#include "tests/runtime/measure/calculated_network.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace espalier::testing {

using runtime::probe::ShortMessages;
using runtime::probe::Transfer;

Truth Truth::star(const std::vector<double>& up, const std::vector<double>& down) {
  Truth truth;
  for (const double sent : up) {
    truth.rate.emplace_back();
    for (const double received : down) truth.rate.back().push_back(std::min(sent, received));
  }
  truth.send.assign(up.begin(), up.end());
  truth.receive.assign(down.begin(), down.end());
  return truth;
}

void Truth::join(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to,
                 double shared_link_rate) {
  SharedLink shared_link{{}, shared_link_rate};
  for (const std::size_t sender : from) {
    for (const std::size_t receiver : to) {
      shared_link.arcs.insert({sender, receiver});
      rate[sender][receiver] = std::min(rate[sender][receiver], shared_link_rate);
    }
  }
  shared_links.push_back(std::move(shared_link));
}

CalculatedNetwork::CalculatedNetwork(Truth truth, double noise, std::uint64_t seed)
    : truth_(std::move(truth)), noise_(noise), random_(seed) {}

double CalculatedNetwork::noisy(double figure) {
  return figure * (1 + noise_ * std::uniform_real_distribution<double>(-1, 1)(random_));
}

std::vector<CalculatedNetwork::Resource> CalculatedNetwork::resources_of(
    const std::vector<Flow>& flows) const {
  std::vector<Resource> resources;
  std::map<std::pair<std::size_t, int>, Resource> ports;  // of a rank
  std::vector<Resource> shared_links(truth_.shared_links.size());
  enum { kOut, kIn, kSendCap, kReceiveCap };
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto [from, to] = flows[i];
    const double alone = 1 / truth_.rate[from][to];
    resources.push_back({{i, alone}});
    if (truth_.ports != Truth::Ports::kNone) {
      const bool is_one = truth_.ports == Truth::Ports::kUnidirectional;
      ports[{from, kOut}].push_back({i, alone});
      ports[{to, is_one ? kOut : kIn}].push_back({i, alone});
    }
    if (!truth_.send.empty() && truth_.send[from]) {
      ports[{from, kSendCap}].push_back({i, 1 / *truth_.send[from]});
    }
    if (!truth_.receive.empty() && truth_.receive[to]) {
      ports[{to, kReceiveCap}].push_back({i, 1 / *truth_.receive[to]});
    }
    for (std::size_t link = 0; link < shared_links.size(); ++link) {
      const Truth::SharedLink& one = truth_.shared_links[link];
      if (one.arcs.contains(flows[i])) shared_links[link].push_back({i, 1 / one.rate});
    }
  }
  for (auto& [port, resource] : ports) resources.push_back(std::move(resource));
  std::ranges::move(shared_links, std::back_inserter(resources));
  return resources;
}

// Progressive filling: all flows grow at the same time, and a flow that meets a full resource stops
// growing. Under caps flows grow by equal rates; under ports they get equal shares of time.
std::vector<double> CalculatedNetwork::transfer(const Transfer& transfer) {
  std::vector<Flow> flows;
  for (const auto& stream : transfer.streams) flows.push_back(stream.flow);
  const std::vector<Resource> resources = resources_of(flows);
  std::vector<double> rates(flows.size());
  std::vector<bool> grows(rates.size(), true);
  std::vector<double> weight;
  for (const Flow& flow : flows) {
    weight.push_back(truth_.ports == Truth::Ports::kNone ? 1 : truth_.rate[flow.from][flow.to]);
  }
  while (std::ranges::count(grows, true) > 0) {
    double step = std::numeric_limits<double>::infinity();
    const Resource* full = nullptr;
    for (const Resource& resource : resources) {
      double used = 0;
      double growth = 0;
      for (const auto& [flow, seconds_per_byte] : resource) {
        used += rates[flow] * seconds_per_byte;
        if (grows[flow]) growth += weight[flow] * seconds_per_byte;
      }
      if (growth <= 0 || (1 - used) / growth >= step) continue;
      step = std::max(0.0, (1 - used) / growth);
      full = &resource;
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (grows[i]) rates[i] += step * weight[i];
    }
    for (const Occupation& one : *full) grows[one.flow] = false;
  }
  double drained_s = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto& [flow, chunk_bytes, ahead_bytes] = transfer.streams[i];
    const auto ahead = static_cast<double>(std::max(ahead_bytes, 4 * chunk_bytes));
    rates[i] = noisy(std::min(rates[i], ahead / truth_.round_trip_s));
    drained_s = std::max(drained_s, ahead / rates[i]);
  }
  ++transfers;
  flows_sent += rates.size();
  seconds += transfer.seconds + drained_s;
  return rates;
}

std::vector<ShortMessages> CalculatedNetwork::exchange(std::span<const Flow> flows, std::size_t) {
  std::vector<ShortMessages> figures;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const double far_s =
        truth_.site.empty() || truth_.site[flows[i].from] == truth_.site[flows[i].to]
            ? 0
            : truth_.between_sites_s;
    figures.push_back({noisy(truth_.round_trip_s + far_s), noisy(kGap_s), noisy(kGap_s / 2)});
  }
  return figures;
}

runtime::probe::MessageTimes CalculatedNetwork::time_messages(const Flow& flow, std::uint64_t bytes,
                                                              std::size_t messages) {
  const double rest = static_cast<double>(bytes - 1) / truth_.rate[flow.from][flow.to];
  seconds += static_cast<double>(messages) * (truth_.round_trip_s + rest);
  return {noisy(truth_.round_trip_s + rest), noisy(kGap_s / 2 + rest / 4),
          noisy(kGap_s / 4 + rest / 8)};
}

double CalculatedNetwork::send_in_turn(std::size_t from, std::span<const std::size_t> to,
                                       std::uint64_t bytes, std::size_t) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const std::size_t rank : to) slowest = std::min(slowest, truth_.rate[from][rank]);
  const auto gaps = static_cast<double>(std::min<std::size_t>(to.size(), 4));
  return noisy(gaps * kGap_s + static_cast<double>(bytes - 1) / slowest);
}

double CalculatedNetwork::combine(std::size_t rank, std::uint64_t bytes, std::size_t) {
  return noisy(static_cast<double>((1 + rank) * bytes) * kCombining_s_per_byte);
}

}  // namespace espalier::testing
