// Times of messages of several sizes between pairs of ranks, from which the parameters of LogGP,
// PLogP and Hockney's model are fitted (cost_models/fit/measured_messages.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/messages/repeats.hpp"
#include "runtime/measure/network.hpp"
#include "runtime/measure/probe.hpp"

namespace espalier::runtime::probe {

// Whether messages go over links or within a host's memory.
enum class PairClass : std::uint8_t { kBetweenHosts, kWithinHost };
inline constexpr std::string_view kPairClasses[] = {"between-hosts", "within-host"};

// Ordered pairs of this class, at most `most`, evenly spread over all; no pairs and `of` 0 if there
// are none. hosts: each rank's host.
struct PairSample {
  std::vector<Flow> pairs;
  std::size_t of = 0;  // number of pairs in the class
};
PairSample sample_pairs(std::span<const std::string> hosts, PairClass wanted, std::size_t most);

struct SizeTimes {
  std::uint64_t bytes = 0;
  MessageTimes times;
};
struct PairTimes {
  Flow flow;
  double gap_s = 0;              // between consecutive one-byte messages
  std::vector<SizeTimes> sizes;  // ascending, the first of one byte
};

struct MessageOptions {
  double effort = kNormal;
  std::uint64_t largest_bytes = std::uint64_t{1} << 20;  // at least 2
  std::function<void(const Progress&)> on_progress{};    // before each pair; may be empty
};

// 1, 64, 256 and the powers of two from 1 KiB that are below `largest_bytes`, and `largest_bytes`.
std::vector<std::uint64_t> sizes_to_time(std::uint64_t largest_bytes);

// Measures one pair after the other, without other traffic. A run of `repeats` gives the medians
// of several messages.
std::vector<PairTimes> time_pairs(Network& network, std::span<const Flow> pairs,
                                  const MessageOptions& options, Repeats& repeats);

// The median of each value over the pairs. Precondition: at least one pair, and all have the same
// sizes. `flow` is that of the first pair.
PairTimes typical(std::span<const PairTimes> pairs);

}  // namespace espalier::runtime::probe
