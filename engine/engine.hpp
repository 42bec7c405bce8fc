// The engine that moves the segments of a message along all trees of a plan at the same time: what
// arrives on several in-edges is combined, what leaves on several out-edges is copied. How it does
// so: docs/engine.md. It knows neither MPI nor a clock of its own (engine/transport.hpp), so tests
// run it under any order of events (tests/engine).
//
// No deadlock. A tree's segment is unfinished where it is copied until all ranks have it, where it
// is combined until the root has. Suppose that segments remain, no operation completes on any rank,
// and no rank has anything to combine. Let i be the oldest unfinished segment of the message and n
// its number in its tree. The tree's segments before n are finished, so every rank of the tree has
// received them on all its in-edges, all sends of them are complete, and their buffers are free.
// Follow the tree's edges from the ranks without in-edges to the first rank R on which n is not
// ready. If R has no in-edges, it is the root, which loads n, because nothing older is in flight
// (elsewhere a rank's own segments are ready from the start). Otherwise n is ready on the senders
// of all of R's in-edges, their windows have space, and they have sent n. R has posted the receives
// of n: its buffers are free, and if R is the root, n is within the lookahead. Sends and receives
// match, so they complete, and R combines: a contradiction. Where ranks compare their calls,
// receives may wait for it, which ends when all ranks have begun.
//
// Rings do not change this: a reader has a buffer for the whole message, so it empties the ring
// whatever else it waits for. If exchange edges are treated as ordinary edges, the argument holds
// for the ranks that no exchange edge leads to; once these have all segments, the ranks at the end
// of their exchange edges are served like children of a source that has injected everything, and so
// on. In rounds the lookahead cannot block: they need trees of equal rates, whose segments are due
// in the order of the message to within one per tree.
//
// With ports, a rank has at most that many sends in progress. Where segments are copied, those of
// the oldest that can be sent go first. This needs stores that hold the whole message: then a
// receive is posted as soon as the preceding ones have completed, whatever the receiver's own sends
// do, so the oldest send in progress from one rank to another matches, completes, and makes way for
// the next. With smaller buffers, two ranks that are each other's parent in two trees could wait
// for each other. Where segments are combined, a rank sends strictly in the order of the message
// over all trees. All segments before i are finished, so i is the next one that the senders into R
// send. (In any other order a send that waits for a buffer could occupy the port that another send
// needs to free this buffer.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/flow.hpp"
#include "engine/rounds.hpp"
#include "engine/segments.hpp"
#include "engine/timetable.hpp"
#include "engine/transport.hpp"
#include "engine/tree_role.hpp"
#include "engine/windows.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/segment_choice.hpp"

