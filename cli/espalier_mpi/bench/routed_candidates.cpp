// The candidates of operations whose parts go from one rank to one other.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "cli/espalier_mpi/bench/bound_plans.hpp"
#include "cli/espalier_mpi/bench/shared_parts.hpp"
#include "cli/espalier_mpi/run/pattern.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;
using BoundCollectives = std::vector<runtime::Collective>;

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

std::byte poison(int rank) {
  return static_cast<std::byte>(0xA5 ^ rank);
}

// Parts differ although they are of the same round.
std::uint64_t pattern_of(std::uint64_t round, std::size_t parts, std::size_t part) {
  return round * parts + part;
}

std::optional<std::string> fault_in(std::span<const std::byte> part, std::uint64_t pattern,
                                    const std::string& name) {
  const auto fault = find_fault(part, pattern);
  if (!fault) return std::nullopt;
  return fmt::format("{}: {}", name, *fault);
}

// --- scatter and gather: the root's memory has all parts, the other ranks' begins with theirs ---

struct WithRoot {
  bool scatters;
  int rank;
  int root;
  std::vector<double> shares;

  [[nodiscard]] bool is_root() const { return rank == root; }
  [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(rank); }
  template <class Byte>
  [[nodiscard]] std::span<Byte> own_part(std::span<Byte> memory, const SharedParts& parts) const {
    return is_root() ? parts.part_of(memory, rank) : memory.first(parts.counts[here()]);
  }
  void run(runtime::Collective& collective, std::span<std::byte> memory) const {
    const SharedParts parts(memory.size(), shares);
    void* const own = is_root() ? MPI_IN_PLACE : memory.data();
    if (scatters) {
      collective.scatter(memory.data(), own, parts.counts, parts.first, MPI_BYTE);
    } else {
      collective.gather(own, memory.data(), parts.counts, parts.first, MPI_BYTE);
    }
  }
  void run_by_library(std::span<std::byte> memory, MPI_Comm comm) const {
    require_int(scatters ? Operation::kScatter : Operation::kGather, memory.size());
    const SharedParts parts(memory.size(), shares);
    const std::vector<int> counts = as_int(parts.counts);
    const std::vector<int> first = as_int(parts.first);
    void* const own = is_root() ? MPI_IN_PLACE : memory.data();
    if (scatters) {
      runtime::check(MPI_Scatterv(memory.data(), counts.data(), first.data(), MPI_BYTE, own,
                                  counts[here()], MPI_BYTE, root, comm),
                     "MPI_Scatterv");
    } else {
      runtime::check(MPI_Gatherv(own, counts[here()], MPI_BYTE, memory.data(), counts.data(),
                                 first.data(), MPI_BYTE, root, comm),
                     "MPI_Gatherv");
    }
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const SharedParts parts(memory.size(), shares);
    const std::size_t count = shares.size();
    if (is_root() || !scatters) {
      std::ranges::fill(is_root() ? memory : memory.first(0), poison(rank));
      for (std::size_t part = 0; part < count; ++part) {
        if (!scatters && part != here()) continue;
        fill_with_pattern(part == here() ? own_part(memory, parts)
                                         : parts.part_of(memory, static_cast<int>(part)),
                          pattern_of(round, count, part));
      }
    } else {
      std::ranges::fill(own_part(memory, parts), poison(rank));
    }
  }
  [[nodiscard]] std::optional<std::string> fault(std::span<const std::byte> memory,
                                                 std::uint64_t round) const {
    const SharedParts parts(memory.size(), shares);
    for (std::size_t part = 0; part < shares.size(); ++part) {
      if (scatters ? part != here() : !is_root()) continue;
      auto fault = fault_in(
          part == here() ? own_part(memory, parts) : parts.part_of(memory, static_cast<int>(part)),
          pattern_of(round, shares.size(), part), fmt::format("the part of rank {}", part));
      if (fault) return fault;
    }
    return std::nullopt;
  }
};

// --- alltoall: what a rank sends, then what it receives ---

