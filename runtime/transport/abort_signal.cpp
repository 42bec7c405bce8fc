#include "runtime/transport/abort_signal.hpp"

#include <array>
#include <memory>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

void AbortSignal::begin(bool listen) {
  raised_ = received_ = false;
  if (!listen || !is_source()) return;
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &request()), "MPI_Irecv");
}

void AbortSignal::raise() {
  raised_ = true;
  if (is_source()) return;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, source_, tag_, comm_, &request()), "MPI_Isend");
}

bool AbortSignal::finish(Timeout timeout) {
  constexpr const char* kOthers = "waiting for all ranks to finish their segments";
  constexpr const char* kSignal = "passing the abort signal";
  const int mine = raised_ ? 1 : 0;
  const auto counts = std::make_shared<std::array<int, 2>>(std::array<int, 2>{mine, 0});
  MPI_Request sum = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(counts->data(), counts->data() + 1, 1, MPI_INT, MPI_SUM, comm_, &sum),
        "MPI_Iallreduce");
  timeout.wait(sum, kOthers, counts);
  const int all = (*counts)[1];
  if (!is_source()) {
    timeout.wait(request(), kSignal);
    return all != 0;
  }
  int signals = all - mine - (received_ ? 1 : 0);
  if (request() != MPI_REQUEST_NULL) {
    if (signals == 0) check(MPI_Cancel(&request()), "MPI_Cancel");
    timeout.wait(request(), kSignal);
    if (signals > 0) --signals;
  }
  for (; signals > 0; --signals) {
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &request()), "MPI_Irecv");
    timeout.wait(request(), kSignal);
  }
  return all != 0;
}

}  // namespace espalier::runtime
