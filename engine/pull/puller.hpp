// How a rank of a broadcast or an allgather without a plan decides what to ask of whom: the rule of
// a pull, as a state machine without MPI, clock and global state (docs/decisions/0018-pull.md).
// Times are arguments, in seconds of this rank's clock, and never decrease.
//
// Each rank knows of all others which segments they have and which they have asked for, because
// each tells all others (Bulletin). A rank asks those that have a segment; who is asked, sends.
//
// It ends. A rank that lacks a segment that a living rank has, and has nothing outstanding, asks at
// once: of the rules in may_ask() and pick() those that refuse a source need something outstanding,
// but one: what a rank of the same host (a mate) has or has asked for is asked of nobody outside.
// If a mate has it, it is asked of the mate; if a mate has asked for it, that mate has something
// outstanding. A request to a living rank is served, if need be after what is on the way to other
// readers, and dead ranks' requests are withdrawn, so a segment arrives, at this rank or at a mate,
// which tells so. Hence every rank comes to have all segments that exist among the living, and
// tells so.
//
// A rank may end when it lacks nothing that a living rank has, all these have told of as many
// segments as it has, and all know of the same dead ranks. Then their sets are the same. Could one
// of them get a further segment? It would be the first, and come from a living rank, but none has
// one; or from a dead rank, but the receiver told of everything that came from there before it said
// that it knows of the death, and after that nothing counts. So the first rank that sees this may
// end; its last bulletin lets the others end, too, who may meanwhile wait for a rank that died
// later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "engine/pull/bulletin.hpp"
#include "engine/pull/possession.hpp"
#include "engine/pull/pulled_message.hpp"
#include "engine/pull/service.hpp"
#include "planner/plan/segment_grid.hpp"

namespace espalier::engine::pull {

// The parameters of the rule.
struct Rule {
  double poll_s = 2e-3;        // how long a rank may take to react
  double latency_s = 2e-4;     // one way, before a round trip has been measured
  double newest = 0.4;         // the weight of the newest time in the mean time of a segment
  double spread = 0.2;         // of the random factor by which sources are ordered
  double hope = 1.5;           // the rate of unmeasured sources, over the mean rate
  double late_share = 0.5;     // late: a source this slow, over all rates in use
  double late_part = 0.2;      // late: of the remaining time, for a segment to arrive
  std::size_t most_tried = 2;  // unmeasured sources that are asked at once
  double far = 3;              // near first: a source that serves others so many times better
  double near = 6;             // near first: a rank that is so many times faster than it
  double distant_s = 5e-3;     // near first: or a source with so long a round trip,
  double nearer = 10;          // and a rank whose round trip is so many times shorter
  double queue_s = 0.025;      // on the way to readers: what takes so long, and a round trip
  double outstanding = 4;      // preferred reader, or source: serves so many times faster
  double slack = 1.3;          // window: segments beyond those that are in flight
  // News wait so long since the last bulletin to the same rank, times the number of ranks, for more
  // to go with them: each segment is news from every rank to every other one.
  double quiet_s = 2e-5;
  double slack_s = 1e-4;  // window: the time that the source needs to answer
  // Window, where several ranks have parts from the beginning and are all asked at once: as many
  // more for each segment that has arrived. First times and round trips are those of a rank or link
  // that is not busy yet, and what a slow link has been asked for too early keeps it busy for long.
  double growth = 3;
  std::size_t most_outstanding = 128;  // of a source
  std::size_t candidates = 1024;       // segments among which the rarest is chosen
};

// Throws InputError for more than kMostSegments segments.
void require_few_segments(const PulledMessage& message);
// The segment size in bytes for a message of so many bytes: some thousand segments a message, so
// that the last ones take little time; most: where a message has not over 16,384 of them.
std::uint64_t usual_segment(std::uint64_t message_bytes, std::uint64_t most);
// What Open MPI sends over TCP without asking the receiver.
inline constexpr std::uint64_t kMostOverTcp = 60U << 10U;
// A message in segments of so many bytes, but no more than it has. Unset: the usual ones over TCP.
planner::SegmentGrid grid_of(std::uint64_t message_bytes, std::optional<std::uint64_t> segment);

// What a rank knows at the beginning.
struct Job {
  std::size_t ranks = 1;
  std::size_t rank = 0;
  PulledMessage message;  // of at most kMostSegments
  // The most segments that this rank may have outstanding at all sources together, at least 1.
  std::size_t most_outstanding = SIZE_MAX;
  std::size_t most_items = kMostItems;  // of a bulletin, at least 1
  std::uint64_t seed = 1;
  Rule rule{};
  // By rank: equal for ranks that share a host. Empty: each has one of its own.
  std::vector<int> host_of{};
  // What this rank has already, from an earlier, interrupted run, beside the blocks of which it is
  // the origin. Without words: nothing.
  SegmentSet has{};
};

class Puller {
 public:
  // Throws InputError for too many segments.
  explicit Puller(const Job& job);

