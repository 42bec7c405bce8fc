// What a pulled message tells about the network: rates that were reached.
//
// All rates are lower estimates, because the network did carry them: at one time for all links of a
// host, and for all links that enter or leave a set of hosts. So a plan that keeps to all of them
// is at least as fast as the message was.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/pull/traffic.hpp"
#include "runtime/measure/analysis.hpp"

namespace espalier::runtime {

struct LearntNetwork {
  // The links from all other ranks to these, or from these to all others. It is kept where it
  // carried clearly less than its links and its ends did, each at its best time: then the links
  // may share one.
  struct Cut {
    std::vector<std::size_t> ranks;  // ascending
    bool is_inward = true;
    double rate_Bps = 0;
  };
  std::vector<double> send_Bps;     // by rank, to all others together; 0: it sent nothing
  std::vector<double> receive_Bps;  // likewise
  std::vector<double> link_Bps;     // [from * ranks + to]; 0: nothing was sent
  std::vector<Cut> cuts;

  [[nodiscard]] std::size_t ranks() const { return send_Bps.size(); }
  [[nodiscard]] double link(std::size_t from, std::size_t to) const {
    return link_Bps[from * ranks() + to];
  }
  // Of ranks * (ranks - 1).
  [[nodiscard]] std::size_t links_used() const;
};

// received: by rank, what it received, in bins of one length. Rates are means over a sixteenth of
// the message's time, nearly the highest ones, so that what buffers held back hardly counts.
LearntNetwork learn_network(std::span<const engine::pull::Traffic> received);

// The highest rate, in bytes/s, at which all ranks can get a message that some of them have,
// keeping to the rates of hosts and cuts. Never below the rate of the message that the network was
// learnt from.
struct LearntBound {
  double rate_Bps = 0;  // 0: nothing is known
  std::string limit{};  // "h4 receives": what is narrowest
};
// shares: by rank, of the message, what it has at the beginning; sum 1. names: by rank.
LearntBound bound_of(const LearntNetwork& network, std::span<const double> shares,
                     std::span<const std::string> names);

// The network between ranks of which several may share a host, from that between the hosts.
// host_of: by rank, the host's number. What a host sends and receives its ranks share; within it
// they are taken to be ten times as fast as the fastest host is with others.
LearntNetwork among_ranks(const LearntNetwork& hosts, std::span<const std::size_t> host_of);

// The network as a platform for probe::platform_json. A link that carried nothing gets the least
// rate of all links that leave its sender or enter its receiver.
probe::Estimate estimate_of(const LearntNetwork& network, std::vector<std::string> names);

}  // namespace espalier::runtime
