#include "tests/runtime/measure/calculated_network.hpp"

#include <algorithm>
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
  const auto add = [&](const auto& seconds_of) {
    Resource resource;
    for (const Flow& flow : flows) resource.seconds_per_byte.push_back(seconds_of(flow));
    resources.push_back(std::move(resource));
  };
  const auto alone = [this](const Flow& flow) { return 1 / truth_.rate[flow.from][flow.to]; };
  for (const Flow& one : flows) {
    add([&](const Flow& flow) { return flow == one ? alone(flow) : 0; });
  }
  for (std::size_t rank = 0; rank < truth_.ranks(); ++rank) {
    if (truth_.ports == Truth::Ports::kOnePort) {
      add([&](const Flow& flow) { return flow.from == rank ? alone(flow) : 0; });
      add([&](const Flow& flow) { return flow.to == rank ? alone(flow) : 0; });
    } else if (truth_.ports == Truth::Ports::kUnidirectional) {
      add([&](const Flow& flow) { return flow.from == rank || flow.to == rank ? alone(flow) : 0; });
    }
    if (!truth_.send.empty() && truth_.send[rank]) {
      add([&](const Flow& flow) { return flow.from == rank ? 1 / *truth_.send[rank] : 0; });
    }
    if (!truth_.receive.empty() && truth_.receive[rank]) {
      add([&](const Flow& flow) { return flow.to == rank ? 1 / *truth_.receive[rank] : 0; });
    }
  }
  for (const Truth::SharedLink& shared_link : truth_.shared_links) {
    add([&](const Flow& flow) {
      return shared_link.arcs.contains(flow) ? 1 / shared_link.rate : 0;
    });
  }
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
      for (std::size_t i = 0; i < rates.size(); ++i) {
        used += rates[i] * resource.seconds_per_byte[i];
        if (grows[i]) growth += weight[i] * resource.seconds_per_byte[i];
      }
      if (growth <= 0 || (1 - used) / growth >= step) continue;
      step = std::max(0.0, (1 - used) / growth);
      full = &resource;
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (grows[i]) rates[i] += step * weight[i];
      if (full->seconds_per_byte[i] > 0) grows[i] = false;
    }
  }
  double drained_s = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto& [flow, chunk_bytes, ahead_bytes] = transfer.streams[i];
    const auto ahead = static_cast<double>(std::max(ahead_bytes, 4 * chunk_bytes));
    rates[i] = noisy(std::min(rates[i], ahead / truth_.round_trip_s));
    drained_s = std::max(drained_s, ahead / rates[i]);
  }
  ++transfers;
  seconds += transfer.seconds + drained_s;
  return rates;
}

std::vector<ShortMessages> CalculatedNetwork::exchange(std::span<const Flow> flows, std::size_t) {
  std::vector<ShortMessages> figures;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    figures.push_back({noisy(truth_.round_trip_s), noisy(kGap_s), noisy(kGap_s / 2)});
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

}  // namespace espalier::testing