  // --- what happens ---
  // A bulletin of another rank. Those of a rank are heard in the order in which it took them.
  // Throws std::logic_error for a bulletin that breaks the protocol.
  void hear(std::size_t from, const Bulletin& bulletin, double now);
  // A segment that was asked of `from` has arrived. Returns since when it was the next one to come
  // from there. Nothing if it is not outstanding there (any more): then its bytes do not count.
  std::optional<double> arrived(std::size_t from, std::uint64_t segment, double now);
  // A reader has a segment that was sent to it, but does not tell: no data can go back to this
  // rank.
  void delivered(std::size_t reader, std::uint32_t segment, double now) {
    service_.note_arrival(reader, segment, length_of(segment), now);
  }
  // Nothing can be sent to this reader any more, which may be dead.
  void lost(std::size_t reader) { service_.forget(reader); }
  // Nothing of this rank is heard any more, and nothing arrives from it.
  void died(std::size_t rank);
  // This rank cannot go on: all ranks end without the rest of the message.
  void stop();

  // --- what to do ---
  struct Request {
    std::size_t source;
    std::uint32_t segment;
  };
  // New requests, to be called whenever something has happened and every Rule::poll_s. They are in
  // the next bulletins to the sources, so the caller prepares to receive the segments before it
  // takes these bulletins. Valid until the next call.
  std::span<const Request> choose(double now);
  // The segments to be sent to other ranks now, which asked for them; to be called as choose(). The
  // caller sends each reader its own in their order. Valid until the next call.
  std::span<const Service::Due> take_due();
  // Whether a bulletin to this rank is due.
  [[nodiscard]] bool has_news_for(std::size_t rank, double now) const;
  // Precondition: has_news_for(rank, now).
  Bulletin take_news_for(std::size_t rank, double now);

  // --- how far it is ---
  [[nodiscard]] bool has(std::uint64_t segment) const {
    return possession_.have(job_.rank).contains(segment);
  }
  // Whether the segment is outstanding.
  [[nodiscard]] bool is_asked(std::uint64_t segment) const {
    return possession_.want(job_.rank).contains(segment);
  }
  [[nodiscard]] std::uint64_t segments_of(std::size_t rank) const {
    return possession_.have(rank).size();
  }
  [[nodiscard]] std::uint64_t segments() const { return count_; }
  [[nodiscard]] bool is_complete() const { return segments_of(job_.rank) == count_; }
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  // Every living rank's last bulletin is heard, and it has been told this rank's.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool is_dead(std::size_t rank) const { return peers_[rank].is_dead; }
  [[nodiscard]] bool has_heard_last_of(std::size_t rank) const { return peers_[rank].has_ended; }
  [[nodiscard]] std::size_t outstanding_at(std::size_t rank) const {
    return peers_[rank].outstanding.size();
  }
  // The rate at which segments arrive from this rank, in bytes/s; 0: not measured.
  [[nodiscard]] double rate_from(std::size_t rank) const { return peers_[rank].rate(); }
  // The events of which other ranks are told and have not all been told; bounds memory.
  [[nodiscard]] std::size_t kept_news() const { return news_.size(); }

