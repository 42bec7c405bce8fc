// Broadcasts and allgathers without a plan: the ranks measure the network while they use it.
//
//   espalier::runtime::PullCollective pull(comm);
//   pull.broadcast(buffer, count, MPI_DOUBLE, root);
//
// Every rank asks those that have a segment for it, the rarest segments first and the fastest ranks
// most (engine/pull/puller.hpp). So nothing about the network needs to be known beforehand, and
// links may change while the message is sent. It pays for messages of some MiB and more; below, the
// time to find out which ranks are fast is not small beside the message's.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/api/collective.hpp"
#include "support/quantities.hpp"

namespace espalier::engine::pull {
class Traffic;
}

namespace espalier::runtime {

class FileStore;

// Must be the same on all ranks.
struct PullOptions {
  // Bytes of a segment, 1 to 1 GiB. 0: chosen for the message (pulled_segment). A message has at
  // most 2^24 segments; each takes two bits for each rank on every rank.
  std::uint64_t segment_bytes = 0;
  // A rank gives up when nothing has happened for this long, or a rank that it has asked for a
  // segment has given no sign for this long. TimedOut (runtime/transport/mpi_error.hpp) reports
  // which ranks it waits for. Afterwards MPI is of little use: MPI_Finalize may wait indefinitely,
  // MPI_Abort ends all ranks. Unset: wait indefinitely.
  std::optional<Seconds> timeout{};
  // Of the random choices among segments and ranks that are equally good.
  std::uint64_t seed = 1;
  // As in CollectiveOptions.
  TransferLog* transfers = nullptr;
  // By rank of the communicator, its number in `transfers`. Empty: its own.
  std::vector<int> shown_ranks{};
  // Called on this rank during a message, with the number of its bytes that this rank has received;
  // on the source, with the least number that any rank has. May be empty.
  std::function<void(std::uint64_t)> on_progress{};
};

// The segment size in bytes that is chosen for a message of so many bytes: some thousand segments a
// message, so that the last ones take little time; small enough for MPI to send them without asking
// the receiver, as far as that allows. wanted: what PullOptions say; not more than the message has.
std::uint64_t pulled_segment(std::uint64_t message_bytes, std::uint64_t wanted = 0);

// Construct it once (collective), run it any number of times. Destroy it before MPI_Finalize.
// Threads: as for Collective (runtime/api/collective.hpp).
class PullCollective {
 public:
  // Collective over `comm`, which is duplicated twice. Throws InputError on all ranks when the
  // segment size is out of range or the ranks have different options; MpiError when MPI fails;
  // TimedOut.
  explicit PullCollective(MPI_Comm comm, const PullOptions& options = {});
  ~PullCollective();
  PullCollective(PullCollective&&) noexcept;
  PullCollective& operator=(PullCollective&&) noexcept;
  PullCollective(const PullCollective&) = delete;
  PullCollective& operator=(const PullCollective&) = delete;

  // Collective. The data is in `buffer` on the source; every other rank receives it in `buffer`.
  // count elements of `type`, contiguous or not; any count, including 0. The types may differ among
  // ranks where MPI_Bcast allows it. source: a rank of comm. Returns on all ranks at about the same
  // time, when all have the message.
  //
  // Throws InputError on all ranks when they disagree on the message's bytes or on the source, when
  // there is no such rank, or for an invalid type; MpiError; TimedOut. After an exception the
  // buffers' contents are undefined, and after any but an InputError this object cannot run again.
  void broadcast(void* buffer, std::size_t count, MPI_Datatype type, int source);

  // Collective, as Collective::allgather (runtime/api/collective.hpp). Returns, and throws, as
  // broadcast(); on all ranks if they disagree on the parts. owners: by part, the rank that has it,
  // in recvbuf, with MPI_IN_PLACE as sendbuf; the same on all ranks. Empty: rank r has part r.
  void allgather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                 std::span<const std::size_t> first, MPI_Datatype type,
                 std::span<const std::size_t> owners = {});

  // The segment size for a message.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes) const;

  // Collective, like broadcast(), for a message in files: bytes [0, bytes) that the source's store
  // reads and the others' write. shape: segments of at most kMostSegments, one tree, and at least
  // two segments per tree; the same on all ranks. False, on all ranks: the store of some rank has
  // failed.
  bool stream(std::uint64_t bytes, const Collective::StreamShape& shape, FileStore& store,
              int source);
  // A shape for a message with about so many bytes of buffers.
  [[nodiscard]] Collective::StreamShape stream_shape(std::uint64_t message_bytes,
                                                     std::uint64_t buffer_bytes) const;

  // Collective: on rank 0, what each rank received in the last message
  // (engine/pull/traffic.hpp). Nothing on the others, where there are more than kMostLearntRanks,
  // and where there was none. Throws MpiError, TimedOut.
  std::vector<engine::pull::Traffic> gather_traffic();
  static constexpr std::size_t kMostLearntRanks = 256;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Collective: the same for one message, whose communicators are made and freed. They throw as the
// constructor and the functions of PullCollective.
inline void pull_broadcast(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
                           int source, const PullOptions& options = {}) {
  PullCollective(comm, options).broadcast(buffer, count, type, source);
}
inline void pull_allgather(MPI_Comm comm, const void* sendbuf, void* recvbuf,
                           std::span<const std::size_t> counts, std::span<const std::size_t> first,
                           MPI_Datatype type, const PullOptions& options = {}) {
  PullCollective(comm, options).allgather(sendbuf, recvbuf, counts, first, type);
}

}  // namespace espalier::runtime
