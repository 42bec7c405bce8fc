// One message that is pulled, on a rank: engine/pull/puller.hpp decides, this sends and receives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/pull/puller.hpp"
#include "engine/pull/traffic.hpp"
#include "runtime/pull/pull_store.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"
#include "runtime/transport/transfer_log.hpp"

namespace espalier::runtime {

// When nothing has happened for this long: sleeps for a part of that time, so that waiting costs
// little of a processor, and little time.
void sleep_after(Seconds idle);

// What a run needs besides the message.
struct PullSetting {
  // Bulletins, and segments: two communicators, so that no number of a segment matters to the
  // other.
  OwnedComm control;
  OwnedComm data;
  std::optional<Seconds> timeout{};
  std::uint64_t seed = 1;
  std::vector<int> host_of_rank{};  // from hosts_of_ranks()
  TransferLog* transfers = nullptr;
  std::vector<int> shown_ranks{};  // as in PullOptions
  std::function<void(std::uint64_t)> on_progress{};
};

// A receive is posted before its request leaves, so segments go straight to their place. To each
// peer at most one bulletin is in progress; what happens meanwhile goes into the next one. A source
// of segments serves all requests at once, each receiver's in order.
class PullRun {
 public:
  // store: outlives this.
  PullRun(const PullSetting& setting, const engine::pull::PulledMessage& message, PullStore& store);
  ~PullRun();
  PullRun(const PullRun&) = delete;
  PullRun& operator=(const PullRun&) = delete;
  PullRun(PullRun&&) = delete;
  PullRun& operator=(PullRun&&) = delete;

  // Collective. Returns whether this rank has the whole message; it lacks some if the store of some
  // rank has failed. Afterwards nothing is in progress. Throws MpiError, and TimedOut, whose text
  // names the ranks that this one waits for; afterwards the store must not be freed.
  bool run();
  // What this rank received in run().
  [[nodiscard]] engine::pull::Traffic& traffic() { return traffic_; }

 private:
  enum class Kind : std::uint8_t { kHears, kTells, kReceives, kSends };
  struct Operation {
    Kind kind;
    std::size_t peer;
    std::uint32_t segment;
  };
  // A request's memory must stay where it is.
  struct Peer {
    std::vector<std::byte> heard;
    std::vector<std::byte> told;
    bool is_told = true;                  // no bulletin is in progress
    std::deque<std::uint32_t> to_send{};  // what it has asked for, oldest first
    double waited_s = 0;                  // for segments, without any sign of it
  };

  // The request of a new operation.
  MPI_Request& begin(const Operation& operation);
  // Whether its beginning and end are recorded.
  [[nodiscard]] bool is_recorded(const Operation& operation) const {
    return setting_.transfers != nullptr &&
           (operation.kind == Kind::kReceives || operation.kind == Kind::kSends);
  }
  void listen_to(std::size_t peer);
  // Whether anything has completed.
  bool note_completions();
  void complete(const Operation& operation, const MPI_Status& status);
  void note_arrival(const Operation& operation, const MPI_Status& status);
  void ask(double now);
  void serve();
  // Whether a segment was sent, which needs a buffer.
  bool serve_one(std::size_t peer);
  // Whether a bulletin was sent.
  bool tell(double now);
  void show_progress();
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] std::string describe(const Operation& operation) const;
  // Adds the time since the last look to those that are waited for. Throws TimedOut.
  void look_at_waits(double now);
  [[noreturn]] void give_up() const;
  void abandon() noexcept;

  [[nodiscard]] int tag_of(std::uint32_t segment) const {
    return static_cast<int>(segment % (largest_tag_ + 1));
  }

  PullSetting setting_;
  engine::pull::PulledMessage message_;
  PullStore* store_;
  std::size_t rank_;
  std::size_t largest_tag_;
  engine::pull::Puller puller_;
  engine::pull::Traffic traffic_;
  std::unique_ptr<std::vector<Peer>> memory_;  // released if MPI may still use it
  std::vector<Peer>& peers_;
  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // of each request
  std::vector<std::size_t> free_;      // places in both
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
  std::size_t sending_ = 0;  // segments and bulletins
  std::size_t next_served_ = 0;
  double begun_s_ = 0;
  double chosen_s_ = 0;  // when requests were last chosen
  double looked_s_ = 0;
  double moved_s_ = 0;  // when something happened last
  Timeout timeout_;
  bool is_over_ = false;
};

}  // namespace espalier::runtime
