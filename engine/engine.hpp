// The engine that moves the segments of a message along all trees of all blocks at the same time:
// what arrives on several in-edges is combined, what leaves on several out-edges is copied. How it
// does so: docs/engine.md. It knows neither MPI nor a clock of its own (engine/transport.hpp), so
// tests run it under any order of events (tests/engine).
//
// No deadlock. A tree's segment is unfinished where it is copied until all ranks of the tree have
// it, where it is combined until the root has. Blocks share nothing (but see below), so consider
// one of them. Suppose that segments remain, no operation completes on any rank, and no rank has
// anything to combine. Let i be the oldest unfinished segment of the block and n its number in its
// tree. The tree's segments before n are finished, so every rank of the tree has received them on
// all its in-edges, all sends of them are complete, and their buffers are free. Follow the tree's
// edges from the ranks without in-edges to the first rank R on which n is not ready. If R has no
// in-edges, it is the root, which loads n, because nothing older is in flight (elsewhere a rank's
// own segments are ready from the start). Otherwise n is ready on the senders of all of R's
// in-edges, their windows have space, and they have sent n. R has posted the receives of n: its
// buffers are free, and if R is the root, n is within the lookahead. Sends and receives match, so
// they complete, and R combines: a contradiction. Where ranks compare their calls, receives may
// wait for it, which ends when all ranks have begun.
//
// A block after another one shares buffers with it, and nothing in the first waits for the second.
// So the first ends. Then all segments are combined at the root, which may send them, and all ranks
// have sent theirs, so their buffers are free, and the argument holds for the second.
//
// Where parts are routed, a rank of a path in between has no memory for the part, but a ring of few
// buffers for each path (SegmentStore::capacity), which no other path uses. The argument holds as
// it is: it only needs the buffers of segments before n to be free, which they are when the segment
// has been sent on, so one buffer would do. It does not matter that blocks with different senders
// wait in rings of the same ranks, nor in which order, or that a rank is the sender of one block,
// the receiver of another and forwards a third: a send waits for its receive, a receive for a
// buffer of its own path, and the buffer for the next send of that path, which ends at a receiver
// that has memory for all of its part. So nothing waits in a circle. Ranks that a block does not
// concern may leave it out: trees have numbers, by which the others find each other.
//
// Rings, by which segments are only copied, do not change this: a reader has a buffer for the whole
// message, so it empties the ring whatever else it waits for. If exchange edges are treated as
// ordinary edges, the argument holds for the ranks that no exchange edge leads to; once these have
// all segments, the ranks at the end of their exchange edges are served like children of a root
// that has injected everything, and so on. In rounds, which each block counts for itself, the
// lookahead cannot block: they need trees of equal rates, whose segments are due in the order of
// the message to within one per tree.
//
// With ports, a rank has at most that many sends in progress over all blocks that copy, and as many
// over all that combine. Where parts are routed, only what a rank sends of its own is limited: with
// a port in common, paths would wait for one another. What others pass on waits for none of these
// sends, so each one in progress ends, and makes way for the next. Where segments are copied, those
// of the oldest that can be sent go first. This needs stores that hold the whole message: then a
// receive is posted as soon as the preceding ones have completed, whatever the receiver's own sends
// do, so the oldest send in progress from one rank to another matches, completes, and makes way for
// the next. With smaller buffers, two ranks that are each other's parent in two trees could wait
// for each other. (After another block a receive waits for this rank's send in that block, which
// does not depend on sends that copy.) Where segments are combined, a rank sends strictly in one
// order of all segments of all blocks (turn_of). Let i be the first unfinished one in that order.
// All before it are finished, so it is the next one that the senders into R send. (In any other
// order a send that waits for a buffer could occupy the port that another send needs to free this
// buffer.)
//
// Without ports, too, a rank sends in that order what it has not received from others, over all
// blocks that combine (Flow::sends_in_order). The same i shows that this does not block.
//
// In a crowd (below) each rank has an order of its own among segments of equal turns. Let t be the
// least turn of an unfinished segment: all of lower turns are finished, so there are buffers for
// all of turn t, and each is sent. A limited send waits for others of its rank, and each of those
// in progress ends: what is copied after it was combined has been sent by all ranks before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/block.hpp"
#include "engine/flow.hpp"
#include "engine/rounds.hpp"
#include "engine/segments.hpp"
#include "engine/timetable.hpp"
#include "engine/transport.hpp"
#include "engine/tree_role.hpp"
#include "engine/windows.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/segment_choice.hpp"
#include "planner/plan/send_windows.hpp"
#include "support/pinned.hpp"

