// The file in which what was learnt of a network is kept until the same hosts meet again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/pull/learnt_network.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

struct KeptNetwork {
  std::vector<std::string> names{};  // of the ranks
  LearntNetwork network{};
  // The last message that was pulled, and its rate.
  planner::Operation operation = planner::Operation::kBroadcast;
  std::uint64_t message_bytes = 0;
  double pulled_Bps = 0;
  double measured_s = 0;            // when, in seconds since 1970; 0: to be measured again
  std::uint64_t plan_failures = 0;  // plans in succession that were slower than the pull
};

// Names of ranks that are the same wherever they run on the same hosts: the host's name, with ":2"
// for its second rank and so on.
std::vector<std::string> names_on_hosts(std::span<const std::string> hosts);

// The name of the file for these ranks in any order: a hash and ".json".
std::string kept_file_name(std::vector<std::string> names);

// {"format": "espalier-learnt", "version": 1, "nodes": [{"name": "a", "send_Bps": 1e7,
//  "receive_Bps": 1e7}], "links": [[0, 1, 1e7]], "cuts": [{"nodes": [0], "inward": true,
//  "rate_Bps": 1e7}], "operation": "broadcast", "message_bytes": 67108864, "pulled_Bps": 1e7,
//  "measured_s": 1.8e9, "plan_failures": 0}. Files without "operation" are of a broadcast.
std::string to_json(const KeptNetwork& kept);
// The network of these ranks, in their order. Throws InputError (file, JSON pointer, reason) for
// malformed text, another version, other names, rates that are not finite and positive.
KeptNetwork parse_kept_network(std::string_view text, const std::string& file,
                               std::span<const std::string> names);

// How much an earlier rate counts that is higher than the newest one, from 0 to 1: a half, and half
// of that for every day that has passed since.
double weight_of_earlier(Seconds age);
// What is known after a new measurement. A rate that has been exceeded is replaced; of the excess
// of an earlier rate over the new one, weight_of_earlier(age) stays. Hosts and links that carried
// nothing this time keep their rates; cuts are those of the new measurement. Precondition: the same
// ranks in the same order.
LearntNetwork combined(const LearntNetwork& earlier, const LearntNetwork& newest, Seconds age);

}  // namespace espalier::runtime
