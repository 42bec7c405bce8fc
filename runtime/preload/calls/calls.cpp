#include "runtime/preload/calls/calls.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>

#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/preload/calls/byte_parts.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::preload {
namespace {

using runtime::rank_in;
using runtime::size_of;

// All of them, one after another.
std::unique_ptr<std::byte[]> packed(MPI_Comm comm, const Elements& elements) {
  const std::size_t size = runtime::element_shape_of(elements.type).bytes;
  const auto count = static_cast<std::size_t>(elements.count);
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(count * size);
  runtime::ElementPacker(comm, elements.address, elements.type, size).pack(0, count, bytes.get());
  return bytes;
}

void unpack(MPI_Comm comm, std::byte* bytes, const Elements& elements) {
  const std::size_t size = runtime::element_shape_of(elements.type).bytes;
  runtime::ElementPacker(comm, elements.address, elements.type, size)
      .unpack(0, static_cast<std::size_t>(elements.count), bytes);
}

// What a rank sends to itself, in one type, to where it receives it, in another one.
void convert(MPI_Comm comm, const Elements& from, const Elements& to) {
  require_bytes(from, bytes_of(to));
  unpack(comm, packed(comm, from).get(), to);
}

// `elements` from element `first` on.
Elements from_element(const Elements& elements, std::size_t first) {
  const MPI_Aint by =
      static_cast<MPI_Aint>(first) * runtime::element_shape_of(elements.type).extent;
  return {runtime::moved(elements.address, by), elements.count, elements.type};
}

}  // namespace