namespace espalier::engine {

// Where all ranks begin to send to many others at once, as in an alltoall or along trees of one
// edge each, the buffers in the network may not hold it. What is lost TCP sends again only after
// 0.2 s. So a rank that sends `from` bytes of its own to more than `most` ranks of other hosts, and
// receives from as many, begins with so many: the first segment for another one is sent when one
// has arrived (docs/runtime.md, "All to all").
struct Crowd {
  std::size_t most = planner::kFewNeighbours;
  Bytes from{128 << 10};
};

struct Options {
  std::size_t sends_in_flight = planner::kSendsInFlight;        // per out-edge of a tree
  std::size_t receives_in_flight = planner::kReceivesInFlight;  // per in-edge of a tree
  // With latencies the windows are larger than the two above, and larger still for segments that
  // are sent by a rendezvous (engine/windows.hpp).
  planner::SegmentCosts costs;
  // Most sends in progress over all edges of trees that copy, and of trees that combine; where
  // parts are routed, of the rank's own parts. 0: no limit but that of a crowd.
  std::size_t ports = 0;
  Crowd crowd;
  std::optional<Timetable> timetable{};  // of this rank; unset: no schedule
  // Called during a message with the number of bytes that this rank has finished; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// One message.
struct Message {
  std::uint64_t element_bytes = 1;  // bytes of the unit of all ranges
  bool stoppable = false;           // stores may fail, and then all flows end early
  bool is_risky = false;            // no receive is posted before the ranks' calls are compared
};

template <Transport T>
class Engine : public Pinned {
 public:
  // transport: used by this engine alone; must outlive it. blocks: those of the call, in the same
  // order on all ranks; some that do not concern this rank may be missing (Block::first_tree). With
  // rounds, their trees have no exchange edges, and all trees of a block have the same rate. A
  // timetable is for the blocks of a plan with one root, whose assignments are those of the slots.
  // Rounds, ports and a timetable exclude one another, and blocks that route; but for ports where
  // all blocks route.
  Engine(T& transport, std::vector<Block> blocks, Options options);

  // For each message: prepare, then begin, then wait or progress until is_done. Collective as a
  // whole. ranges: of each block; equal where a block is after another. A message that may be
  // stopped has a single block, which copies. After prepare, the transport's windows are those of
  // the message.
  void prepare(const Message& message, std::span<const Range> ranges);
  // How many segments of the message a tree carries.
  [[nodiscard]] std::uint64_t segments_of(std::size_t tree) const {
    const Part& part = part_of(tree);
    return part.block.assignment.count(tree - part.first, part.count());
  }
  // store: with ports, holds all of the blocks that copy; with a timetable, as many
  // segments as the slots require. Must outlive the message. What these three throw, besides
  // exceptions of the transport and the store: InputError for a segment of a wrong size.
  // Afterwards operations may still be in progress, and the engine must not be used again.
  void begin(SegmentStore& store);
  // Of a transport that does not collect what has completed: an operation has, without an error and
  // with all its bytes. What has thereby become possible is done by the next wait or progress.
  void complete(const Operation& operation);
  // Loads what complete will read, because the state of many ranks is not in a cache.
  void prefetch(const Operation& operation) const {
    const Flow& flow = flows_[operation.tree];
    __builtin_prefetch(&flow);
    __builtin_prefetch(&flow.to_send);  // in its next cache line
    if (operation.is_send) {
      __builtin_prefetch(&flow.out[operation.edge]);
    } else {
      __builtin_prefetch(&flow.in[operation.edge]);
    }
  }
  // Waits until something completes, and does what has become possible.
  void wait();
  // The same without waiting. Returns whether anything happened.
  bool progress();
  [[nodiscard]] bool is_done() const;
  // By the transport's clock: when the earliest send is due that waits for its pace; 0: none does.
  [[nodiscard]] double due_s() const { return due_s_; }

