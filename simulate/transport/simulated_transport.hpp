// The engine's transport in virtual time (engine/transport.hpp): sends and receives of all ranks,
// matched edge by edge. The driver (simulate/transport/engine_run.hpp) lets segments that may begin
// pass the network and says when they have left and arrived.
//
// A send that needs its receive posted (reductions, and now and then one into a rank with few
// buffers) may begin when both are posted. Any other may begin when it is posted: its segment is
// kept where it arrives until the receive is posted. So a send occupies the network only when its
// receiver is ready, where the executor's are synchronous, and else whether or not it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/transport.hpp"
#include "engine/tree_role.hpp"

namespace espalier::simulate {

// Of all ranks: one entry per flow (simulate/transport/flows.hpp).
class Channels {
 public:
  // An end of a flow: which operations its rank names by which tree and edge of its role.
  struct End {
    std::uint32_t rank = 0;
    std::uint32_t tree = 0;
    std::uint32_t edge = 0;
  };

  explicit Channels(std::size_t flows) : channels_(flows), waiting_(flows) {}

  void set_sender(std::uint32_t flow, End end) { channels_[flow].sender = end; }
  void set_receiver(std::uint32_t flow, End end) { channels_[flow].receiver = end; }
  void set_now(double now_s) { now_s_ = now_s; }

  // --- of the network ---
  // How many segments of the flow may have begun.
  [[nodiscard]] std::uint64_t allowed(std::uint32_t flow) const { return channels_[flow].allowed; }
  // An operation of a rank.
  struct OfRank {
    std::uint32_t rank;
    engine::Operation operation;
  };
  // The flow's next send and receive to complete.
  [[nodiscard]] OfRank next_send(std::uint32_t flow) const {
    const End& end = channels_[flow].sender;
    return {end.rank, {true, end.tree, end.edge, channels_[flow].sent}};
  }
  [[nodiscard]] OfRank next_receive(std::uint32_t flow) const {
    const End& end = channels_[flow].receiver;
    return {end.rank, {false, end.tree, end.edge, channels_[flow].received}};
  }
  // That send is complete.
  OfRank end_send(std::uint32_t flow) {
    const OfRank ended = next_send(flow);
    ++channels_[flow].sent;
    return ended;
  }
  // The flow's next segment has arrived.
  void arrive(std::uint32_t flow) { ++channels_[flow].arrived; }
  // The receiver has the flow's next segment.
  OfRank end_receive(std::uint32_t flow) {
    const OfRank ended = next_receive(flow);
    ++channels_[flow].received;
    return ended;
  }
  // Whether a segment is here whose receive is posted and not complete.
  [[nodiscard]] bool has_delivery(std::uint32_t flow) const {
    return channels_[flow].has_delivery();
  }

  // Flows of which more may begin or be delivered since the last call; may contain a flow twice.
  std::vector<std::uint32_t>& changed() { return changed_; }

  // --- of the ranks ---
  [[nodiscard]] double now() const { return now_s_; }
  void post_send(std::uint32_t flow, bool synchronous);
  void post_receive(std::uint32_t flow);
  [[nodiscard]] bool is_complete(std::uint32_t flow, const engine::Operation& operation) const {
    return operation.nth < (operation.is_send ? channels_[flow].sent : channels_[flow].received);
  }

 private:
  struct Channel {
    std::uint64_t sends = 0;     // posted
    std::uint64_t receives = 0;  // posted
    std::uint64_t allowed = 0;   // sends before the first that waits for its receive
    std::uint64_t sent = 0;      // complete
    std::uint64_t arrived = 0;
    std::uint64_t received = 0;  // complete; at most `arrived` and `receives`
    End sender;
    End receiver;

    [[nodiscard]] bool has_delivery() const { return received < arrived && received < receives; }
  };

