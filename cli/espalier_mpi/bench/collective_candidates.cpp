// The candidates of all operations but a broadcast: what MPI's own function and a plan run on, how
// a rank fills it, and what must come out.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "cli/espalier_mpi/bench/bound_plans.hpp"
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
using Fault = std::optional<std::string>;

// A message of so many units, by the shares of a plan, rounded.
struct SharedParts {
  SharedParts(std::uint64_t units, std::span<const double> shares)
      : counts(runtime::divided(units, shares)), first(runtime::one_after_another(counts)) {}
  template <class Byte>
  [[nodiscard]] std::span<Byte> part_of(std::span<Byte> memory, std::size_t rank) const {
    return memory.subspan(first[rank], counts[rank]);
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> first;
};

std::vector<int> as_int(std::span<const std::size_t> values) {
  return {values.begin(), values.end()};
}

void require_int(Operation operation, std::uint64_t bytes) {
  if (bytes <= INT_MAX) return;
  throw InputError(
      fmt::format("{} cannot count more than 2 GiB in bytes; give a shorter message or leave out "
                  "the comparison",
                  runtime::library_function(operation)));
}

// This rank among all.
struct Rank {
  explicit Rank(MPI_Comm comm)
      : here(static_cast<std::size_t>(runtime::rank_in(comm))),
        count(static_cast<std::size_t>(runtime::size_of(comm))) {}
  [[nodiscard]] int index() const { return static_cast<int>(here); }
  std::size_t here;
  std::size_t count;
};

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

// Parts differ although they are of the same round.
std::uint64_t pattern_of(std::uint64_t round, std::size_t parts, std::size_t part) {
  return round * parts + part;
}

Fault fault_in(std::span<const std::byte> part, std::uint64_t pattern, const std::string& name) {
  const Fault fault = find_fault(part, pattern);
  if (!fault) return std::nullopt;
  return fmt::format("{}: {}", name, *fault);
}

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

// What a rank sends, then what it receives.
struct AllToAll {
  Rank rank;
  std::uint64_t copies;
  std::uint64_t spare;
  std::vector<double> shares;  // sender by sender

  // Of a message of so many bytes.
  struct Parts {
    std::vector<std::size_t> sent;
    std::vector<std::size_t> sent_first;
    std::vector<std::size_t> received;
    std::vector<std::size_t> received_first;
    bool are_equal;
    template <class Byte>
    [[nodiscard]] std::span<Byte> sent_in(std::span<Byte> memory, std::size_t to) const {
      return memory.subspan(sent_first[to], sent[to]);
    }
    template <class Byte>
    [[nodiscard]] std::span<Byte> received_in(std::span<Byte> memory, std::size_t from) const {
      return memory.subspan(sent_first.back() + sent.back() + received_first[from], received[from]);
    }
  };
  [[nodiscard]] Parts parts_in(std::size_t memory) const {
    const std::uint64_t message_bytes = (memory - spare) / copies;
    const auto message = static_cast<double>(message_bytes);
    const auto bytes = [&](std::size_t from, std::size_t to) {
      return static_cast<std::size_t>(std::round(shares[from * rank.count + to] * message));
    };
    Parts parts{{}, {}, {}, {}, true};
    for (std::size_t other = 0; other < rank.count; ++other) {
      parts.sent.push_back(bytes(rank.here, other));
      parts.received.push_back(bytes(other, rank.here));
      for (std::size_t to = 0; to < rank.count; ++to) {
        parts.are_equal = parts.are_equal && bytes(other, to) == bytes(0, 0);
      }
    }
    parts.sent_first = runtime::one_after_another(parts.sent);
    parts.received_first = runtime::one_after_another(parts.received);
    return parts;
  }
  void run(Collective& plan, std::span<std::byte> memory) const {
    const Parts parts = parts_in(memory.size());
    std::byte* const sent = memory.data();
    std::byte* const received = parts.received_in(memory, 0).data();
    if (parts.are_equal) {
      plan.alltoall(sent, received, parts.sent[0], MPI_BYTE);
    } else {
      plan.alltoallv(sent, parts.sent, parts.sent_first, received, parts.received,
                     parts.received_first, MPI_BYTE);
    }
  }
  void run_by_library(MPI_Comm comm, std::span<std::byte> memory) const {
    require_int(Operation::kAlltoall, memory.size());
    const Parts parts = parts_in(memory.size());
    runtime::check(
        MPI_Alltoallv(memory.data(), as_int(parts.sent).data(), as_int(parts.sent_first).data(),
                      MPI_BYTE, parts.received_in(memory, 0).data(), as_int(parts.received).data(),
                      as_int(parts.received_first).data(), MPI_BYTE, comm),
        "MPI_Alltoallv");
  }
  [[nodiscard]] std::uint64_t pattern(std::uint64_t round, std::size_t from, std::size_t to) const {
    return pattern_of(round, rank.count * rank.count, from * rank.count + to);
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const Parts parts = parts_in(memory.size());
    fill_with_poison(memory, rank.index());
    for (std::size_t to = 0; to < rank.count; ++to) {
      fill_with_pattern(parts.sent_in(memory, to), pattern(round, rank.here, to));
    }
  }
  [[nodiscard]] Fault fault(std::span<const std::byte> memory, std::uint64_t round) const {
    const Parts parts = parts_in(memory.size());
    for (std::size_t from = 0; from < rank.count; ++from) {
      Fault fault = fault_in(parts.received_in(memory, from), pattern(round, from, rank.here),
                             fmt::format("the part from rank {}", from));
      if (fault) return fault;
    }
    return std::nullopt;
  }
};

AllToAll all_to_all(Rank rank, std::vector<double> shares) {
  double most_sent = 0;
  double most_received = 0;
  for (std::size_t one = 0; one < rank.count; ++one) {
    double sent = 0;
    double received = 0;
    for (std::size_t other = 0; other < rank.count; ++other) {
      sent += shares[one * rank.count + other];
      received += shares[other * rank.count + one];
    }
    most_sent = std::max(most_sent, sent);
    most_received = std::max(most_received, received);
  }
  constexpr double kRounding = 1e-6;  // of shares; what it leaves, and that of parts, is spare
  const auto messages = [](double shares_sum) {
    return static_cast<std::uint64_t>(std::ceil(shares_sum - kRounding));
  };
  constexpr std::uint64_t kSpare = std::uint64_t{1} << 16;
  return {rank, messages(most_sent) + messages(most_received), kSpare + 2 * rank.count,
          std::move(shares)};
}

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
                                Elements elements) {
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
  } else {
    add(WithRoot{rank, operation == Operation::kScatter, timed.root, std::move(shares)});
  }
  return timed;
}

}  // namespace espalier::cli