 private:
  // A block, and how far its message is.
  struct Part {
    Block block;        // its trees: in roles_
    std::size_t first;  // its trees: [first, last)
    std::size_t last;
    bool combines;
    bool concerns_rank;
    bool is_followed = false;  // a block is after it
    bool is_touched = false;   // it may be possible to load a segment
    std::optional<RoundClock> rounds{};
    std::uint64_t lookahead = 0;
    Range range{};
    std::uint64_t next = 0;  // segment to be loaded next; where sends are in order, to be sent next
    std::uint64_t oldest = 0;              // no segment before it is unfinished (on the root)
    std::vector<std::uint32_t> too_far{};  // trees with a receive that waits for `oldest`

    [[nodiscard]] std::uint64_t count() const { return range.grid.count(); }
    // The tree and the number in it of segment `index`.
    [[nodiscard]] std::size_t tree_of(std::uint64_t index) const {
      return first + block.assignment.tree_of(index);
    }
    [[nodiscard]] std::uint64_t nth_of(std::uint64_t index) const {
      return block.assignment.count(block.assignment.tree_of(index), index);
    }
    [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
      return block.assignment.segment_of(tree - first, nth);
    }
  };

  [[nodiscard]] const Part& part_of(std::size_t tree) const { return parts_[flows_[tree].part]; }
  [[nodiscard]] Part& part_of(std::size_t tree) { return parts_[flows_[tree].part]; }
  [[nodiscard]] Segment segment_at(std::size_t tree, std::uint64_t nth) const {
    const Part& part = part_of(tree);
    const SegmentGrid& grid = part.range.grid;
    const std::uint64_t index = part.segment_of(tree, nth);
    return {index, tree, nth, part.range.first + grid.offset(index),
            static_cast<std::size_t>(grid.length(index))};
  }
  // Only the last one of a tree may be shorter than the others.
  [[nodiscard]] std::uint64_t length_of(std::size_t tree, std::uint64_t nth) const {
    if (nth + 1 < flows_[tree].end) return part_of(tree).range.grid.segment;
    return segment_at(tree, nth).length;
  }
  // What the transport and the store need of a segment: nothing where no bytes are moved.
  [[nodiscard]] Segment transfer_at(std::size_t tree, std::uint64_t nth) const {
    if constexpr (T::kMovesBytes) return segment_at(tree, nth);
    return {};
  }
  // The tree's block if it has rounds; otherwise null.
  [[nodiscard]] const Part* in_rounds(const Flow& flow) const {
    return has_rounds_ && parts_[flow.part].rounds ? &parts_[flow.part] : nullptr;
  }
  [[nodiscard]] Bytes segment_bytes(const Part& part) const {
    return {std::max<std::uint64_t>(part.range.grid.segment * message_.element_bytes, 1)};
  }
  [[nodiscard]] static Operation receive_of(std::size_t tree, std::size_t edge, std::uint64_t nth) {
    return {false, static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(edge), nth};
  }
  [[nodiscard]] static Operation send_of(std::size_t tree, std::size_t edge, std::uint64_t nth) {
    return {true, static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(edge), nth};
  }

