// The rates of lanes (flows) that use resources at the same time: max-min fair by progressive
// filling (Bertsekas and Gallager, "Data networks", section 6.5.2). Only lanes that share with a
// changed one, directly or through others, are computed again: n of them in O(n log n).
//
//   shares.open(lane); shares.close(lane); shares.touch(lane);   // what changes
//   for (lane : shares.gather()) …                               // use the old rates a last time
//   shares.compute();                                            // rate() of these lanes is new
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

class FairShares {
 public:
  explicit FairShares(std::size_t resources)
      : users_(resources), shares_(resources), is_gathered_(resources, 0) {}

  // Adds a lane, which is not in use yet; returns its number, counted from 0. needs: the time of
  // one unit of service on each resource, each resource once, above 0.
  std::uint32_t add(std::span<const Holding> needs);
  // What each lane weighs against others: proportional to 1 / latency, as connections of TCP.
  // Without latency: the weight of the shortest latency. One latency per lane.
  void weigh(std::span<const double> latencies_s);

  [[nodiscard]] std::span<const Holding> needs(std::uint32_t lane) const {
    return std::span(needs_).subspan(lanes_[lane].first, lanes_[lane].last - lanes_[lane].first);
  }
  void open(std::uint32_t lane);
  void close(std::uint32_t lane);
  // The lane has another count, or its user wants it among the next ones that are gathered.
  void touch(std::uint32_t lane) { changed_.push_back(lane); }
  // How many units of a lane are served at once, each at its rate.
  void set_count(std::uint32_t lane, double count) { lanes_[lane].count = count; }

  // The open lanes that changes since the last call affect. Valid until the next call.
  std::span<const std::uint32_t> gather();
  // Computes their rates. Precondition: gather() was called, and no lane was opened or closed
  // since.
  void compute();
  // Units of service per second, of each unit that is served at once.
  [[nodiscard]] double rate(std::uint32_t lane) const { return lanes_[lane].rate; }

 private:
  struct Lane {
    std::uint32_t first = 0;  // of its needs
    std::uint32_t last = 0;
    double weight = 1;
    double count = 1;
    double rate = 0;
    bool is_waiting = false;  // gathered, and its rate is not fixed
  };
  struct Level {
    double level;
    std::uint32_t resource;
    bool operator>(const Level& other) const { return level > other.level; }
  };
  // A resource while rates are computed.
  struct Share {
    double left = 1;          // fraction of its time that is not assigned
    double demand = 0;        // of its time, per unit of level, by lanes whose rates are not fixed
    std::uint32_t lanes = 0;  // whose rates are not fixed
  };

  void gather_resources_of(std::uint32_t lane);
  void fix_rate(std::uint32_t lane, double level);

  std::vector<Lane> lanes_;
  std::vector<Holding> needs_;
  std::vector<std::vector<std::uint32_t>> users_;  // per resource: open lanes
  std::vector<Share> shares_;                      // per resource
  std::vector<std::uint32_t> changed_;             // lanes
  // Affected by the changed lanes:
  std::vector<std::uint32_t> resources_;
  std::vector<std::uint32_t> affected_;  // lanes
  std::vector<char> is_gathered_;        // per resource
};

}  // namespace espalier::simulate
