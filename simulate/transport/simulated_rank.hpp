// The engines of all ranks of a simulated call: those of the executor, on SimulatedTransport.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "planner/plan/plan.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"
#include "simulate/transport/simulated_transport.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// A store without bytes: it only says how many segments a rank has buffers for, as those of
// runtime/memory do.
class StoreWithoutBytes : public engine::SegmentStore {
 public:
  // Of a tree.
  struct Buffers {
    std::vector<std::uint64_t> in;  // segments of each in-edge; empty: the whole message
    bool sends_from_first = true;   // segments are sent from where the first in-edge's arrive
    bool waits_for_all = false;     // it has exchange edges, which do so in a store that holds all
  };

  explicit StoreWithoutBytes(std::vector<Buffers> buffers)
      : buffers_(std::move(buffers)),
        holds_all_(std::ranges::any_of(buffers_, &Buffers::waits_for_all)) {}

  // Else a root would load all segments before it sends the first one, which is long before a time
  // limit is looked at. A window never has so many.
  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return holds_all_ ? UINT64_MAX : kMostLoaded;
  }
  // The same for all segments: a block after another one has its segments where that one has its.
  std::byte* buffer_for(const engine::Segment& /*segment*/) override { return nullptr; }
  [[nodiscard]] std::uint64_t capacity(std::size_t tree, std::size_t in) const override {
    return buffers_[tree].in.empty() ? UINT64_MAX : buffers_[tree].in[in];
  }
  [[nodiscard]] bool sends_from(std::size_t tree, std::size_t in) const override {
    return in == 0 && buffers_[tree].sends_from_first;
  }

 private:
  static constexpr std::uint64_t kMostLoaded = 1U << 16U;
  std::vector<Buffers> buffers_;
  bool holds_all_;
};

class SimulatedRank {
 public:
  // blocks and ranges: of the rank. flow_of: as in SimulatedTransport.
  template <class FlowOf>
  SimulatedRank(Channels& channels, std::uint32_t rank, std::vector<engine::Block> blocks,
                std::vector<engine::Range> ranges, const engine::Options& options,
                const FlowOf& flow_of)
      : roles_(engine::trees_of(blocks)),
        ranges_(std::move(ranges)),
        transport_(channels, rank, roles_, flow_of),
        engine_(transport_, std::move(blocks), options) {}

  struct Memory {
    bool has_results;  // of every block that combines, and not only where the rank is the root
    bool has_parts;    // all that the rank copies; otherwise only what it does not pass on
  };
  void begin(const Memory& memory);
  void complete(const engine::Operation& operation) { engine_.complete(operation); }
  void prefetch(const engine::Operation& operation) const { engine_.prefetch(operation); }
  // Does everything that has become possible. Returns when a delayed send is due; 0: none is.
  double move_on() {
    engine_.progress();
    return engine_.due_s();
  }
  [[nodiscard]] double due_s() const { return engine_.due_s(); }
  [[nodiscard]] bool is_done() const { return engine_.is_done(); }

 private:
  std::vector<engine::TreeRole> roles_;
  std::vector<engine::Range> ranges_;  // of its blocks
  SimulatedTransport transport_;
  engine::Engine<SimulatedTransport> engine_;
  std::unique_ptr<StoreWithoutBytes> store_;
};

// As in Options.
struct Windows {
  std::uint64_t sends = planner::kSendsInFlight;
  std::uint64_t receives = planner::kReceivesInFlight;
  bool until_received = false;
  Sharing sharing = Sharing::kTurns;
  bool rounds = false;
  Seconds longest{std::numeric_limits<double>::infinity()};  // a run is stopped after this time
};

// A plan's call for one message.
struct Call {
  const planner::Plan& plan;
  const Flows& flows;
  const Assignments& assignments;               // of the message
  std::span<const planner::SegmentGrid> grids;  // of each block
};

// One per host. Rank i is the plan's node i.
std::vector<std::unique_ptr<SimulatedRank>> ranks_of(const Call& call, const Windows& windows,
                                                     Channels& channels);

}  // namespace espalier::simulate
