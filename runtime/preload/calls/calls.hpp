// The program's calls of collectives: what decides whether a plan runs them, and how one does.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/preload/calls/elements.hpp"
#include "runtime/pull/pull_among_hosts.hpp"
#include "runtime/topology/alltoall_by_leaders.hpp"

namespace espalier::preload {

// Calls MPI's own function. Refers to the object that it was made from.
class CallMpi {
 public:
  template <class Function>
  explicit CallMpi(const Function& function)
      : function_(&function),
        call_([](const void* object) { return (*static_cast<const Function*>(object))(); }) {}
  int operator()() const { return call_(function_); }

 private:
  const void* function_;
  int (*call_)(const void*);
};

// Sizes of the message that are equal on all ranks, so that ranks can decide alike without
// communication. Cheap to make, because most calls of most programs are short.
struct Call {
  planner::Operation operation;
  MPI_Comm comm;
  int root;  // 0 where there is none
  // The message consists of `count` elements of `type`. Where `counts` are given, of these; where
  // `per_rank` is true, of `count` for each rank.
  MPI_Datatype type;
  MPI_Count count;
  bool per_rank;
  PerRank counts;
  MPI_Op op;  // of a reduction

  // message: `type` and `count`.
  Call(planner::Operation kind, MPI_Comm of, int of_root, const Elements& message,
       bool is_per_rank = false, PerRank of_ranks = {}, MPI_Op with = MPI_OP_NULL)
      : operation(kind),
        comm(of),
        root(of_root),
        type(message.type),
        count(message.count),
        per_rank(is_per_rank),
        counts(of_ranks),
        op(with) {}
  virtual ~Call() = default;
  Call(const Call&) = default;
  Call& operator=(const Call&) = default;
  Call(Call&&) = default;
  Call& operator=(Call&&) = default;

  // Whether MPI would refuse the call because of its buffers, without communication.
  [[nodiscard]] virtual bool has_wrong_buffers() const = 0;
  // Throws as Collective's functions. Precondition: a collective for this operation and root;
  // valid buffers.
  virtual void run(runtime::Collective& collective) const = 0;
  // The same without a plan. Precondition: a broadcast or an allgather.
  virtual void pull(runtime::PullAmongHosts& pull) const;
  // By leaders of hosts. Precondition: an alltoall.
  virtual void run_by_leaders(const runtime::AlltoallByLeaders& leaders) const;

  // The bytes of the message; unset for arguments of which MPI itself reports the fault. Throws
  // MpiError. Precondition: a communicator.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes() const;
  // The parts of the ranks, in elements. Precondition: the operation has parts, and bytes() are
  // set.
  [[nodiscard]] std::vector<std::size_t> parts() const;
  // The parts as shares of the message; empty where they are equal. The same precondition.
  [[nodiscard]] virtual std::vector<double> shares() const;
};

// Parts as shares of their sum; empty where all are equal.
std::vector<double> unequal_shares(std::span<const std::uint64_t> parts);

struct BroadcastCall final : Call {
  BroadcastCall(const Elements& elements, int of_root, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;
  void pull(runtime::PullAmongHosts& pull) const override;

  void* buffer;
};

// A reduce or an allreduce.
struct ReductionCall final : Call {
  ReductionCall(planner::Operation kind, const void* from, const Elements& to, MPI_Op with,
                int of_root, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;

  const void* sendbuf;
  void* recvbuf;
};

// MPI_Allgather, or MPI_Allgatherv if counts and beginnings of the parts are given.
struct AllgatherCall final : Call {
  AllgatherCall(const Elements& own, const Elements& all, MPI_Comm of, PerRank all_counts = {},
                PerRank all_first = {});
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override { run_by(collective); }
  void pull(runtime::PullAmongHosts& pull) const override { run_by(pull); }

  Elements sent;
  void* recvbuf;
  PerRank first;

 private:
  template <class Runner>
  void run_by(Runner& runner) const;
};

// MPI_Reduce_scatter_block, or MPI_Reduce_scatter if counts of the parts are given.
struct ReduceScatterCall final : Call {
  ReduceScatterCall(const void* from, const Elements& to, MPI_Op with, MPI_Comm of,
                    PerRank part_counts = {});
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;

  const void* sendbuf;
  void* recvbuf;
};

// MPI_Scatter or MPI_Gather. Which of the two sizes are valid depends on the rank, and both give
// the same number of bytes.
struct RootedPartsCall final : Call {
  // all: of all ranks together, on the root. own: of this rank.
  RootedPartsCall(planner::Operation kind, const Elements& all_parts, const Elements& own_part,
                  int of_root, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;

  Elements all;
  Elements own;
  bool is_root;
};

struct AlltoallCall final : Call {
  AlltoallCall(const Elements& to_each, const Elements& from_each, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;
  void run_by_leaders(const runtime::AlltoallByLeaders& leaders) const override;

  Elements sent;
  Elements received;
};

}  // namespace espalier::preload