  std::vector<Channel> channels_;
  std::vector<std::vector<std::uint64_t>> waiting_;  // of each flow: sends for their receives
  std::vector<std::uint32_t> changed_;
  double now_s_ = 0;
};

// One rank's transport: nothing fails, and calls are not compared.
class SimulatedTransport {
 public:
  // channels: of all ranks; must outlive it. roles: this rank's. flow_of(tree, edge, is_send): the
  // flow of an edge of the rank's role in its tree.
  template <class FlowOf>
  SimulatedTransport(Channels& channels, std::uint32_t rank,
                     std::span<const engine::TreeRole> roles, const FlowOf& flow_of)
      : channels_(channels), rank_(rank) {
    for (std::uint32_t tree = 0; tree < roles.size(); ++tree) {
      const auto add = [&](bool is_send, const std::vector<engine::Edge>& edges) {
        const auto first = static_cast<std::uint32_t>(edges_.size());
        for (std::uint32_t edge = 0; edge < edges.size(); ++edge) {
          const std::uint32_t flow = flow_of(roles[tree], edge, is_send);
          const Channels::End end{rank, tree, edge};
          is_send ? channels.set_sender(flow, end) : channels.set_receiver(flow, end);
          edges_.push_back({flow, edges[edge].peer});
        }
        return first;
      };
      const std::uint32_t in = add(false, roles[tree].in);
      trees_.push_back({in, add(true, roles[tree].out)});
    }
  }

  // --- engine::Transport ---
  static constexpr bool kMovesBytes = false;
  [[nodiscard]] int rank() const { return static_cast<int>(rank_); }
  [[nodiscard]] double now() const { return channels_.now(); }
  void set_windows(std::vector<engine::TreeWindows> windows) { windows_ = std::move(windows); }
  [[nodiscard]] std::span<const engine::TreeWindows> windows() const { return windows_; }
  void begin(bool /*stoppable*/) {}
  int receive(const engine::Operation& operation, const engine::Segment& /*segment*/,
              std::byte* /*buffer*/) {
    channels_.post_receive(edge_of(operation).flow);
    return 0;
  }
  int send(const engine::Operation& operation, const engine::Segment& /*segment*/,
           std::byte* /*buffer*/, bool synchronous) {
    channels_.post_send(edge_of(operation).flow, synchronous);
    return 0;
  }
  void cancel(const engine::Operation& /*operation*/) {}
  [[nodiscard]] bool is_complete(const engine::Operation& operation) const {
    return channels_.is_complete(edge_of(operation).flow, operation);
  }
  [[nodiscard]] int peer_of(const engine::Operation& operation) const {
    return edge_of(operation).peer;
  }
  [[nodiscard]] bool is_checked() const { return true; }
  void await_check() {}
  [[nodiscard]] std::string check_name() const { return {}; }
  // The driver says it at once (Engine::complete).
  std::span<const engine::Completion> poll() { return {}; }
  std::optional<std::span<const engine::Completion>> wait() { return poll(); }
  [[nodiscard]] bool has_to_poll() const { return true; }
  void note_progress() {}
  [[nodiscard]] bool is_overdue() const { return false; }
  void relax(double /*due_s*/, bool /*awaits_segments*/) {}
  void raise_abort() {}
  [[nodiscard]] bool is_abort_raised() const { return false; }
  [[noreturn]] void fail(int /*error*/, const std::string& doing) const {
    throw std::logic_error(doing);
  }
  [[noreturn]] void give_up(const std::string& waits) const { throw std::logic_error(waits); }

 private:
  struct Edge {
    std::uint32_t flow;
    int peer;
  };
  // The numbers of a tree's first edges.
  struct Tree {
    std::uint32_t in;
    std::uint32_t out;
  };

  [[nodiscard]] const Edge& edge_of(const engine::Operation& of) const {
    const Tree& tree = trees_[of.tree];
    return edges_[(of.is_send ? tree.out : tree.in) + of.edge];
  }

  Channels& channels_;
  std::uint32_t rank_;
  std::vector<Tree> trees_;
  std::vector<Edge> edges_;
  std::vector<engine::TreeWindows> windows_;
};

}  // namespace espalier::simulate
