// The MPI functions that the library replaces. MPI_Finalize need not be among them
// (Interposer::start).
#include <mpi.h>

#include "runtime/preload/interposer.hpp"

using espalier::preload::Interposer;

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) Interposer::get().started();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) Interposer::get().started();
  return code;
}

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) return PMPI_Bcast(buffer, count, type, root, comm);
  return interposer.broadcast(buffer, count, type, root, comm);
}

#if MPI_VERSION >= 4
extern "C" int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root,
                           MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) return PMPI_Bcast_c(buffer, count, type, root, comm);
  return interposer.broadcast(buffer, count, type, root, comm);
}
#endif

extern "C" int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                          MPI_Op op, int root, MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) {
    return PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
  }
  return interposer.reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

extern "C" int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
  return interposer.allreduce(sendbuf, recvbuf, count, type, op, comm);
}

#if MPI_VERSION >= 4
extern "C" int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                            MPI_Op op, int root, MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) {
    return PMPI_Reduce_c(sendbuf, recvbuf, count, type, op, root, comm);
  }
  return interposer.reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

extern "C" int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) return PMPI_Allreduce_c(sendbuf, recvbuf, count, type, op, comm);
  return interposer.allreduce(sendbuf, recvbuf, count, type, op, comm);
}
#endif

#ifdef OPEN_MPI
// Open MPI's Fortran functions call PMPI_Bcast, whereas MPICH's call MPI_Bcast. These do the same
// as Open MPI's, but call MPI_Bcast. Those of the module mpi_f08 take the same arguments.
extern "C" __attribute__((weak)) int mpi_fortran_bottom_;
extern "C" __attribute__((weak)) int mpi_fortran_in_place_;

namespace {

void* from_fortran(void* buffer) {
  if (&mpi_fortran_in_place_ != nullptr && buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return &mpi_fortran_bottom_ != nullptr && buffer == &mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

void init(MPI_Fint* error) {
  const int code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}

void init_thread(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}

void bcast(void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
           const MPI_Fint* comm, MPI_Fint* error) {
  const int code =
      MPI_Bcast(from_fortran(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

void reduce(void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
            const MPI_Fint* op, const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* error) {
  const int code = MPI_Reduce(from_fortran(sendbuf), from_fortran(recvbuf), *count,
                              PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

void allreduce(void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
               const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* error) {
  const int code = MPI_Allreduce(from_fortran(sendbuf), from_fortran(recvbuf), *count,
                                 PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));
  if (error != nullptr) *error = code;
}

}  // namespace

#define ESPALIER_FORTRAN_FUNCTIONS(INIT, INIT_THREAD, BCAST, REDUCE, ALLREDUCE)            \
  extern "C" void INIT(MPI_Fint* error) {                                                  \
    init(error);                                                                           \
  }                                                                                        \
  extern "C" void INIT_THREAD(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {   \
    init_thread(required, provided, error);                                                \
  }                                                                                        \
  extern "C" void BCAST(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root,     \
                        MPI_Fint* comm, MPI_Fint* error) {                                 \
    bcast(buffer, count, type, root, comm, error);                                         \
  }                                                                                        \
  extern "C" void REDUCE(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* type,    \
                         MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {  \
    reduce(sendbuf, recvbuf, count, type, op, root, comm, error);                          \
  }                                                                                        \
  extern "C" void ALLREDUCE(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* type, \
                            MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {               \
    allreduce(sendbuf, recvbuf, count, type, op, comm, error);                             \
  }
ESPALIER_FORTRAN_FUNCTIONS(mpi_init_, mpi_init_thread_, mpi_bcast_, mpi_reduce_, mpi_allreduce_)
ESPALIER_FORTRAN_FUNCTIONS(mpi_init_f08_, mpi_init_thread_f08_, mpi_bcast_f08_, mpi_reduce_f08_,
                           mpi_allreduce_f08_)
#endif
