#include "runtime/transport/owned_comm.hpp"

#include <memory>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

namespace {

void require_thread_level() {
  int is_main = 0;
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (thread_level() >= MPI_THREAD_SERIALIZED || is_main != 0) return;
  throw InputError(
      "only the thread that initialised MPI may call it; initialise MPI with "
      "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

}  // namespace

OwnedComm::OwnedComm(MPI_Comm of, Timeout timeout) : shared_(std::make_shared<Shared>()) {
  require_thread_level();
  if (timeout.is_limited()) {
    const auto made = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(of, made.get(), &request), "MPI_Comm_idup");
    timeout.wait(request, "waiting for all ranks to create a communicator", made);
    shared_->comm = *made;
  } else {
    check(MPI_Comm_dup(of, &shared_->comm), "MPI_Comm_dup");
  }
  MPI_Comm_set_errhandler(shared_->comm, MPI_ERRORS_RETURN);
}

OwnedComm::Shared::~Shared() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0 && !is_abandoned && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

int OwnedComm::rank() const {
  return rank_in(get());
}

std::size_t OwnedComm::size() const {
  return static_cast<std::size_t>(size_of(get()));
}

std::size_t OwnedComm::largest_tag() const {
  int* tag = nullptr;
  int is_set = 0;
  check(MPI_Comm_get_attr(get(), MPI_TAG_UB, static_cast<void*>(&tag), &is_set),
        "MPI_Comm_get_attr");
  return is_set != 0 ? static_cast<std::size_t>(*tag) : 32767;  // the minimum that MPI guarantees
}

std::optional<OwnedComm> ranks_of_color(MPI_Comm comm, int color, Timeout timeout) {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, color, rank_in(comm), &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  OwnedComm owned(part, timeout);
  check(MPI_Comm_free(&part), "MPI_Comm_free");
  return owned;
}

}  // namespace espalier::runtime