  // --- the course of a message (engine_course.hpp) ---
  void set_windows();
  std::vector<TreeWindows> windows_for(Part& part) const;
  void set_scheduled_windows(std::vector<TreeWindows>& windows);
  // Whether segments leave in the order of all blocks, and not as soon as possible.
  [[nodiscard]] bool sends_in_order(const Flow& flow) const;
  void reset_flows();
  void reset(std::size_t tree);
  void handle(std::span<const Completion> completions);
  // One more operation of an edge is complete; counts those that are in the order of the segments,
  // of those that have begun. of: the first that is not counted.
  void count_complete(std::uint64_t& complete, std::uint64_t begun, Operation of);
  // Does everything that has become possible. Returns whether anything was combined. What it does
  // for every segment is inline, which is a tenth of a simulation's time.
  [[gnu::always_inline]] inline bool move_on();
  // Only trees and blocks in which something may have become possible are looked at: those of an
  // operation that is complete, and what waits for them. A tree waits for itself alone, unless it
  // - is combined at this rank, and too far ahead of the block's oldest segment (Part::too_far),
  // - is in a block after another one (waiting_for_), or
  // - is delayed by its pace (delayed_).
  void touch(std::size_t tree);
  void touch_all();
  // The same of a tree whose edges are marked already.
  [[gnu::always_inline]] inline void note(Flow& flow);
  void note_loading(std::uint32_t part);
  void touch_each(std::vector<std::uint32_t>& trees);  // and empties the list
  void wait_for(std::size_t tree, std::size_t waiting);
  // What waits for the tree, which has gone on.
  void touch_waiting(const Flow& flow);
  // Each tree once, in their order. Returns whether anything was combined.
  bool advance_touched();
  // Of each block with rounds: false while a receive or send of its round is in progress, and at
  // the end.
  bool begin_next_rounds();
  bool begin_next_round(Part& part);
  [[nodiscard]] bool flows_are_done(std::size_t first, std::size_t last) const;
  [[gnu::always_inline]] inline bool advance(Flow& flow);
  void signal_abort();
  // Ends each flow whose segments are not all loaded with an empty message.
  void stop_all_flows();
  void add_progress(std::size_t tree, std::uint64_t nth);

  // --- in (engine_in.hpp) ---
  // Of the blocks that are touched.
  void load_touched();
  void load(Part& part);
  void load_combined(Part& part);
  [[nodiscard]] bool may_load(Part& part, Flow& flow, std::uint64_t index);
  void send_loaded(Flow& flow);
  // Searches for the oldest unfinished segment only when the known one is too old, and finished.
  [[nodiscard]] bool is_too_far_ahead(Part& part, std::uint64_t index);
  [[nodiscard]] bool has_finished_oldest(const Part& part) const;
  // Of a block after another one: whether the segment is combined on this rank, and whether its
  // buffer is not in use for that any more.
  [[nodiscard]] bool is_combined(const Part& part, std::uint64_t index);
  [[nodiscard]] bool is_free(const Segment& segment);
  // A receive is complete.
  void note_arrived(Flow& flow, std::size_t edge);
  bool combine_one(Flow& flow);
  void keep_arrived(Flow& flow);
  [[gnu::always_inline]] inline void post_receives(Flow& flow);
  void post_scheduled_receives();
  // False if there is no buffer for the segment yet, or another reason to wait.
  [[gnu::always_inline]] inline bool post_receive(Flow& flow, std::size_t edge);
  // The next receive of an in-edge.
  [[nodiscard]] bool is_at_risk(std::size_t tree, std::size_t edge) const;
  void check_received(const Completion& completion);
  void stop_flow(std::size_t tree, std::uint64_t nth);