std::optional<std::uint64_t> Call::bytes() const {
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  MPI_Count element = 0;
  if (PMPI_Type_size_x(type, &element) != MPI_SUCCESS || element < 0) return std::nullopt;
  MPI_Count elements = count;
  if (counts.is_given()) {
    elements = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_of(comm)); ++i) {
      if (counts[i] < 0 || __builtin_add_overflow(elements, counts[i], &elements)) return {};
    }
  }
  if (elements < 0) return std::nullopt;
  std::uint64_t bytes = 0;
  const auto ranks = per_rank ? static_cast<std::uint64_t>(size_of(comm)) : 1;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(element),
                             static_cast<std::uint64_t>(elements), &bytes) ||
      __builtin_mul_overflow(bytes, ranks, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::vector<std::size_t> Call::parts() const {
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  std::vector<std::size_t> of_rank(ranks, static_cast<std::size_t>(count));
  for (std::size_t i = 0; counts.is_given() && i < ranks; ++i) {
    of_rank[i] = static_cast<std::size_t>(counts[i]);
  }
  return of_rank;
}

std::vector<double> unequal_shares(std::span<const std::uint64_t> parts) {
  if (std::ranges::adjacent_find(parts, std::not_equal_to<>()) == parts.end()) return {};
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<double> shares;
  for (const std::uint64_t part : parts) shares.push_back(static_cast<double>(part) / sum);
  return shares;
}

std::vector<double> Call::shares() const {
  if (!counts.is_given()) return {};
  const std::vector<std::size_t> of_rank = parts();
  return unequal_shares(std::vector<std::uint64_t>(of_rank.begin(), of_rank.end()));
}

void Call::pull(runtime::PullAmongHosts& /*pull*/) const {
  throw std::logic_error("only broadcasts and allgathers are pulled");
}

void Call::run_by_leaders(const runtime::AlltoallByLeaders& /*leaders*/) const {
  throw std::logic_error("only alltoalls go by leaders");
}

// --- one message ---

BroadcastCall::BroadcastCall(const Elements& elements, int of_root, MPI_Comm of)
    : Call(planner::Operation::kBroadcast, of, of_root, elements), buffer(elements.address) {}

bool BroadcastCall::has_wrong_buffers() const {
  return buffer == MPI_IN_PLACE || is_missing(buffer, type);
}

void BroadcastCall::run(runtime::Collective& collective) const {
  collective.run(buffer, static_cast<std::size_t>(count), type);
}

void BroadcastCall::pull(runtime::PullAmongHosts& pull) const {
  pull.broadcast(buffer, static_cast<std::size_t>(count), type, root);
}

ReductionCall::ReductionCall(planner::Operation kind, const void* from, const Elements& to,
                             MPI_Op with, int of_root, MPI_Comm of)
    : Call(kind, of, of_root, to, false, {}, with), sendbuf(from), recvbuf(to.address) {
#ifdef OPEN_MPI
  // Other MPIs refuse equal buffers. Open MPI does not check, and the result is that of an in-place
  // call.
  if (kind == planner::Operation::kAllreduce && sendbuf == recvbuf) sendbuf = MPI_IN_PLACE;
#endif
}

bool ReductionCall::has_wrong_buffers() const {
  if (sendbuf == nullptr) return true;
  const bool has_result = operation == planner::Operation::kAllreduce || rank_in(comm) == root;
  if (!has_result) return sendbuf == MPI_IN_PLACE;
  return recvbuf == nullptr || recvbuf == MPI_IN_PLACE || recvbuf == sendbuf;
}

void ReductionCall::run(runtime::Collective& collective) const {
  collective.run(sendbuf, recvbuf, static_cast<std::size_t>(count), type, op);
}

// --- a part for each rank ---

AllgatherCall::AllgatherCall(const Elements& own, const Elements& all, MPI_Comm of,
                             PerRank all_counts, PerRank all_first)
    : Call(planner::Operation::kAllgather, of, 0, all, !all_counts.is_given(), all_counts),
      sent(own),
      recvbuf(all.address),
      first(all_first) {}

bool AllgatherCall::has_wrong_buffers() const {
  if (recvbuf == MPI_IN_PLACE || is_missing(recvbuf, type)) return true;
  return sent.address != MPI_IN_PLACE && is_wrong(sent);
}

template <class Runner>
void AllgatherCall::run_by(Runner& runner) const {
  const std::vector<std::size_t> of_rank = parts();
  // Beginnings may be negative; those of a collective are not.
  MPI_Aint lowest = 0;
  std::vector<std::size_t> begins;
  if (first.is_given()) {
    lowest = first[0];
    for (std::size_t i = 1; i < of_rank.size(); ++i) lowest = std::min(lowest, first[i]);
    for (std::size_t i = 0; i < of_rank.size(); ++i) {
      begins.push_back(static_cast<std::size_t>(first[i] - lowest));
    }
  }
  const MPI_Aint extent = runtime::element_shape_of(type).extent;
  void* const all = runtime::moved(recvbuf, lowest * extent);
  const void* from = sent.address;
  if (from != MPI_IN_PLACE) {
    const auto here = static_cast<std::size_t>(rank_in(comm));
    const Elements own{all, static_cast<MPI_Count>(of_rank[here]), type};
    require_bytes(sent, bytes_of(own));
    if (sent.type != type && bytes_of(own) > 0) {
      convert(comm, sent, from_element(own, begins.empty() ? here * of_rank[here] : begins[here]));
      from = MPI_IN_PLACE;
    }
  }
  runner.allgather(from, all, of_rank, begins, type);
}

ReduceScatterCall::ReduceScatterCall(const void* from, const Elements& to, MPI_Op with, MPI_Comm of,
                                     PerRank part_counts)
    : Call(planner::Operation::kReduceScatter, of, 0, to, !part_counts.is_given(), part_counts,
           with),
      sendbuf(from),
      recvbuf(to.address) {
#ifdef OPEN_MPI
  if (sendbuf == recvbuf) sendbuf = MPI_IN_PLACE;  // as for an allreduce
#endif
}

bool ReduceScatterCall::has_wrong_buffers() const {
  if (sendbuf == nullptr || recvbuf == MPI_IN_PLACE || recvbuf == sendbuf) return true;
  if (recvbuf != nullptr) return false;
  return sendbuf == MPI_IN_PLACE || parts()[static_cast<std::size_t>(rank_in(comm))] > 0;
}

void ReduceScatterCall::run(runtime::Collective& collective) const {
  collective.reduce_scatter(sendbuf, recvbuf, parts(), type, op);
}

RootedPartsCall::RootedPartsCall(planner::Operation kind, const Elements& all_parts,
                                 const Elements& own_part, int of_root, MPI_Comm of)
    : Call(kind, of, of_root, is_rank(of_root, of) ? all_parts : own_part, true),
      all(all_parts),
      own(own_part),
      is_root(is_rank(of_root, of)) {}

bool RootedPartsCall::has_wrong_buffers() const {
  if (is_root && (all.address == MPI_IN_PLACE || is_wrong(all))) return true;
  return own.address == MPI_IN_PLACE ? !is_root : is_wrong(own);
}

void RootedPartsCall::run(runtime::Collective& collective) const {
  const bool scatters = operation == planner::Operation::kScatter;
  const std::vector<std::size_t> of_rank = parts();
  // The root's own part, if its type differs from that of all parts.
  const bool converts = is_root && own.address != MPI_IN_PLACE && own.type != all.type;
  Elements part = all;
  if (converts) part = from_element(all, static_cast<std::size_t>(root) * of_rank.front());
  if (is_root && own.address != MPI_IN_PLACE) require_bytes(own, bytes_of(all));
  if (converts && !scatters) convert(comm, own, part);
  void* const mine = converts ? MPI_IN_PLACE : own.address;
  if (scatters) {
    collective.scatter(all.address, mine, of_rank, {}, type);
  } else {
    collective.gather(mine, all.address, of_rank, {}, type);
  }
  if (converts && scatters) convert(comm, part, own);
}

AlltoallCall::AlltoallCall(const Elements& to_each, const Elements& from_each, MPI_Comm of)
    : Call(planner::Operation::kAlltoall, of, 0, from_each, true),
      sent(to_each),
      received(from_each) {}

bool AlltoallCall::has_wrong_buffers() const {
  if (received.address == MPI_IN_PLACE || is_wrong(received)) return true;
  return sent.address != MPI_IN_PLACE && is_wrong(sent);
}

void AlltoallCall::run(runtime::Collective& collective) const {
  const auto each = static_cast<std::size_t>(count);
  const std::size_t bytes = bytes_of(received);
  if (sent.address != MPI_IN_PLACE) require_bytes(sent, bytes);
  if (sent.address == MPI_IN_PLACE || sent.type == received.type) {
    return collective.alltoall(sent.address, received.address, each, type);
  }
  const auto ranks = static_cast<MPI_Count>(size_of(comm));
  const auto of_all = [&](Elements elements) {
    elements.count *= ranks;
    return elements;
  };
  const auto from = packed(comm, of_all(sent));
  const auto to =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(ranks) * bytes);
  collective.alltoall(from.get(), to.get(), bytes, MPI_BYTE);
  unpack(comm, to.get(), of_all(received));
}

void AlltoallCall::run_by_leaders(const runtime::AlltoallByLeaders& leaders) const {
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  struct Equal {
    std::vector<MPI_Count> counts;
    std::vector<MPI_Count> first;
  };
  const auto equal = [&](const Elements& each) {
    Equal parts{std::vector(ranks, each.count), {}};
    for (std::size_t i = 0; i < ranks; ++i) {
      parts.first.push_back(static_cast<MPI_Count>(i) * each.count);
    }
    return parts;
  };
  const bool in_place = sent.address == MPI_IN_PLACE;
  const Equal from = equal(in_place ? Elements{} : sent);
  const Equal to = equal(received);
  std::optional<Parts> sources;
  if (!in_place)
    sources = Parts{sent.address, ranks, from.counts.data(), from.first.data(), sent.type};
  exchange_by_leaders(comm, leaders, sources,
                      {received.address, ranks, to.counts.data(), to.first.data(), received.type});
}

}  // namespace espalier::preload