namespace espalier::engine {

struct Options {
  std::size_t sends_in_flight = planner::kSendsInFlight;        // per out-edge of a tree
  std::size_t receives_in_flight = planner::kReceivesInFlight;  // per in-edge of a tree
  // With latencies the windows are larger than the two above, and larger still for segments that
  // are sent by a rendezvous (engine/windows.hpp).
  planner::SegmentCosts costs;
  bool synchronous = false;        // a send completes only after its receive was posted
  Bytes least_in_flight{};         // both windows hold at least this many bytes, up to 256 segments
  double most_in_flight = 0;       // planner::most_bytes_in_flight of the trees, all ranks' edges
  std::size_t ports = 0;           // most sends in progress over all edges and trees; 0: no limit
  std::vector<TreeRounds> rounds;  // of this rank, one per tree; empty: no rounds
  std::optional<Timetable> timetable{};  // of this rank; unset: no schedule
  // Called during a message with the number of bytes that this rank has finished; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// One message.
struct Message {
  SegmentGrid grid;
  std::uint64_t element_bytes = 1;  // bytes of the grid's unit
  bool stoppable = false;           // stores may fail, and then all flows end early
  bool is_risky = false;            // no receive is posted before the ranks' calls are compared
};

template <Transport T>
class Engine {
 public:
  // transport: used by this engine alone; must outlive it. roles: all trees combine, or none. With
  // rounds, roles have no exchange edges and all trees of the assignment have the same rate. With a
  // timetable, the assignment is that of its slots. Rounds, ports and a timetable exclude one
  // another; rounds and a timetable are only for trees that do not combine.
  Engine(T& transport, std::vector<TreeRole> roles, planner::SegmentAssignment assignment,
         Options options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  ~Engine() = default;

  // For each message: prepare, then begin, then wait or progress until is_done. Collective as a
  // whole. After prepare, the transport's windows are those of the message.
  void prepare(const Message& message);
  // How many segments of the message a tree carries.
  [[nodiscard]] std::uint64_t segments_of(std::size_t tree) const {
    return assignment_.count(tree, message_.grid.count());
  }
  // store: with ports, holds the whole message unless the trees combine; with a timetable, as many
  // segments as the slots require. Must outlive the message. What these three throw, besides
  // exceptions of the transport and the store: InputError for a segment of a wrong size.
  // Afterwards operations may still be in progress, and the engine must not be used again.
  void begin(SegmentStore& store);
  // Waits until something completes, and does what has become possible.
  void wait();
  // The same without waiting. Returns whether anything happened.
  bool progress();
  [[nodiscard]] bool is_done() const;

  // Of segment `index` of the message, once the ranks' calls are known to match: whether it is
  // ready on this rank, and whether this rank has nothing more to do for it.
  [[nodiscard]] bool is_ready(std::uint64_t index) const;
  [[nodiscard]] bool is_finished(std::uint64_t index) const;
  // The same: whether nothing arrives on this rank in the segment's tree.
  [[nodiscard]] bool only_sends(std::uint64_t index) const {
    return transport_.is_checked() && roles_[assignment_.tree_of(index)].in.empty();
  }

 private:
  [[nodiscard]] Segment segment_at(std::size_t tree, std::uint64_t nth) const {
    const std::uint64_t index = assignment_.segment_of(tree, nth);
    return {index, tree, nth, message_.grid.offset(index),
            static_cast<std::size_t>(message_.grid.length(index))};
  }
  [[nodiscard]] Bytes segment_bytes() const {
    return {std::max<std::uint64_t>(message_.grid.segment * message_.element_bytes, 1)};
  }
  [[nodiscard]] static Operation receive_of(std::size_t tree, std::size_t edge, std::uint64_t nth) {
    return {false, static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(edge), nth};
  }
  [[nodiscard]] static Operation send_of(std::size_t tree, std::size_t edge, std::uint64_t nth) {
    return {true, static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(edge), nth};
  }

  // --- the course of a message (engine_course.hpp) ---
  void set_windows();
  void set_scheduled_windows();
  void reset_flows();
  void handle(std::span<const Completion> completions);
  // Does everything that has become possible. Returns whether anything was combined.
  bool move_on();
  // False without rounds, while a receive or send of this round is in progress, and at the end.
  bool begin_next_round();
  [[nodiscard]] bool flows_are_done() const;
  bool advance(std::size_t tree);
  void signal_abort();
  // Ends each flow whose segments are not all loaded with an empty message.
  void stop_all_flows();
  void add_progress(const Segment& segment);

  // --- in (engine_in.hpp) ---
  [[nodiscard]] bool loads() const { return is_root_ && !combines_; }
  void load();
  // Searches for the oldest unfinished segment only when the known one is too old.
  [[nodiscard]] bool is_too_far_ahead(std::uint64_t index);
  void note_arrivals(std::size_t tree);
  bool combine_one(std::size_t tree);
  void keep_arrived(std::size_t tree);
  void post_receives(std::size_t tree);
  void post_scheduled_receives();
  // False if there is no buffer for the segment yet, or another reason to wait.
  bool post_receive(std::size_t tree, std::size_t edge);
  [[nodiscard]] bool is_at_risk(const Edge& edge, const Segment& segment) const;
  void check_received(const Completion& completion);
  void stop_flow(std::size_t tree, std::uint64_t nth);

  // --- out (engine_out.hpp) ---
  // Segment by segment, and each segment on the out-edges in the order of the plan.
  void start_sends(std::size_t tree);
  void start_oldest_sends();
  void start_sends_in_order();
  void start_scheduled_sends();
  [[nodiscard]] bool may_send(std::size_t tree, std::size_t edge);
  // True on high-latency links and on links beside them (planner/plan/send_windows.hpp).
  [[nodiscard]] bool keeps_pace(std::size_t tree, std::size_t edge) const;
  [[nodiscard]] bool is_paced_now(double due_s);
  bool start_send(std::size_t tree, std::size_t edge);
  void note_sent(std::size_t tree, std::size_t edge);
  void free_sent(std::size_t tree);

  // --- errors (engine_errors.hpp) ---
  [[nodiscard]] std::string describe(const Operation& operation) const;
  [[nodiscard]] std::string context() const;
  [[nodiscard]] std::vector<Operation> outstanding() const;
  // After a segment of a wrong size: waits for the comparison of calls, which is the likely reason.
  // All ranks have begun it, so it will end.
  void fail(const Completion& completion);
  void give_up();

  T& transport_;
  std::vector<TreeRole> roles_;
  planner::SegmentAssignment assignment_;
  Options options_;
  bool is_root_;
  bool combines_;
  bool receives_ = false;  // segments arrive on this rank
  std::optional<RoundClock> rounds_;
  std::uint64_t lookahead_ = 0;
  std::uint64_t most_sends_ = 0;  // with a timetable, over all trees
  std::uint64_t most_receives_ = 0;

  Message message_;
  SegmentStore* store_ = nullptr;
  std::vector<Flow> flows_;
  std::uint64_t next_ = 0;    // segment to be loaded next; with ports in order, to be sent next
  std::uint64_t oldest_ = 0;  // no segment before it is unfinished (on the root)
  std::uint64_t done_bytes_ = 0;
  std::size_t outstanding_ = 0;  // sends
  double due_s_ = 0;             // when the earliest delayed send is due; 0: none is delayed
  bool stopping_ = false;        // the root has ended flows early
};

}  // namespace espalier::engine

#include "engine/engine_course.hpp"  // IWYU pragma: export
#include "engine/engine_errors.hpp"  // IWYU pragma: export
#include "engine/engine_in.hpp"      // IWYU pragma: export
#include "engine/engine_out.hpp"     // IWYU pragma: export