  // --- out (engine_out.hpp) ---
  // Segment by segment, and each segment on the out-edges in the order of the plan.
  [[gnu::always_inline]] inline void start_sends(Flow& flow);
  void start_oldest_sends();
  void start_sends_in_order();
  // Most limited sends in progress; 0: none are limited.
  [[nodiscard]] std::size_t most_limited_sends() const;
  // How many sends of the edge are limited, the first ones.
  [[nodiscard]] std::uint64_t limited_sends(const Flow& flow, std::size_t edge) const;
  void await_turn(Flow& flow, std::size_t edge);
  void start_limited_sends();
  [[gnu::always_inline]] inline void begin_send(Flow& flow, std::size_t edge);
  [[nodiscard]] std::uint32_t place_of_next(const Part& part) const;
  // Of two blocks, by the next segment of each.
  [[nodiscard]] bool is_later(std::uint32_t part, std::uint32_t other) const;
  void start_scheduled_sends();
  // Touches the tree again when it is delayed.
  [[nodiscard]] bool may_send(const Flow& flow, std::size_t edge);
  // Above 0 on high-latency links and on links beside them (planner/plan/send_windows.hpp).
  [[nodiscard]] double pace_s(std::size_t tree, std::size_t edge) const;
  // When its first send is due: 0, or within the first pace.
  [[nodiscard]] double first_due_s(const Flow& flow, std::size_t edge) const;
  [[nodiscard]] bool is_paced_now(const Flow& flow, std::size_t edge);
  [[gnu::always_inline]] inline bool start_send(Flow& flow, std::size_t edge);
  // A send is complete.
  void note_sent(Flow& flow, std::size_t edge);
  [[gnu::always_inline]] inline void free_sent(Flow& flow);

  // --- errors (engine_errors.hpp) ---
  [[nodiscard]] std::string describe(const Operation& operation) const;
  [[nodiscard]] std::string context() const;
  [[nodiscard]] std::vector<Operation> outstanding() const;
  // After a segment of a wrong size: waits for the comparison of calls, which is the likely reason.
  // All ranks have begun it, so it will end.
  void fail(const Completion& completion);
  void give_up();

  // What every step needs comes first, because of many ranks in one process little is in a cache.
  T& transport_;
  std::vector<Flow> flows_;             // of each tree
  std::vector<std::uint32_t> touched_;  // trees
  std::size_t undone_ = 0;              // trees that are not done
  double due_s_ = 0;                    // when the earliest delayed send is due; 0: none is delayed
  bool looks_at_all_ = false;           // events matter that are not those of a tree
  bool was_checked_ = false;            // when the engine last moved on
  bool has_rounds_ = false;
  bool reports_progress_;
  std::array<std::size_t, 2> outstanding_{};  // sends of trees that copy, of trees that combine
  std::uint64_t limited_sends_ = 0;           // in progress
  std::size_t most_limited_sends_ = 0;
  std::vector<std::uint32_t> touched_parts_;  // blocks that load
  std::vector<std::uint32_t> loading_;        // those of them whose turn it is
  std::vector<std::uint32_t> in_order_;       // blocks with sends in order: a heap by is_later
  struct Waiting {
    double turn;
    std::uint32_t place;
    std::uint32_t tree;
    std::uint32_t edge;
    auto operator<=>(const Waiting&) const = default;
  };
  std::vector<Waiting> waiting_;        // limited sends: a heap
  std::vector<std::uint32_t> delayed_;  // trees in which a send waits for its pace
  std::vector<Flow::In> in_;            // of all trees, one after the other
  std::vector<Flow::Out> out_;
  SegmentStore* store_ = nullptr;
  std::vector<Part> parts_;
  std::vector<TreeRole> roles_;  // in all trees
  Options options_;
  Message message_;
  std::uint64_t done_bytes_ = 0;
  std::uint64_t most_sends_ = 0;  // with a timetable, over all trees
  std::uint64_t most_receives_ = 0;
  // For each tree of a block that another one is after: the trees of that one that wait for it.
  // Empty: no block is after another one.
  std::vector<std::vector<std::uint32_t>> waiting_for_;
  bool combines_any_ = false;  // a block combines
  bool routes_ = false;        // all blocks route
  bool may_be_crowded_ = false;
  bool uses_rings_ = false;
  bool stopping_ = false;  // the root has ended flows early
};

}  // namespace espalier::engine

#include "engine/engine_course.hpp"  // IWYU pragma: export
#include "engine/engine_errors.hpp"  // IWYU pragma: export
#include "engine/engine_in.hpp"      // IWYU pragma: export
#include "engine/engine_out.hpp"     // IWYU pragma: export
#include "engine/engine_touch.hpp"   // IWYU pragma: export
