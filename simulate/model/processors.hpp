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

  // How many segments of `tree` the host has combined with those of all its children. For leaves:
  // all, from the start.
  [[nodiscard]] std::uint64_t combined(std::uint32_t host, std::uint32_t tree) const {
    return sums_[host * trees_ + tree].combined;
  }
  // How many segments of the flow, an edge of a reduce tree, have arrived, and how many of these
  // have been added.
  [[nodiscard]] std::uint64_t arrived(std::uint32_t flow) const { return arrived_[flow]; }
  [[nodiscard]] std::uint64_t added(std::uint32_t flow) const;

  // One more segment of the flow has arrived. If adding takes no time, calls on_added(flow, whole)
  // for each segment added now; `whole`: the sum is complete.
  template <class Added>
  void arrive(std::uint32_t flow, Added on_added) {
    ++arrived_[flow];
    const Flow& edge = task_.flows.all()[flow];
    if (takes_no_time_) {
      while (can_add(edge.parent, edge.tree)) {
        const std::uint32_t next = next_of(edge.parent, edge.tree);
        on_added(next, add(edge.parent, edge.tree));
      }
    } else if (can_add(edge.parent, edge.tree)) {
      note_ready(edge.parent, edge.tree);
    }
  }
  // The host's processor is done with its segment: calls on_added(flow, whole) as above.
  template <class Added>
  void end(std::uint32_t host, Added on_added) {
    Processor& processor = processors_[host];
    const std::uint32_t tree = processor.tree;
    processor.is_busy = false;
    const std::uint32_t flow = next_of(host, tree);
    const bool whole = add(host, tree);
    if (can_add(host, tree)) processor.ready.insert(tree);
    woken_.push_back(host);
    on_added(flow, whole);
  }
  // Starts all processors that are free and have a segment to add.
  void begin() {
    if (!woken_.empty()) begin_woken();
  }

 private:
  // A host's segments of one tree.
  struct Sum {
    std::uint64_t combined = 0;
    std::uint32_t added = 0;  // children whose part of segment `combined` is added
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
  // Whether the sum is then complete.
  bool add(std::uint32_t host, std::uint32_t tree);
  void note_ready(std::uint32_t host, std::uint32_t tree);
  void begin_woken();
  void report(std::uint32_t host, bool is_short) const;

  const Task& task_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::size_t resources_;
  std::size_t trees_;  // of which only reduce trees matter
  Ticks full_;
  std::vector<Ticks> last_;  // per tree
  bool takes_no_time_ = true;
  std::vector<Sum> sums_;               // per host and tree
  std::vector<std::uint64_t> arrived_;  // per flow
  std::vector<Processor> processors_;
  std::vector<std::uint32_t>
      woken_;                // at this time: hosts whose processors may have a segment to add
  std::uint64_t begun_ = 0;  // segments
};

}  // namespace espalier::simulate
