// The candidates of all operations but a broadcast: what MPI's own function and a plan run on, how
// a rank fills it, and what must come out.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "cli/espalier_mpi/bench/all_to_all.hpp"
#include "cli/espalier_mpi/bench/bound_plans.hpp"
#include "cli/espalier_mpi/bench/parts_in_memory.hpp"
#include "cli/espalier_mpi/run/pattern.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;
using runtime::Collective;

// --- reduce, allreduce and reduce-scatter: a rank's elements, then the result if it gets one ---

struct Reducing {
  Rank rank;
  Operation operation;
  int root;
  Elements elements;
  std::vector<double> shares;  // of a reduce-scatter

  [[nodiscard]] std::uint64_t copies() const {
    return operation == Operation::kReduce && rank.index() != root ? 1 : 2;
  }
  [[nodiscard]] bool has_parts() const { return operation == Operation::kReduceScatter; }
  [[nodiscard]] std::size_t elements_in(std::size_t bytes) const {
    return bytes / bytes_of(elements.type);
  }
  template <class Byte>
  [[nodiscard]] std::pair<std::span<Byte>, std::span<Byte>> split(std::span<Byte> memory) const {
    const std::size_t bytes = memory.size() / copies();
    return {memory.first(bytes), memory.subspan(bytes)};
  }
  void run(Collective& plan, std::span<std::byte> memory) const {
    const auto [own, result] = split(memory);
    const std::size_t count = elements_in(own.size());
    const MPI_Datatype type = mpi_type(elements.type);
    const MPI_Op op = mpi_op(elements.op);
    if (has_parts()) {
      plan.reduce_scatter(own.data(), result.data(), SharedParts(count, shares).counts, type, op);
    } else {
      plan.run(own.data(), result.data(), count, type, op);
    }
  }
  void run_by_library(MPI_Comm comm, std::span<std::byte> memory) const {
    const auto [own, result] = split(memory);
    const std::size_t count = elements_in(own.size());
    const MPI_Datatype type = mpi_type(elements.type);
    const MPI_Op op = mpi_op(elements.op);
    if (has_parts()) {
      runtime::reduce_scatter_by_library(comm, own.data(), result.data(),
                                         SharedParts(count, shares).counts, type, op);
    } else {
      runtime::reduce_by_library(comm, operation, root, own.data(), result.data(), count, type, op);
    }
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const auto [own, result] = split(memory);
    fill_elements(own, elements, rank.index(), round);
    fill_with_poison(result, rank.index());
  }
  [[nodiscard]] Fault fault(std::span<const std::byte> memory, std::uint64_t round) const {
    auto [own, result] = split(memory);
    std::size_t first = 0;
    if (has_parts()) {
      const SharedParts parts(elements_in(own.size()), shares);
      first = parts.first[rank.here];
      result = result.first(parts.counts[rank.here] * bytes_of(elements.type));
    }
    return find_wrong_element(result, elements, static_cast<int>(rank.count), round, first);
  }
};

struct Barrier {
  static void run(Collective& plan, std::span<std::byte> /*memory*/) { plan.barrier(); }
  static void run_by_library(MPI_Comm comm, std::span<std::byte> /*memory*/) {
    runtime::check(MPI_Barrier(comm), "MPI_Barrier");
  }
  static void prepare(std::span<std::byte> /*memory*/, std::uint64_t /*round*/) {}
  static Fault fault(std::span<const std::byte> /*memory*/, std::uint64_t /*round*/) { return {}; }
};

// --- allgather: all parts on every rank ---

struct Allgather {
  Rank rank;
  std::vector<double> shares;

  void run(Collective& plan, std::span<std::byte> memory) const {
    const SharedParts parts(memory.size(), shares);
    plan.allgather(MPI_IN_PLACE, memory.data(), parts.counts, parts.first, MPI_BYTE);
  }
  void run_by_library(MPI_Comm comm, std::span<std::byte> memory) const {
    require_int(Operation::kAllgather, memory.size());
    const SharedParts parts(memory.size(), shares);
    runtime::check(
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, memory.data(), as_int(parts.counts).data(),
                       as_int(parts.first).data(), MPI_BYTE, comm),
        "MPI_Allgatherv");
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const SharedParts parts(memory.size(), shares);
    fill_with_pattern(memory, round);
    for (std::size_t other = 0; other < rank.count; ++other) {
      if (other != rank.here) fill_with_poison(parts.part_of(memory, other), rank.index());
    }
  }
  static Fault fault(std::span<const std::byte> memory, std::uint64_t round) {
    return find_fault(memory, round);
  }
};

// --- scatter, gather and alltoall: parts that go from one rank to one other ---

// The root's memory has all parts, the other ranks' begins with theirs.
struct WithRoot {
  Rank rank;
  bool scatters;
  int root;
  std::vector<double> shares;

