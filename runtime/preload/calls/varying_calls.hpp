// Calls of which a rank does not know the sizes of the others' parts: before ranks can decide
// alike, they have to agree.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/preload/calls/byte_parts.hpp"
#include "runtime/preload/calls/calls.hpp"

namespace espalier::preload {

// Elements of `type` are bytes, because types and counts may differ among ranks. Nothing is
// calculated before it is needed, because most calls are left to MPI.
struct VaryingCall : Call {
  // Collective over `comm`: afterwards bytes() and shares() are equal on all ranks. Returns whether
  // the call may run by a plan. Throws MpiError. Precondition: no intercommunicator; a valid root.
  [[nodiscard]] virtual bool agree() = 0;
  // Before agree(): as far as this rank knows, unset on intercommunicators and for invalid
  // arguments.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const override;

 protected:
  VaryingCall(planner::Operation kind, MPI_Comm of, int of_root)
      : Call(kind, of, of_root, {nullptr, 0, MPI_BYTE}) {}
  [[nodiscard]] virtual std::optional<std::uint64_t> known_bytes() const = 0;

  bool has_agreed_ = false;
};

// MPI_Scatterv or MPI_Gatherv, whose sizes only the root knows. agree() costs a broadcast of as
// many numbers as there are ranks.
struct RootedVaryingCall final : VaryingCall {
  // counts, first: of `all`, which matters on the root only.
  RootedVaryingCall(planner::Operation kind, const Elements& all_parts, PerRank all_counts,
                    PerRank all_first, const Elements& own_part, int of_root, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;
  [[nodiscard]] bool agree() override;
  [[nodiscard]] std::vector<double> shares() const override;

  Elements all;
  PerRank counts_of_all;
  PerRank first;
  Elements own;
  bool is_root;
  std::vector<std::uint64_t> of_rank{};  // bytes, after agree()

 protected:
  [[nodiscard]] std::optional<std::uint64_t> known_bytes() const override;
};

// MPI_Alltoallv. agree() costs an allreduce of one number; a call that runs by a plan then shares
// all counts.
struct AlltoallvCall final : VaryingCall {
  AlltoallvCall(const Elements& to_each, PerRank to_counts, PerRank to_first,
                const Elements& from_each, PerRank from_counts, PerRank from_first, MPI_Comm of);
  [[nodiscard]] bool has_wrong_buffers() const override;
  void run(runtime::Collective& collective) const override;
  void run_by_leaders(const runtime::AlltoallByLeaders& leaders) const override;
  [[nodiscard]] bool agree() override;

  Elements sent;
  PerRank sent_counts;
  PerRank sent_first;
  Elements received;
  PerRank received_counts;
  PerRank received_first;

 protected:
  [[nodiscard]] std::optional<std::uint64_t> known_bytes() const override;
};

}  // namespace espalier::preload