struct AllToAll {
  std::size_t rank;
  std::size_t ranks;
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
      return static_cast<std::size_t>(std::round(shares[from * ranks + to] * message));
    };
    Parts parts{{}, {}, {}, {}, true};
    for (std::size_t other = 0; other < ranks; ++other) {
      parts.sent.push_back(bytes(rank, other));
      parts.received.push_back(bytes(other, rank));
      for (std::size_t to = 0; to < ranks; ++to) {
        parts.are_equal = parts.are_equal && bytes(other, to) == bytes(0, 0);
      }
    }
    parts.sent_first = runtime::one_after_another(parts.sent);
    parts.received_first = runtime::one_after_another(parts.received);
    return parts;
  }
  void run(runtime::Collective& collective, std::span<std::byte> memory) const {
    const Parts parts = parts_in(memory.size());
    std::byte* const sent = memory.data();
    std::byte* const received = parts.received_in(memory, 0).data();
    if (parts.are_equal) {
      collective.alltoall(sent, received, parts.sent[0], MPI_BYTE);
    } else {
      collective.alltoallv(sent, parts.sent, parts.sent_first, received, parts.received,
                           parts.received_first, MPI_BYTE);
    }
  }
  void run_by_library(std::span<std::byte> memory, MPI_Comm comm) const {
    require_int(Operation::kAlltoall, memory.size());
    const Parts parts = parts_in(memory.size());
    runtime::check(
        MPI_Alltoallv(memory.data(), as_int(parts.sent).data(), as_int(parts.sent_first).data(),
                      MPI_BYTE, parts.received_in(memory, 0).data(), as_int(parts.received).data(),
                      as_int(parts.received_first).data(), MPI_BYTE, comm),
        "MPI_Alltoallv");
  }
  [[nodiscard]] std::uint64_t pattern(std::uint64_t round, std::size_t from, std::size_t to) const {
    return pattern_of(round, ranks * ranks, from * ranks + to);
  }
  void prepare(std::span<std::byte> memory, std::uint64_t round) const {
    const Parts parts = parts_in(memory.size());
    std::ranges::fill(memory, poison(static_cast<int>(rank)));
    for (std::size_t to = 0; to < ranks; ++to) {
      fill_with_pattern(parts.sent_in(memory, to), pattern(round, rank, to));
    }
  }
  [[nodiscard]] std::optional<std::string> fault(std::span<const std::byte> memory,
                                                 std::uint64_t round) const {
    const Parts parts = parts_in(memory.size());
    for (std::size_t from = 0; from < ranks; ++from) {
      auto fault = fault_in(parts.received_in(memory, from), pattern(round, from, rank),
                            fmt::format("the part from rank {}", from));
      if (fault) return fault;
    }
    return std::nullopt;
  }
};

AllToAll all_to_all(MPI_Comm comm, std::vector<double> shares) {
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  double most_sent = 0;
  double most_received = 0;
  for (std::size_t one = 0; one < ranks; ++one) {
    double sent = 0;
    double received = 0;
    for (std::size_t other = 0; other < ranks; ++other) {
      sent += shares[one * ranks + other];
      received += shares[other * ranks + one];
    }
    most_sent = std::max(most_sent, sent);
    most_received = std::max(most_received, received);
  }
  constexpr double kRounding = 1e-6;  // of shares; what it leaves, and that of parts, is spare
  const auto messages = [](double shares_sum) {
    return static_cast<std::uint64_t>(std::ceil(shares_sum - kRounding));
  };
  constexpr std::uint64_t kSpare = std::uint64_t{1} << 16;
  return {static_cast<std::size_t>(runtime::rank_in(comm)), ranks,
          messages(most_sent) + messages(most_received), kSpare + 2 * ranks, std::move(shares)};
}

template <class Kind>
void add_routed(MPI_Comm comm, std::span<const NamedPlan> plans, BoundCollectives& bound,
                const Kind& kind, TimedOperation& timed) {
  timed.candidates.push_back(
      {std::string(runtime::library_function(timed.operation)),
       [kind, comm](std::span<std::byte> memory) { kind.run_by_library(memory, comm); }});
  add_candidates(
      plans, bound, 1,
      [kind](runtime::Collective& collective, std::span<std::byte> memory) {
        kind.run(collective, memory);
      },
      timed);
  timed.prepare = [kind](std::span<std::byte> memory, std::uint64_t round) {
    kind.prepare(memory, round);
  };
  timed.fault = [kind](std::span<const std::byte> memory, std::uint64_t round) {
    return kind.fault(memory, round);
  };
}

}  // namespace

TimedOperation timed_routes(MPI_Comm comm, Operation operation, std::span<const NamedPlan> plans,
                            runtime::ReductionOptions options) {
  require_same_source(plans);
  const auto bound = std::make_shared<BoundCollectives>();
  bind_plans(comm, plans, std::move(options), *bound);
  const int ranks = runtime::size_of(comm);
  TimedOperation timed;
  timed.operation = operation;
  timed.root = bound->empty() ? 0 : bound->front().root();
  if (operation == Operation::kAlltoall) {
    std::vector<double> shares =
        bound->empty()
            ? std::vector<double>(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks),
                                  1.0 / ranks)
            : bound->front().shares();
    const AllToAll kind = all_to_all(comm, std::move(shares));
    timed.copies = kind.copies;
    timed.spare = kind.spare;
    add_routed(comm, plans, *bound, kind, timed);
  } else {
    const WithRoot kind{operation == Operation::kScatter, runtime::rank_in(comm), timed.root,
                        shares_of(*bound, ranks)};
    add_routed(comm, plans, *bound, kind, timed);
  }
  timed.state = bound;
  return timed;
}

}  // namespace espalier::cli
