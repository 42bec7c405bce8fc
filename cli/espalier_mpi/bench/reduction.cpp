// The reduces and allreduces that bench times.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/commands/reduce.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;

struct State {
  std::vector<runtime::Reduction> reductions;
  Seconds predicted_time{};  // of the run in progress, for the watchdog
};

// A rank's elements, then the buffer for the result if it has one.
template <class Byte>
struct Parts {
  std::span<Byte> own;
  std::span<Byte> result;
};
template <class Byte>
Parts<Byte> parts_of(std::span<Byte> memory, std::uint64_t copies) {
  const std::size_t bytes = memory.size() / copies;
  return {memory.first(bytes), memory.subspan(bytes)};
}

BenchMethod method_of(runtime::Reduction& reduction, State& state, std::string name,
                      std::uint64_t copies, Elements elements, Watchdog& watchdog) {
  const auto segment_bytes = [&reduction, element = bytes_of(elements.type)](std::uint64_t bytes) {
    return reduction.segment_bytes(bytes, element);
  };
  const auto predicted_time = [&reduction, segment_bytes](std::uint64_t bytes) {
    return reduction.predicted_time(bytes, segment_bytes(bytes));
  };
  return {std::move(name),
          [&reduction, &state, &watchdog, copies, elements,
           predicted_time](std::span<std::byte> memory) {
            const auto [own, result] = parts_of(memory, copies);
            state.predicted_time = predicted_time(own.size());
            watchdog.expect(kReducing, state.predicted_time);
            reduction.run(own.data(), result.data(), own.size() / bytes_of(elements.type),
                          mpi_type(elements.type), mpi_op(elements.op));
          },
          segment_bytes, predicted_time};
}

}  // namespace

BenchOperation reduction_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               Operation operation, const BenchArguments& arguments,
                               Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  const int ranks = runtime::size_of(comm);
  const Elements elements = arguments.elements;
  for (const Bytes size : arguments.sizes) require_whole(arguments.sizes_option, size, elements);
  if (operation == Operation::kReduce) require_same_source(plans);
  const auto state = std::make_shared<State>();
  runtime::ReductionOptions options = arguments.reduction;
  // A rank may wait for any segment as long as for its first one.
  options.on_progress = [&watchdog, running = state.get()](std::uint64_t) {
    watchdog.expect(kReducing, running->predicted_time);
  };
  for (const BenchPlan& one : plans) {
    options.segment_bytes = one.segment_bytes;
    options.tuned = one.tuned;
    try {
      state->reductions.emplace_back(comm, one.plan, options);
    } catch (const InputError& error) {  // on all ranks
      throw InputError(one.name, {}, error.what());
    }
  }

  BenchOperation bench;
  bench.operation = operation;
  bench.root = plans.empty() ? 0 : state->reductions.front().root();
  const bool has_result = operation == Operation::kAllreduce || rank == bench.root;
  bench.copies = has_result ? 2 : 1;
  bench.methods.push_back({operation == Operation::kAllreduce ? "MPI_Allreduce" : "MPI_Reduce",
                           [comm, operation, root = bench.root, copies = bench.copies,
                            elements](std::span<std::byte> memory) {
                             const auto [own, result] = parts_of(memory, copies);
                             runtime::reduce_by_library(
                                 comm, operation, root, own.data(), result.data(),
                                 own.size() / bytes_of(elements.type), mpi_type(elements.type),
                                 mpi_op(elements.op));
                           }});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    bench.methods.push_back(
        method_of(state->reductions[i], *state, plans[i].name, bench.copies, elements, watchdog));
    bench.methods.back().algorithm = plans[i].plan.algorithm;
  }
  bench.prepare = [rank, elements, copies = bench.copies](std::span<std::byte> memory,
                                                          std::uint64_t round) {
    const auto [own, result] = parts_of(memory, copies);
    fill_elements(own, elements, rank, round);
    // Touches the result's pages, and clears what must be received.
    std::fill(result.begin(), result.end(), static_cast<std::byte>(0xA5 ^ rank));
  };
  bench.fault = [ranks, elements, copies = bench.copies](std::span<const std::byte> memory,
                                                         std::uint64_t round) {
    return find_wrong_element(parts_of(memory, copies).result, elements, ranks, round);
  };
  bench.state = state;
  return bench;
}

}  // namespace espalier::cli
