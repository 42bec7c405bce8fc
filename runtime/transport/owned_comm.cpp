#include "runtime/transport/owned_comm.hpp"

#include <memory>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

OwnedComm::OwnedComm(MPI_Comm of, Timeout timeout) {
  if (timeout.is_limited()) {
    const auto made = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(of, made.get(), &request), "MPI_Comm_idup");
    timeout.wait(request, "waiting for all ranks to create a communicator", made);
    comm_ = *made;
  } else {
    check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
  }
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

OwnedComm::~OwnedComm() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0 && !abandoned_) MPI_Comm_free(&comm_);
}

int OwnedComm::rank() const {
  return rank_in(comm_);
}

std::size_t OwnedComm::size() const {
  return static_cast<std::size_t>(size_of(comm_));
}

std::size_t OwnedComm::largest_tag() const {
  int* tag = nullptr;
  int is_set = 0;
  check(MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&tag), &is_set),
        "MPI_Comm_get_attr");
  return is_set != 0 ? static_cast<std::size_t>(*tag) : 32767;  // the minimum that MPI guarantees
}

}  // namespace espalier::runtime
