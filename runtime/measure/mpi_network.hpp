// The ranks of a communicator as a network to be probed. Rank 0 gives the orders; the other ranks
// carry them out until rank 0 dismisses them.
//
// A flow is a stream of messages with a few outstanding. When its time is over, each of these is
// followed by an empty message, so that every posted receive completes and none needs to be
// cancelled.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/measure/messages/peer_messages.hpp"
#include "runtime/measure/network.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime::probe {

class MpiNetwork : public Network {
 public:
  // Collective; `comm` is duplicated. Throws MpiError, as do all its functions.
  explicit MpiNetwork(MPI_Comm comm, Waits waits = {});

  [[nodiscard]] std::size_t ranks() const override { return ranks_; }

  // On rank 0 only.
  std::vector<double> transfer(const Transfer& transfer) override;
  std::vector<ShortMessages> exchange(std::span<const Flow> flows, std::size_t messages) override;
  // bytes: up to 1 GiB.
  MessageTimes time_messages(const Flow& flow, std::uint64_t bytes, std::size_t messages) override;
  double send_in_turn(std::size_t from, std::span<const std::size_t> to, std::uint64_t bytes,
                      std::size_t messages) override;
  double combine(std::size_t rank, std::uint64_t bytes, std::size_t calls) override;
  void dismiss();  // makes serve() return on the other ranks

  // On every other rank: carries out rank 0's orders until dismiss().
  void serve();

 private:
  enum class Kind : std::uint64_t { kTransfer, kExchange, kMessages, kInTurn, kCombine, kDismiss };
  struct Order {
    Kind kind = Kind::kDismiss;
    std::size_t messages = 0;  // of each stream, or of all in turn; not for a transfer
    Transfer transfer{};
  };
  [[nodiscard]] static Seconds time_of(const Order& order);
  // On rank 0: the other ranks carry the order out, too. Returns the figures of all ranks.
  std::vector<double> give(Order order);
  void share(Order& order);
  std::vector<double> carry_out(const Order& order);
  std::vector<double> pings_along(const Flow& flow, std::size_t messages);
  std::vector<double> messages_along(const Flow& flow, std::uint64_t bytes, std::size_t messages);
  double in_turn(const Order& order);
  double combine_here(const Order& order);
  // For a step of all ranks. One that waits for a certain other rank knows more: it is first.
  void waits(const std::string& doing, Seconds extra = {}) const {
    constexpr double kPairFirst_s = 1;
    if (waits_) waits_(doing, {kPairFirst_s + extra.value});
  }

  OwnedComm comm_;
  std::size_t rank_;
  std::size_t ranks_;
  Waits waits_;
};

}  // namespace espalier::runtime::probe
