// The broadcasts that bench times.
#include <algorithm>
#include <utility>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/run/buffer.hpp"
#include "cli/espalier_mpi/run/pattern.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

BenchOperation broadcast_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               const BenchArguments& arguments) {
  const int rank = runtime::rank_in(comm);
  runtime::BroadcastOptions options = arguments.broadcast;
  const auto broadcasts = std::make_shared<std::vector<runtime::Broadcast>>();
  BenchOperation operation;
  require_same_source(plans);
  for (const BenchPlan& one : plans) {
    options.segment_bytes = one.segment_bytes;
    options.tuned = one.tuned;
    try {
      broadcasts->push_back(runtime::plan_on(comm, one.plan, options));
    } catch (const InputError& error) {  // on all ranks
      throw InputError(one.name, {}, error.what());
    }
  }
  const int root = plans.empty() ? 0 : broadcasts->front().root();
  operation.root = root;
  operation.methods.push_back({"MPI_Bcast", [comm, root](std::span<std::byte> message) {
                                 mpi_bcast(message, root, comm);
                               }});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    runtime::Broadcast* const broadcast = &(*broadcasts)[i];
    operation.methods.push_back(
        {plans[i].name,
         [broadcast](std::span<std::byte> message) {
           broadcast->run(message.data(), message.size(), MPI_BYTE);
         },
         [broadcast](std::uint64_t bytes) { return broadcast->segment_bytes(bytes); },
         [broadcast](std::uint64_t bytes) {
           return broadcast->predicted_time(bytes, broadcast->segment_bytes(bytes));
         },
         plans[i].plan.algorithm});
  }
  operation.prepare = [rank, root](std::span<std::byte> message, std::uint64_t round) {
    if (rank == root) {
      fill_with_pattern(message, round);
    } else {  // touches the pages, and clears what must be received
      std::fill(message.begin(), message.end(), static_cast<std::byte>(0xA5 ^ rank));
    }
  };
  operation.fault = find_fault;
  operation.state = broadcasts;
  return operation;
}

}  // namespace espalier::cli
