// The rates of lanes (flows) that use resources at the same time: max-min fair by progressive
// filling (Bertsekas and Gallager, "Data networks", section 6.5.2). Lanes that a change does not
// reach keep their rates: rates are fair where each lane has a full resource, its bottleneck, of
// which no lane has a higher level. So first only the lanes are computed that changed, or whose
// bottleneck these use; then those as well for which that does not hold any more, until there are
// none.
//
//   shares.open(lane); shares.close(lane); shares.touch(lane);   // what changes
//   for (lane : shares.changed()) shares.set_count(lane, …);     // if it has another one
//   for (lane : shares.compute()) …                              // rate() of these lanes is new
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

class FairShares {
 public:
  explicit FairShares(std::size_t resources) : resources_(resources) {}

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
  // The lane has another count, or its user wants it among the next ones that are computed.
  void touch(std::uint32_t lane) { changed_.push_back(lane); }
  // Lanes that were opened, closed or touched since the last call of compute, maybe repeatedly.
  [[nodiscard]] std::span<const std::uint32_t> changed() const { return changed_; }
  [[nodiscard]] bool is_open(std::uint32_t lane) const { return lanes_[lane].is_open; }
  // How many units of an open lane are served at once, each at its rate. Precondition: it is among
  // the changed ones.
  void set_count(std::uint32_t lane, double count) { lanes_[lane].count = count; }

  // Computes the rates again. Returns the open lanes that were changed, or whose rates are others
  // now, each once. Valid until the next call.
  std::span<const std::uint32_t> compute();
  // Units of service per second, of each unit that is served at once.
  [[nodiscard]] double rate(std::uint32_t lane) const { return lanes_[lane].rate; }

 private:
  struct Lane {
    std::uint32_t first = 0;  // of its needs
    std::uint32_t last = 0;
    double weight = 1;
    double count = 1;
    double rate = 0;  // level times weight
    double level = 0;
    double load = 0;  // what Resource::left counts of it: its rate times its count; 0: nothing
    std::uint32_t bottleneck = 0;  // a resource
    bool is_open = false;
    bool is_changed = false;  // since the last call of compute
    bool is_held = false;     // its bottleneck counts it
    bool is_free = false;     // its rate is computed now
    bool is_waiting = false;  // and not fixed yet
  };
  struct Resource {
    std::vector<std::uint32_t> users;  // open lanes
    double left = 1;                   // fraction of its time that is not assigned
    double held_level = 0;             // of the lanes whose bottleneck it is, but for free ones
    std::uint32_t held = 0;            // how many these are
    // While rates are computed:
    bool is_gathered = false;    // used by a changed or a free lane
    bool is_bottleneck = false;  // of a free lane
    std::uint32_t waiting = 0;   // free lanes whose rates are not fixed
    double demand = 0;           // of its time, per unit of level, by these
    double level = 0;            // the highest one of free lanes
  };
  struct Level {
    double level;
    std::uint32_t resource;
    bool operator>(const Level& other) const { return level > other.level; }
  };

  // Frees the lane: its rate is computed now.
  void free(std::uint32_t lane);
  void free_users(std::uint32_t resource, const auto& is_unfair);
  void gather_resources_of(std::uint32_t lane);
  void unload(std::uint32_t lane);
  void free_what_changed();
  void fill();
  [[nodiscard]] static double level_of(const Resource& resource, double least);
  void fix_level(std::uint32_t lane, const Level& level);
  // Frees the lanes of the gathered resources whose rates are not fair any more. Returns whether
  // there are any.
  bool free_what_is_unfair();

  static constexpr double kRounding = 1e-11;  // relative

  std::vector<Lane> lanes_;
  std::vector<Holding> needs_;
  std::vector<Resource> resources_;
  std::vector<std::uint32_t> changed_;   // lanes
  std::vector<std::uint32_t> gathered_;  // resources
  std::vector<std::uint32_t> free_;      // lanes
  std::vector<std::uint32_t> computed_;  // lanes that compute returns
  std::vector<Level> levels_;            // a heap
};

}  // namespace espalier::simulate
