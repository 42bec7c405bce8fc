// What pairs of ranks do not show (message_times.hpp): how fast ranks combine, and how the gap
// between messages depends on the number of destinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/measure/messages/repeats.hpp"
#include "runtime/measure/network.hpp"
#include "runtime/measure/probe.hpp"

namespace espalier::runtime::probe {

// gamma: the time to combine a byte, in messages of this size.
struct Combining {
  std::uint64_t bytes = 0;
  double s_per_byte = 0;
};
// The ascending sizes of its measurement. The formulas charge gamma for segments, which are about
// as long as the first.
inline constexpr std::uint64_t kCombinedBytes[] = {std::uint64_t{64} << 10, std::uint64_t{1} << 20};

// For each of these sizes the median over the ranks, which combine one after the other. ranks: at
// least one.
std::vector<Combining> time_combining(Network& network, std::span<const std::size_t> ranks,
                                      Repeats& repeats,
                                      const std::function<void(const Progress&)>& on_progress);

// All ranks on either side of a pair, ascending.
std::vector<std::size_t> ranks_of(std::span<const Flow> pairs);

// The other ranks on the host of `from`, or those on other hosts: first one of each host, then the
// second of each, so that the first n are on as many hosts as possible. At most 256, because each
// costs a connection. hosts: each rank's.
std::vector<std::size_t> destinations_of(std::span<const std::string> hosts, std::size_t from,
                                         bool within_host);

struct GapInTurn {
  std::size_t destinations = 0;
  std::uint64_t bytes = 0;  // of each message
  double gap_s = 0;
};

// The gap between consecutive messages to the first 1, 2, 4, ... and to all of these ranks in turn;
// for each number, the sizes in their order.
std::vector<GapInTurn> time_gaps_in_turn(Network& network, std::size_t from,
                                         std::span<const std::size_t> to,
                                         std::span<const std::uint64_t> sizes, Repeats& repeats,
                                         const std::function<void(const Progress&)>& on_progress);

}  // namespace espalier::runtime::probe
