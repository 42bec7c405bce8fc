// The candidates of operations whose message has a part for each rank.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
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

void allgather_by_library(std::span<std::byte> message, std::span<const double> shares,
                          MPI_Comm comm) {
  if (message.size() > INT_MAX) {
    throw InputError(
        "MPI_Allgatherv cannot count more than 2 GiB in bytes; give a shorter message "
        "or leave out the comparison");
  }
  const SharedParts parts(message.size(), shares);
  const std::vector<int> counts(parts.counts.begin(), parts.counts.end());
  const std::vector<int> first(parts.first.begin(), parts.first.end());
  runtime::check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, message.data(), counts.data(),
                                first.data(), MPI_BYTE, comm),
                 "MPI_Allgatherv");
}

}  // namespace

TimedOperation timed_allgather(MPI_Comm comm, std::span<const NamedPlan> plans,
                               runtime::ReductionOptions options) {
  const int rank = runtime::rank_in(comm);
  const int ranks = runtime::size_of(comm);
  const auto bound = std::make_shared<std::vector<runtime::Collective>>();
  bind_plans(comm, plans, std::move(options), *bound);
  const std::vector<double> shares = shares_of(*bound, ranks);
  TimedOperation timed;
  timed.operation = planner::Operation::kAllgather;
  timed.candidates.push_back({std::string(runtime::library_function(timed.operation)),
                              [comm, shares](std::span<std::byte> message) {
                                allgather_by_library(message, shares, comm);
                              }});
  const auto run = [shares](runtime::Collective& collective, std::span<std::byte> message) {
    const SharedParts parts(message.size(), shares);
    collective.allgather(MPI_IN_PLACE, message.data(), parts.counts, parts.first, MPI_BYTE);
  };
  add_candidates(plans, *bound, 1, run, timed);
  timed.prepare = [rank, ranks, shares](std::span<std::byte> message, std::uint64_t round) {
    const SharedParts parts(message.size(), shares);
    fill_with_pattern(message, round);
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      std::ranges::fill(parts.part_of(message, other), static_cast<std::byte>(0xA5 ^ rank));
    }
  };
  timed.fault = find_fault;
  timed.state = bound;
  return timed;
}

TimedOperation timed_reduce_scatter(MPI_Comm comm, std::span<const NamedPlan> plans,
                                    runtime::ReductionOptions options, Elements elements) {
  const int rank = runtime::rank_in(comm);
  const int ranks = runtime::size_of(comm);
  const std::size_t element = bytes_of(elements.type);
  const auto bound = std::make_shared<std::vector<runtime::Collective>>();
  bind_plans(comm, plans, std::move(options), *bound);
  TimedOperation timed;
  timed.operation = planner::Operation::kReduceScatter;
  timed.copies = 2;  // the whole vector, then this rank's part of the result
  const auto counts_of = [shares = shares_of(*bound, ranks), element](std::size_t bytes) {
    return SharedParts(bytes / element, shares);
  };
  timed.candidates.push_back(
      {std::string(runtime::library_function(timed.operation)), [=](std::span<std::byte> memory) {
         const auto [own, result] = own_and_result(memory, 2);
         runtime::reduce_scatter_by_library(comm, own.data(), result.data(),
                                            counts_of(own.size()).counts, mpi_type(elements.type),
                                            mpi_op(elements.op));
       }});
  const auto run = [=](runtime::Collective& collective, std::span<std::byte> memory) {
    const auto [own, result] = own_and_result(memory, 2);
    collective.reduce_scatter(own.data(), result.data(), counts_of(own.size()).counts,
                              mpi_type(elements.type), mpi_op(elements.op));
  };
  add_candidates(plans, *bound, element, run, timed);
  timed.prepare = [=](std::span<std::byte> memory, std::uint64_t round) {
    const auto [own, result] = own_and_result(memory, 2);
    fill_elements(own, elements, rank, round);
    std::ranges::fill(result, static_cast<std::byte>(0xA5 ^ rank));
  };
  timed.fault = [=](std::span<const std::byte> memory, std::uint64_t round) {
    const SharedParts parts = counts_of(memory.size() / 2);
    const auto here = static_cast<std::size_t>(rank);
    return find_wrong_element(own_and_result(memory, 2).result.first(parts.counts[here] * element),
                              elements, ranks, round, parts.first[here]);
  };
  timed.state = bound;
  return timed;
}

}  // namespace espalier::cli
