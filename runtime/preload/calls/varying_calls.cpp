#include "runtime/preload/calls/varying_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "runtime/memory/element_shape.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::preload {
namespace {

using runtime::check;
using runtime::rank_in;
using runtime::size_of;

// Instead of the bytes of a part: MPI refuses the arguments.
constexpr std::uint64_t kRefused = std::numeric_limits<std::uint64_t>::max();

// False for arguments that MPI refuses.
bool are_valid(const Elements& elements, PerRank counts, PerRank first, MPI_Comm comm) {
  if (!counts.is_given() || !first.is_given()) return false;
  if (elements.type == MPI_DATATYPE_NULL) return false;
  bool has_any = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_of(comm)); ++i) {
    if (counts[i] < 0) return false;
    has_any = has_any || counts[i] > 0;
  }
  return !has_any || elements.address != nullptr || !runtime::is_named(elements.type);
}

Parts parts_of(const Elements& elements, PerRank counts, PerRank first, MPI_Comm comm) {
  return {elements.address, static_cast<std::size_t>(size_of(comm)), counts, first, elements.type};
}

// The part of one rank. Refers to `elements`.
Parts part_of(const Elements& elements) {
  return {elements.address, 1, &elements.count, {}, elements.type};
}

std::uint64_t sum_of(std::span<const std::uint64_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

// Empty for invalid arguments, and on intercommunicators.
std::vector<std::uint64_t> valid_bytes(const Elements& elements, PerRank counts, PerRank first,
                                       MPI_Comm comm) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0 || !are_valid(elements, counts, first, comm)) return {};
  const std::vector<std::size_t> bytes = bytes_of_parts(parts_of(elements, counts, first, comm));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::optional<std::uint64_t> VaryingCall::bytes() const {
  return has_agreed_ ? Call::bytes() : known_bytes();
}

// --- MPI_Scatterv and MPI_Gatherv ---

RootedVaryingCall::RootedVaryingCall(planner::Operation kind, const Elements& all_parts,
                                     PerRank all_counts, PerRank all_first,
                                     const Elements& own_part, int of_root, MPI_Comm of)
    : VaryingCall(kind, of, of_root),
      all(all_parts),
      counts_of_all(all_counts),
      first(all_first),
      own(own_part),
      is_root(is_rank(of_root, of)) {}

bool RootedVaryingCall::has_wrong_buffers() const {
  if (is_root && all.address == MPI_IN_PLACE) return true;
  return own.address == MPI_IN_PLACE ? !is_root : is_wrong(own);
}

std::optional<std::uint64_t> RootedVaryingCall::known_bytes() const {
  if (!is_root) return std::nullopt;
  const std::vector<std::uint64_t> bytes = valid_bytes(all, counts_of_all, first, comm);
  if (bytes.empty()) return std::nullopt;
  return sum_of(bytes);
}

bool RootedVaryingCall::agree() {
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  if (is_root) of_rank = valid_bytes(all, counts_of_all, first, comm);
  if (of_rank.empty()) of_rank.assign(ranks, kRefused);
  check(PMPI_Bcast(of_rank.data(), static_cast<int>(ranks), MPI_UINT64_T, root, comm), "MPI_Bcast");
  if (of_rank.front() == kRefused) return false;
  count = static_cast<MPI_Count>(sum_of(of_rank));
  has_agreed_ = true;
  return true;
}

std::vector<double> RootedVaryingCall::shares() const {
  return unequal_shares(of_rank);
}

void RootedVaryingCall::run(runtime::Collective& collective) const {
  const bool scatters = operation == planner::Operation::kScatter;
  const std::vector<std::size_t> bytes(of_rank.begin(), of_rank.end());
  using Contents = ByteParts::Contents;
  const bool in_place = own.address == MPI_IN_PLACE;
  std::optional<ByteParts> parts;
  if (is_root) {
    parts.emplace(comm, parts_of(all, counts_of_all, first, comm),
                  scatters || in_place ? Contents::kData : Contents::kNone);
  }
  std::optional<ByteParts> part;
  if (!in_place) {
    part.emplace(comm, part_of(own), scatters ? Contents::kNone : Contents::kData);
    const std::size_t here = bytes[static_cast<std::size_t>(rank_in(comm))];
    require_bytes(own, here);
  }
  void* const mine = part ? part->address() : MPI_IN_PLACE;
  void* const everything = parts ? parts->address() : nullptr;
  const std::span<const std::size_t> begins =
      parts ? parts->first() : std::span<const std::size_t>();
  if (scatters) {
    collective.scatter(everything, mine, bytes, begins, MPI_BYTE);
    if (part) part->store();
  } else {
    collective.gather(mine, everything, bytes, begins, MPI_BYTE);
    if (parts) parts->store();
  }
}

// --- MPI_Alltoallv ---

AlltoallvCall::AlltoallvCall(const Elements& to_each, PerRank to_counts, PerRank to_first,
                             const Elements& from_each, PerRank from_counts, PerRank from_first,
                             MPI_Comm of)
    : VaryingCall(planner::Operation::kAlltoall, of, 0),
      sent(to_each),
      sent_counts(to_counts),
      sent_first(to_first),
      received(from_each),
      received_counts(from_counts),
      received_first(from_first) {}

bool AlltoallvCall::has_wrong_buffers() const {
  if (!are_valid(received, received_counts, received_first, comm)) return true;
  if (sent.address == MPI_IN_PLACE) return false;
  return !are_valid(sent, sent_counts, sent_first, comm);
}

std::optional<std::uint64_t> AlltoallvCall::known_bytes() const {
  const std::vector<std::uint64_t> bytes =
      valid_bytes(received, received_counts, received_first, comm);
  if (bytes.empty()) return std::nullopt;
  return sum_of(bytes);
}

bool AlltoallvCall::agree() {
  const std::array<std::uint64_t, 2> here{known_bytes().value_or(0), has_wrong_buffers() ? 1U : 0U};
  std::array<std::uint64_t, 2> all{};
  check(PMPI_Allreduce(here.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  // What one rank receives, or sends, on average.
  count = static_cast<MPI_Count>(all[0] / static_cast<std::uint64_t>(size_of(comm)));
  has_agreed_ = true;
  return all[1] == 0;
}

void AlltoallvCall::run_by_leaders(const runtime::AlltoallByLeaders& leaders) const {
  exchange_by_leaders(comm, leaders,
                      sent.address == MPI_IN_PLACE
                          ? std::nullopt
                          : std::optional(parts_of(sent, sent_counts, sent_first, comm)),
                      parts_of(received, received_counts, received_first, comm));
}

void AlltoallvCall::run(runtime::Collective& collective) const {
  using Contents = ByteParts::Contents;
  const bool in_place = sent.address == MPI_IN_PLACE;
  ByteParts to(comm, parts_of(received, received_counts, received_first, comm),
               in_place ? Contents::kData : Contents::kNone);
  if (in_place) {
    collective.alltoallv(MPI_IN_PLACE, {}, {}, to.address(), to.counts(), to.first(), MPI_BYTE);
  } else {
    const ByteParts from(comm, parts_of(sent, sent_counts, sent_first, comm), Contents::kData);
    collective.alltoallv(from.address(), from.counts(), from.first(), to.address(), to.counts(),
                         to.first(), MPI_BYTE);
  }
  to.store();
}

}  // namespace espalier::preload
