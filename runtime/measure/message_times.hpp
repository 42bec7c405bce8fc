// What messages of several sizes take between pairs of ranks: what the parameters of LogGP, PLogP
// and Hockney's model are told from (cost_models/fit/measured_messages.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/network.hpp"
#include "runtime/measure/probe.hpp"

namespace espalier::runtime::probe {

// Where a message goes: memory, or links.
enum class PairClass : std::uint8_t { kBetweenHosts, kWithinHost };
inline constexpr std::string_view kPairClasses[] = {"between-hosts", "within-host"};

// Ordered pairs of that class, at most `most` of them, evenly spread over all; both empty when
// there is none. hosts: where each rank runs.
struct PairSample {
  std::vector<Flow> pairs;
  std::size_t of = 0;  // how many there are
};
PairSample sample_pairs(std::span<const std::string> hosts, PairClass wanted, std::size_t most);

struct SizeTimes {
  std::uint64_t bytes = 0;
  MessageTimes times;
};
struct PairTimes {
  Flow flow;
  double gap_s = 0;              // between one-byte messages in a row
  std::vector<SizeTimes> sizes;  // ascending, the first of one byte
};

struct MessageOptions {
  double effort = kNormal;
  std::uint64_t largest_bytes = std::uint64_t{1} << 20;  // 2 at least
  std::function<void(const Progress&)> on_progress{};    // before each pair; may be empty
};

// 1, 64, 256 and the powers of two from 1 KiB, as far as below `largest_bytes`; and that.
std::vector<std::uint64_t> sizes_to_time(std::uint64_t largest_bytes);

// One pair after the other, nothing else beside it. Of three turns each figure's least: what
// disturbs a message makes it slower.
std::vector<PairTimes> time_pairs(Network& network, std::span<const Flow> pairs,
                                  const MessageOptions& options);

// Each figure's median over the pairs, at least one, which have the same sizes. `flow` is the
// first's.
PairTimes typical(std::span<const PairTimes> pairs);

}  // namespace espalier::runtime::probe
