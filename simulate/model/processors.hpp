// The hosts of a reduction: the segments that have arrived from their children, and the processors
// that add these to the hosts' own. A processor adds one segment at a time: of a segment child
// after child in the plan's order, of a tree segment after segment, the trees in turns (as
// engine/engine_in.hpp does).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "simulate/model/agenda.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

class Processors {
 public:
  // Keeps references to all. resources: rows of A; on_send numbers processors after them.
  Processors(const Task& task, std::size_t resources, Agenda& agenda, const OnSend& on_send);

  // Whether adding takes time. Otherwise what arrives is not reported to the processors.
  [[nodiscard]] bool take_time() const { return take_time_; }
  // One more segment of the flow, an edge of a reduce tree, has arrived.
  void arrive(std::uint32_t flow);
  // The host's processor is done with its segment. Returns the flow that it arrived on.
  std::uint32_t end(std::uint32_t host);
  // Starts all processors that are free and have a segment to add.
  void begin() {
    if (!woken_.empty()) begin_woken();
  }

 private:
  // A host's segments of one tree.
  struct Sum {
    std::uint64_t combined = 0;  // segments added to the host's own, of all children
    std::uint32_t added = 0;     // children whose part of segment `combined` is added
  };
  struct Processor {
    std::set<std::uint32_t> ready;  // trees with a segment to add, except the current one
    std::uint32_t tree;             // the current or last one; trees_: it was idle
    bool is_busy = false;
  };

  [[nodiscard]] std::uint32_t next_of(std::uint32_t host, std::uint32_t tree) const {
    return task_.flows.below(host, tree).first + sums_[host * trees_ + tree].added;
  }
  [[nodiscard]] bool can_add(std::uint32_t host, std::uint32_t tree) const {
    return arrived_[next_of(host, tree)] > sums_[host * trees_ + tree].combined;
  }
  void begin_woken();
  void report(std::uint32_t host, bool is_short) const;

  const Task& task_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::size_t resources_;
  std::size_t trees_;  // of which only reduce trees matter
  Ticks full_;
  std::vector<Ticks> last_;  // per tree
  bool take_time_;
  std::vector<Sum> sums_;               // per host and tree
  std::vector<std::uint64_t> arrived_;  // per flow
  std::vector<Processor> processors_;
  std::vector<std::uint32_t>
      woken_;                // at this time: hosts whose processors may have a segment to add
  std::uint64_t begun_ = 0;  // segments
};

}  // namespace espalier::simulate
