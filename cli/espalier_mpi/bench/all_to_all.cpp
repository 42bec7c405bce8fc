#include "cli/espalier_mpi/bench/all_to_all.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::cli {

using planner::Operation;

// Of a message of so many bytes.
struct AllToAll::Parts {
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

AllToAll::Parts AllToAll::parts_in(std::size_t memory) const {
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

void AllToAll::run(runtime::Collective& plan, std::span<std::byte> memory) const {
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

void AllToAll::run_by_leaders(const runtime::AlltoallByLeaders& leaders,
                              runtime::AlltoallByLeaders::Way way,
                              std::span<std::byte> memory) const {
  const Parts parts = parts_in(memory.size());
  leaders.run(way, {memory.data(), parts.sent, parts.sent_first},
              {parts.received_in(memory, 0).data(), parts.received, parts.received_first});
}

void AllToAll::run_by_library(MPI_Comm comm, std::span<std::byte> memory) const {
  require_int(Operation::kAlltoall, memory.size());
  const Parts parts = parts_in(memory.size());
  runtime::check(
      MPI_Alltoallv(memory.data(), as_int(parts.sent).data(), as_int(parts.sent_first).data(),
                    MPI_BYTE, parts.received_in(memory, 0).data(), as_int(parts.received).data(),
                    as_int(parts.received_first).data(), MPI_BYTE, comm),
      "MPI_Alltoallv");
}

std::uint64_t AllToAll::pattern(std::uint64_t round, std::size_t from, std::size_t to) const {
  return pattern_of(round, rank.count * rank.count, from * rank.count + to);
}

void AllToAll::prepare(std::span<std::byte> memory, std::uint64_t round) const {
  const Parts parts = parts_in(memory.size());
  fill_with_poison(memory, rank.index());
  for (std::size_t to = 0; to < rank.count; ++to) {
    fill_with_pattern(parts.sent_in(memory, to), pattern(round, rank.here, to));
  }
}

Fault AllToAll::fault(std::span<const std::byte> memory, std::uint64_t round) const {
  const Parts parts = parts_in(memory.size());
  for (std::size_t from = 0; from < rank.count; ++from) {
    Fault fault = fault_in(parts.received_in(memory, from), pattern(round, from, rank.here),
                           fmt::format("the part from rank {}", from));
    if (fault) return fault;
  }
  return std::nullopt;
}

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

void add_by_leaders(MPI_Comm comm, const AllToAll& kind, TimedOperation& timed) {
  using runtime::AlltoallByLeaders;
  const auto leaders = std::make_shared<AlltoallByLeaders>(comm, runtime::hosts_of_ranks(comm));
  const auto add = [&](std::string name, AlltoallByLeaders::Way way) {
    timed.candidates.push_back({std::move(name), [kind, leaders, way](std::span<std::byte> memory) {
                                  require_int(Operation::kAlltoall,
                                              memory.size() * kind.rank.count);
                                  kind.run_by_leaders(*leaders, way, memory);
                                }});
  };
  add("leaders", AlltoallByLeaders::Way::kOneAlltoallv);
  add("leaders, rank by rank", AlltoallByLeaders::Way::kGathervs);
}

}  // namespace espalier::cli
