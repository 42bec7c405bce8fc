// How a collective runs its calls, and what it keeps between them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/api/bound_plan.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/api/routes.hpp"
#include "runtime/memory/reducing_store.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/mpi_engine.hpp"

namespace espalier::runtime {

// Functions are collective unless they are const or static. They throw as those of Collective.
struct Collective::State {
  BoundPlan bound;
  std::unique_ptr<MpiEngine> engine;
  std::unique_ptr<MpiEngine> without_rings;  // for messages that cannot use them; made when needed
  ScratchWindows scratch;
  std::optional<Routes> routes;  // of a plan that routes
  // The last message, and its segments.
  struct Chosen {
    std::uint64_t message;
    std::uint64_t segment;
  };
  std::optional<Chosen> chosen;
  std::optional<CallCheck> call;  // of the call in progress
  // Of a barrier, which is an allreduce of a byte: this rank's, and all ranks'.
  std::array<std::byte, 2> arrivals{};
  std::atomic<bool> in_call = false;
  bool uses_rings = false;
  bool broken = false;
  // A call that has begun. finish: what remains when the message is complete; it also owns what
  // the call needs until then.
  struct Begun {
    MpiEngine* by;
    std::shared_ptr<SegmentStore> store;
    std::function<void()> finish;
    std::exception_ptr failure{};  // while another call was waited for
    [[nodiscard]] bool is_done() const { return failure || by->flows.is_done(); }
  };
  std::optional<Begun> begun;

  State(const OwnedComm& comm, const planner::Plan& plan, const CollectiveOptions& options,
        Expects expects);
  // Throws InputError for a plan for another operation.
  static void require(const planner::Plan& plan, Expects expects);

  // The collective whose calls only begin, on this thread; null: none.
  static State*& starting();
  // Runs a prepared call, or begins it.
  void carry_out(Begun prepared_call);
  // Whether the call that has begun is complete; if not, does what is possible now, also for all
  // others that this thread has begun: as MPI's requests, they make progress while one is waited
  // for, so that ranks may wait for them in different orders.
  bool is_complete();
  void await_begun();
  // Makes progress of all calls that this thread has begun. Returns whether there was any.
  static bool progress_all();
  static std::vector<State*>& in_progress();  // of this thread
  // Nothing runs any more, because messages may still be in progress.
  void give_up();

  // Runs `act`; after an exception nothing runs any more.
  template <class Act>
  auto unless_broken(const Act& act) {
    if (broken || bound.comm.is_abandoned())
      throw std::logic_error("a collective that failed cannot run again");
    try {
      return act();
    } catch (...) {
      give_up();
      throw;
    }
  }

  // --- that copy (copying_calls.cpp) ---

  // Whether ranks of a host copy from one another. Otherwise segments go along the plan's edges.
  [[nodiscard]] bool copies_directly() const;
  void copy_directly();
  // The engine of a message that may or may not pass through rings.
  MpiEngine& engine_for(bool may_use_rings);
  // Prepares the broadcast of a message.
  MpiEngine& prepared(const engine::SegmentGrid& grid, bool stoppable);
  Outcome stream(const engine::SegmentGrid& grid, SegmentStore& store);
  void broadcast_buffer(void* buffer, std::size_t count, MPI_Datatype type);
  // Parts without beginnings follow one another.
  void allgather(const void* sendbuf, void* recvbuf, const Parts& given, MPI_Datatype type);

  // --- that combine (combining_calls.cpp) ---

  [[nodiscard]] std::uint64_t segment_elements(std::uint64_t message, std::uint64_t element) const;
  // The error of a call that this rank can find alone; empty if there is none.
  [[nodiscard]] std::string fault_of(const void* sendbuf, std::size_t count, MPI_Datatype type,
                                     MPI_Op op) const;
  void reduce(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);
  // ranges: of the blocks, in elements. finish: as in Begun.
  void reduce_along_trees(const ReductionJob& job, std::span<const engine::Range> ranges,
                          std::uint64_t bytes, std::function<void()> finish = {});
  void reduce_scatter(const void* sendbuf, void* recvbuf, const Parts& parts, MPI_Datatype type,
                      MPI_Op op);

  // --- that route (routing_calls.cpp) ---

  // A scatter or a gather. Parts without beginnings follow one another.
  void route_with_root(const void* sendbuf, void* recvbuf, const Parts& given, MPI_Datatype type);
  void alltoall(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type);
  void alltoallv(const void* sendbuf, const Parts& sent, void* recvbuf, const Parts& received,
                 MPI_Datatype type);
  // The counts that all ranks send to each rank, sender by sender, in bytes. Throws InputError on
  // all ranks for this rank's fault, if any, and where ranks expect others.
  [[nodiscard]] std::vector<std::uint64_t> shared_counts(const Parts& sent, const Parts& received,
                                                         std::size_t element_bytes,
                                                         const std::string& fault) const;
  struct RoutedCall;
  void route(const RoutedCall& routed);
  // The segment size for a message, which is costly to choose.
  [[nodiscard]] std::uint64_t routed_segment(std::uint64_t message);

  // Of `call`, where it does not use the plan's trees.
  void compare_call();
  // The same; throws where the ranks' calls differ. Not if they are not to be compared.
  void judge_call();
  // Informs the other ranks, which may have found no error.
  [[noreturn]] void refuse(const std::string& fault);
};

// The reason why `count` elements cannot be in memory; empty if they can.
std::string size_fault(std::size_t count, std::size_t element_bytes);

}  // namespace espalier::runtime
