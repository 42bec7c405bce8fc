// Broadcasts a million doubles along a plan.
//   mpirun -np 8 ./broadcast plan.json
#include "runtime/api/broadcast.hpp"

#include <mpi.h>

#include <iostream>
#include <numeric>
#include <vector>

#include "support/errors.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const auto plan =
        espalier::runtime::share_plan(MPI_COMM_WORLD, argc > 1 ? argv[1] : "plan.json");
    auto broadcast = espalier::runtime::plan_on(MPI_COMM_WORLD, plan);

    std::vector<double> values(1'000'000);
    if (rank == broadcast.root()) std::iota(values.begin(), values.end(), 0.0);
    broadcast.run(values.data(), values.size(), MPI_DOUBLE);
    std::cout << "rank " << rank << " is " << broadcast.node() << " and has " << values.back()
              << "\n";
  } catch (const espalier::Error& error) {
    std::cerr << "rank " << rank << ": " << error.what() << "\n";
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(error.status()));
  }
  MPI_Finalize();
}
