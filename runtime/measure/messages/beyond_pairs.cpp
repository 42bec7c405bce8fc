#include "runtime/measure/messages/beyond_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kCombiningCalls = 30;
constexpr std::size_t kMostDestinations = 256;
// The trains of ten times as many take under a second where a byte takes a microsecond.
constexpr std::size_t kByteMessages = 30;
constexpr std::size_t kLongerMessages = 10;

}  // namespace

std::vector<std::size_t> ranks_of(std::span<const Flow> pairs) {
  std::set<std::size_t> ranks;
  for (const Flow& pair : pairs) ranks.insert({pair.from, pair.to});
  return {ranks.begin(), ranks.end()};
}

std::vector<Combining> time_combining(Network& network, std::span<const std::size_t> ranks,
                                      Repeats& repeats,
                                      const std::function<void(const Progress&)>& on_progress) {
  std::vector<Combining> sizes;
  for (const std::uint64_t bytes : kCombinedBytes) {
    if (on_progress) on_progress({"combining", sizes.size(), std::size(kCombinedBytes)});
    std::vector<double> times;
    for (const std::size_t rank : ranks) {
      times.push_back(
          repeats.measure(fmt::format("combining of {} on rank {}", format_size({bytes}), rank),
                          [&] { return network.combine(rank, bytes, kCombiningCalls); }));
    }
    sizes.push_back({bytes, median_of(std::move(times)) / static_cast<double>(bytes)});
  }
  return sizes;
}

std::vector<std::size_t> destinations_of(std::span<const std::string> hosts, std::size_t from,
                                         bool within_host) {
  std::map<std::string_view, std::size_t> of_host;                // ranks so far
  std::vector<std::pair<std::size_t, std::size_t>> nth_and_rank;  // nth of its host
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (rank == from || (hosts[rank] == hosts[from]) != within_host) continue;
    nth_and_rank.emplace_back(of_host[hosts[rank]]++, rank);
  }
  std::ranges::sort(nth_and_rank);
  std::vector<std::size_t> destinations;
  for (const auto& [nth, rank] : nth_and_rank) destinations.push_back(rank);
  destinations.resize(std::min(destinations.size(), kMostDestinations));
  return destinations;
}

std::vector<GapInTurn> time_gaps_in_turn(Network& network, std::size_t from,
                                         std::span<const std::size_t> to,
                                         std::span<const std::uint64_t> sizes, Repeats& repeats,
                                         const std::function<void(const Progress&)>& on_progress) {
  std::vector<std::size_t> numbers;
  for (std::size_t number = 1; number < to.size(); number *= 2) numbers.push_back(number);
  if (!to.empty()) numbers.push_back(to.size());
  std::vector<GapInTurn> gaps;
  for (const std::size_t number : numbers) {
    if (on_progress) {
      on_progress(
          {"messages to several ranks in turn", gaps.size(), numbers.size() * sizes.size()});
    }
    for (const std::uint64_t bytes : sizes) {
      const std::size_t messages = bytes == 1 ? kByteMessages : kLongerMessages;
      gaps.push_back(
          {number, bytes,
           repeats.measure(
               fmt::format("gap of {} from rank {} to {} in turn", format_size({bytes}), from,
                           counted(number, "rank")),
               [&] { return network.send_in_turn(from, to.first(number), bytes, messages); })});
    }
  }
  return gaps;
}

}  // namespace espalier::runtime::probe
