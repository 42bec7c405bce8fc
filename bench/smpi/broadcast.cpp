// Executes a plan and prints how long each message took, for SMPI to run:
//
//   broadcast PLAN BYTES...
//
// From a barrier until the last rank has everything, in SMPI's simulated seconds.
#include "runtime/broadcast.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "planner/plan.hpp"

namespace {

void run(int count, char** arguments) {
  using namespace espalier;
  runtime::BroadcastOptions options;
  options.check_sizes = false;  // beside the slices: not what is compared
  runtime::Broadcast broadcast(MPI_COMM_WORLD, planner::read_plan(arguments[1]), options);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < count; ++i) {
    std::vector<char> buffer(std::strtoull(arguments[i], nullptr, 10));
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    broadcast.run(buffer.data(), buffer.size(), MPI_BYTE);
    const double mine = MPI_Wtime() - start;
    double last = 0;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%zu %.6f\n", buffer.size(), last);
  }
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  run(count, arguments);
  MPI_Finalize();
  return 0;
}