 private:
  struct Asked {
    std::uint32_t segment;
    double at_s;
  };
  struct Peer {
    bool is_dead = false;
    bool shares_host = false;  // with this rank
    // --- as a source ---
    std::deque<Asked> outstanding{};
    double byte_s = 0;           // mean time of a byte; 0: not measured
    std::uint64_t arrivals = 0;  // of segments
    double last_arrival_s = 0;   // 0: nothing has arrived
    double round_trip_s = 0;     // the shortest; 0: not measured
    double best_out = 0;
    double all_out = 0;         // Bulletin::rate
    double barren_until_s = 0;  // nothing was found to ask for
    // --- as a reader ---
    std::vector<std::uint32_t> requests{};  // not in a bulletin yet
    double told_s = 0;                      // when it was told something; 0: never
    std::size_t told = 0;                   // of all news
    double told_best_out = 0;
    double told_rate = 0;
    std::uint64_t told_dead = 0;
    bool told_stopped = false;
    bool told_last = false;
    double gets = 0;         // the rate at which it receives from this rank
    bool has_asked = false;  // this rank for a segment
    bool is_echoed = false;  // it can know the round trip to this rank
    // --- what it said last ---
    double sent_s = 0;
    double heard_s = 0;
    std::uint64_t dead = 0;
    bool has_ended = false;

    [[nodiscard]] double rate() const { return byte_s > 0 ? 1 / byte_s : 0; }
  };
  struct Ranked {
    double key;
    std::size_t source;
    bool operator>(const Ranked& other) const { return key > other.key; }
  };

  [[nodiscard]] bool is_living_other(std::size_t rank) const {
    return rank != job_.rank && !peers_[rank].is_dead;
  }
  void require_segment(std::uint64_t segment) const;
  void hear_news(std::size_t from, const NewsItem& item, double now);
  void tell(News kind, std::uint32_t segment) {
    if (job_.ranks > 1) news_.push_back({kind, segment});
  }
  void drop_told_news();
  // Where one rank can send so much more than any other, all segments had better come to it first.
  // Unset: none can, or it has everything.
  [[nodiscard]] std::optional<std::size_t> preferred_reader() const;
  // Returns when the time of the segment begins.
  double note_time(Peer& source, const Asked& asked, double now) const;
  [[nodiscard]] double length_of(std::uint64_t segment) const {
    return static_cast<double>(job_.message.length(segment));
  }
  [[nodiscard]] double segment_bytes() const {
    return static_cast<double>(job_.message.segment_bytes());
  }
  [[nodiscard]] double latency_to(const Peer& source) const;

  // --- choosing (choose.cpp) ---
  void measure_now(double now);
  void rank_sources(double now);
  [[nodiscard]] bool may_ask(const Peer& source) const;
  [[nodiscard]] bool is_late(const Peer& source) const;
  [[nodiscard]] bool may_try() const;
  [[nodiscard]] std::size_t window_of(const Peer& source) const;
  // Ranks that are so much faster than the source that its segments had better come from them.
  void find_near(std::size_t source);
  [[nodiscard]] std::uint64_t askable(std::size_t source, std::size_t word) const;
  std::optional<std::uint32_t> pick(std::size_t source);
  void ask(std::size_t source, std::uint32_t segment, double now);

  // --- ending ---
  // Draws the conclusions of what has happened.
  void conclude();
  // Whether this rank lacks a segment that a living rank has.
  [[nodiscard]] bool lacks_any() const;
  [[nodiscard]] bool may_end() const;

  Job job_;
  std::uint64_t count_;  // segments
  Possession possession_;
  std::vector<Peer> peers_;
  Service service_;
  std::mt19937_64 random_;
  std::size_t outstanding_ = 0;
  bool is_stopped_ = false;
  bool another_has_ended_ = false;
  std::uint64_t dead_ = 0;        // Bulletin::dead
  std::deque<NewsItem> news_;     // not told to all yet
  std::size_t dropped_news_ = 0;  // before these

  // --- conclusions ---
  double best_out_ = 0;   // Bulletin::best_out
  bool may_end_ = false;  // nothing is left to ask for, here and elsewhere

  // --- of one choose() ---
  std::vector<Request> chosen_;
  std::vector<Ranked> ranked_;
  bool has_mates_ = false;  // ranks that share its host
  std::vector<std::size_t> near_;
  double mean_rate_ = 0;     // of measured sources; 0: there is none
  double rates_in_use_ = 0;  // of measured sources with something outstanding
  double missing_bytes_ = 0;
  std::size_t tried_ = 0;  // unmeasured sources with something outstanding that is not overdue
};

}  // namespace espalier::engine::pull
