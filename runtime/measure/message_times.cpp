#include "runtime/measure/message_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr double kTurn_s = 0.02;  // per size, at normal effort
constexpr double kFewestMessages = 3;
constexpr double kMostMessages = 30;

// The number of messages that fit into a turn, estimated from the previous size.
std::size_t messages_for(const PairTimes& pair, std::uint64_t bytes, double effort) {
  double message_s = 0;
  if (!pair.sizes.empty()) {
    const SizeTimes& before = pair.sizes.back();
    message_s = before.times.round_trip_s * static_cast<double>(bytes) /
                static_cast<double>(before.bytes == 1 ? bytes : before.bytes);
  }
  const double most = kMostMessages * std::max(effort, 1.0);
  const double wanted = message_s > 0 ? kTurn_s * effort / message_s : most;
  return static_cast<std::size_t>(std::clamp(wanted, kFewestMessages, most));
}

// "gap from rank 0 to rank 1".
std::string with_ranks(const std::string& figure, const Flow& flow) {
  return fmt::format("{} from rank {} to rank {}", figure, flow.from, flow.to);
}

MessageTimes time_size(Network& network, const Flow& flow, std::uint64_t bytes,
                       std::size_t messages, Repeats& repeats) {
  std::vector<std::string> names;
  for (const char* const figure : {"round trip", "sending", "receiving"}) {
    names.push_back(with_ranks(fmt::format("{} of {}", figure, format_size({bytes})), flow));
  }
  const std::vector<double> times = repeats.measure(names, [&] {
    const MessageTimes seen = network.time_messages(flow, bytes, messages);
    return std::vector{seen.round_trip_s, seen.send_s, seen.receive_s};
  });
  return {times[0], times[1], times[2]};
}

double median_over(std::span<const PairTimes> pairs, const auto& figure) {
  std::vector<double> figures;
  figures.reserve(pairs.size());
  for (const PairTimes& pair : pairs) figures.push_back(figure(pair));
  return median_of(std::move(figures));
}

}  // namespace

PairSample sample_pairs(std::span<const std::string> hosts, PairClass wanted, std::size_t most) {
  std::vector<Flow> all;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      const bool is_within = hosts[from] == hosts[to];
      if (from != to && is_within == (wanted == PairClass::kWithinHost)) all.push_back({from, to});
    }
  }
  PairSample sample{{}, all.size()};
  const std::size_t count = std::min(most, all.size());
  for (std::size_t i = 0; i < count; ++i) sample.pairs.push_back(all[i * all.size() / count]);
  return sample;
}

std::vector<std::uint64_t> sizes_to_time(std::uint64_t largest_bytes) {
  constexpr std::uint64_t kFirstOfAll = 1024;
  std::vector<std::uint64_t> sizes = {1, 64, 256};
  while (sizes.back() >= largest_bytes) sizes.pop_back();
  for (std::uint64_t size = kFirstOfAll; size < largest_bytes; size *= 2) sizes.push_back(size);
  sizes.push_back(largest_bytes);
  return sizes;
}

std::vector<PairTimes> time_pairs(Network& network, std::span<const Flow> pairs,
                                  const MessageOptions& options, Repeats& repeats) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const auto first_messages = static_cast<std::size_t>(kMostMessages);
  std::vector<PairTimes> timed;
  for (const Flow& flow : pairs) {
    if (options.on_progress) {
      const double elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
      const auto left = static_cast<double>(pairs.size() - timed.size());
      options.on_progress(
          {"messages, pair by pair", timed.size(), pairs.size(),
           timed.empty() ? -1 : elapsed / static_cast<double>(timed.size()) * left});
    }
    PairTimes pair{flow, 0, {}};
    pair.gap_s = repeats.measure(with_ranks("gap", flow), [&] {
      return network.exchange({&flow, 1}, first_messages).at(0).gap_s;
    });
    for (const std::uint64_t bytes : sizes_to_time(options.largest_bytes)) {
      const std::size_t messages = messages_for(pair, bytes, options.effort);
      pair.sizes.push_back({bytes, time_size(network, flow, bytes, messages, repeats)});
    }
    timed.push_back(std::move(pair));
  }
  return timed;
}

PairTimes typical(std::span<const PairTimes> pairs) {
  PairTimes result = pairs[0];
  result.gap_s = median_over(pairs, [](const PairTimes& pair) { return pair.gap_s; });
  for (std::size_t i = 0; i < result.sizes.size(); ++i) {
    for (double MessageTimes::*figure :
         {&MessageTimes::round_trip_s, &MessageTimes::send_s, &MessageTimes::receive_s}) {
      result.sizes[i].times.*figure =
          median_over(pairs, [&](const PairTimes& pair) { return pair.sizes[i].times.*figure; });
    }
  }
  return result;
}

}  // namespace espalier::runtime::probe