  [[nodiscard]] bool is_root() const { return rank.index() == root; }
  // On other ranks than the root, of their own part.
  template <class Byte>
  [[nodiscard]] std::span<Byte> place_of(std::span<Byte> memory, const SharedParts& parts,
                                         std::size_t part) const {
    return is_root() ? parts.part_of(memory, part) : memory.first(parts.counts[part]);
  }
  [[nodiscard]] void* own_in(std::span<std::byte> memory) const {
    return is_root() ? MPI_IN_PLACE : memory.data();
  }
  void run(Collective& plan, std::span<std::byte> memory) const {
    const SharedParts parts(memory.size(), shares);
    if (scatters) {
      plan.scatter(memory.data(), own_in(memory), parts.counts, parts.first, MPI_BYTE);
    } else {
      plan.gather(own_in(memory), memory.data(), parts.counts, parts.first, MPI_BYTE);
    }
  }
  void run_by_library(MPI_Comm comm, std::span<std::byte> memory) const {
    require_int(scatters ? Operation::kScatter : Operation::kGather, memory.size());
    const SharedParts parts(memory.size(), shares);
    const std::vector<int> counts = as_int(parts.counts);
    const std::vector<int> first = as_int(parts.first);
    const int count = counts[rank.here];
    if (scatters) {
      runtime::check(MPI_Scatterv(memory.data(), counts.data(), first.data(), MPI_BYTE,
                                  own_in(memory), count, MPI_BYTE, root, comm),
                     "MPI_Scatterv");
    } else {
      runtime::check(MPI_Gatherv(own_in(memory), count, MPI_BYTE, memory.data(), counts.data(),
                                 first.data(), MPI_BYTE, root, comm),
                     "MPI_Gatherv");
    }
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const SharedParts parts(memory.size(), shares);
    fill_with_poison(is_root() ? memory : place_of(memory, parts, rank.here), rank.index());
    for (std::size_t part = 0; part < rank.count; ++part) {
      if (scatters ? !is_root() : part != rank.here) continue;
      fill_with_pattern(place_of(memory, parts, part), pattern_of(round, rank.count, part));
    }
  }
  [[nodiscard]] Fault fault(std::span<const std::byte> memory, std::uint64_t round) const {
    const SharedParts parts(memory.size(), shares);
    for (std::size_t part = 0; part < rank.count; ++part) {
      if (scatters ? part != rank.here : !is_root()) continue;
      Fault fault = fault_in(place_of(memory, parts, part), pattern_of(round, rank.count, part),
                             fmt::format("the part of rank {}", part));
      if (fault) return fault;
    }
    return std::nullopt;
  }
};

// The plans and MPI's own function on such messages, into `timed`, whose operation is set.
template <class Kind>
void add_all(MPI_Comm comm, std::span<const NamedPlan> plans, std::vector<Collective>& bound,
             std::size_t element_bytes, const Kind& kind, TimedOperation& timed) {
  timed.candidates.push_back(
      {std::string(runtime::library_function(timed.operation)),
       [kind, comm](std::span<std::byte> memory) { kind.run_by_library(comm, memory); }});
  add_candidates(
      plans, bound, element_bytes,
      [kind](Collective& plan, std::span<std::byte> memory) { kind.run(plan, memory); }, timed);
  timed.prepare = [kind](std::span<std::byte> memory, std::uint64_t round) {
    kind.prepare(memory, round);
  };
  timed.fault = [kind](std::span<const std::byte> memory, std::uint64_t round) {
    return kind.fault(memory, round);
  };
}

}  // namespace

TimedOperation timed_collective(MPI_Comm comm, Operation operation,
                                std::span<const NamedPlan> plans, runtime::ReductionOptions options,
                                Elements elements, bool by_leaders) {
  if (planner::needs_root(operation)) require_same_source(plans);
  const auto bound = std::make_shared<std::vector<Collective>>();
  bind_plans(comm, plans, std::move(options), *bound);
  const Rank rank(comm);
  TimedOperation timed;
  timed.operation = operation;
  timed.state = bound;
  const auto add = [&](const auto& kind, std::size_t element_bytes = 1) {
    add_all(comm, plans, *bound, element_bytes, kind, timed);
  };
  if (planner::has_no_data(operation)) {
    add(Barrier{});
    return timed;
  }
  if (!bound->empty()) timed.root = bound->front().root();
  // As in the first plan, or equal ones if there is none.
  const std::size_t parts =
      operation == Operation::kAlltoall ? rank.count * rank.count : rank.count;
  std::vector<double> shares =
      bound->empty() ? std::vector<double>(parts, 1.0 / static_cast<double>(rank.count))
                     : bound->front().shares();
  if (planner::combines(operation)) {
    const Reducing kind{rank, operation, timed.root, elements, std::move(shares)};
    timed.copies = kind.copies();
    add(kind, bytes_of(elements.type));
  } else if (operation == Operation::kAllgather) {
    add(Allgather{rank, std::move(shares)});
  } else if (operation == Operation::kAlltoall) {
    const AllToAll kind = all_to_all(rank, std::move(shares));
    timed.copies = kind.copies;
    timed.spare = kind.spare;
    add(kind);
    if (by_leaders) add_by_leaders(comm, kind, timed);
  } else {
    add(WithRoot{rank, operation == Operation::kScatter, timed.root, std::move(shares)});
  }
  return timed;
}

}  // namespace espalier::cli
