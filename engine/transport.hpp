// What an engine needs of the network: sends and receives that complete at any time, and a clock.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/segments.hpp"
#include "engine/windows.hpp"

namespace espalier::engine {

// The transfer of a tree's segment `nth` along an in-edge or an out-edge, given by its index in the
// rank's role in that tree.
struct Operation {
  bool is_send;
  std::uint32_t tree;
  std::uint32_t edge;
  std::uint64_t nth;
  bool operator==(const Operation&) const = default;
};

struct Completion {
  enum class Kind : std::uint8_t {
    kTransfer,
    kAbort,  // on the root only: another rank's store has failed; `operation` is unused
  };
  Kind kind = Kind::kTransfer;
  Operation operation{};
  int error = 0;  // of the transport; 0: none
  // Of a receive: what arrived, in the unit of the message's grid; unset: not whole elements. An
  // empty message ends the flow early.
  std::optional<std::uint64_t> length{};
};

// A rank's transport. It delivers the segments of an edge in the order in which they are sent. It
// also compares the ranks' calls while a message is in progress. Functions throw what the transport
// pleases; the engine lets exceptions pass.
template <class T>
concept Transport = requires(T& transport, const T& observed, const Operation& operation,
                             const Segment& segment, std::byte* buffer, const std::string& text,
                             std::vector<TreeWindows> windows) {
  // Whether segments have bytes. Otherwise their buffers are null, they are not described, and the
  // operations of an edge complete in their order.
  { T::kMovesBytes } -> std::convertible_to<bool>;
  { observed.rank() } -> std::same_as<int>;
  { observed.now() } -> std::same_as<double>;  // seconds
  // The most operations in progress per edge. Called while nothing is in progress.
  transport.set_windows(std::move(windows));
  { observed.windows() } -> std::same_as<std::span<const TreeWindows>>;
  // A message begins. The argument: whether a store may fail, so that signals may come.
  transport.begin(bool{});
  // Begin an operation. The operations of an edge begin in the order of its segments. They
  // return 0 or an error for fail().
  { transport.receive(operation, segment, buffer) } -> std::same_as<int>;
  // The last argument: the send completes only after the receiver has posted its receive.
  { transport.send(operation, segment, buffer, bool{}) } -> std::same_as<int>;
  // Ends a receive for which nothing will arrive.
  transport.cancel(operation);
  // Of an operation that was begun, and after which at most a window of the edge's have begun.
  { observed.is_complete(operation) } -> std::same_as<bool>;
  // "2": the rank that an operation waits for.
  { observed.peer_of(operation) } -> std::same_as<int>;
  // Whether the ranks' calls are known to match; true if they are not compared.
  { observed.is_checked() } -> std::same_as<bool>;
  // Waits for the comparison; throws where calls differ.
  transport.await_check();
  // "comparing the calls of the ranks".
  { observed.check_name() } -> std::convertible_to<std::string>;
  // What has completed since the last call; valid until the next. wait() waits for at least one
  // operation or for the comparison; it returns nothing when the timeout is exceeded.
  { transport.poll() } -> std::same_as<std::span<const Completion>>;
  { transport.wait() } -> std::same_as<std::optional<std::span<const Completion>>>;
  // Whether something is in progress for which wait() does not wait.
  { observed.has_to_poll() } -> std::same_as<bool>;
  // For an engine that polls: restarts the timeout; whether it is exceeded.
  transport.note_progress();
  { transport.is_overdue() } -> std::same_as<bool>;
  // After a poll without progress: leaves the processor to others for a moment, at most until
  // `due_s` (0: nothing is due). The second argument: whether segments may arrive.
  transport.relax(double{}, bool{});
  // This rank's store has failed: the root must end all flows.
  transport.raise_abort();
  { observed.is_abort_raised() } -> std::same_as<bool>;
  // They throw. doing: what failed. waits: for what this rank waits in vain.
  transport.fail(int{}, text);
  transport.give_up(text);
};

}  // namespace espalier::engine
