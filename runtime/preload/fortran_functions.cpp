// The same functions for Fortran. Open MPI's call PMPI_Bcast, whereas MPICH's call MPI_Bcast. These
// do the same as Open MPI's, but call MPI_Bcast. Those of the module mpi_f08 take the same
// arguments.
#include <mpi.h>

#ifdef OPEN_MPI

#include <type_traits>

extern "C" __attribute__((weak)) int mpi_fortran_bottom_;
extern "C" __attribute__((weak)) int mpi_fortran_in_place_;

namespace {

// An argument of a Fortran function, all of which are addresses, as one of C's type.
template <class C>
C from_fortran(void* argument) {
  if constexpr (std::is_same_v<C, int>) {
    return *static_cast<const MPI_Fint*>(argument);
  } else if constexpr (std::is_same_v<C, MPI_Datatype>) {
    return PMPI_Type_f2c(*static_cast<const MPI_Fint*>(argument));
  } else if constexpr (std::is_same_v<C, MPI_Op>) {
    return PMPI_Op_f2c(*static_cast<const MPI_Fint*>(argument));
  } else if constexpr (std::is_same_v<C, MPI_Comm>) {
    return PMPI_Comm_f2c(*static_cast<const MPI_Fint*>(argument));
  } else if constexpr (std::is_same_v<C, const int*>) {
    static_assert(sizeof(MPI_Fint) == sizeof(int));
    return static_cast<const int*>(argument);
  } else {  // a buffer
    if (&mpi_fortran_in_place_ != nullptr && argument == &mpi_fortran_in_place_)
      return MPI_IN_PLACE;
    const bool is_bottom = &mpi_fortran_bottom_ != nullptr && argument == &mpi_fortran_bottom_;
    return is_bottom ? MPI_BOTTOM : argument;
  }
}

// An argument as long as the function runs.
template <class C>
class Argument {
 public:
  explicit Argument(void* argument) : value_(from_fortran<C>(argument)) {}
  C get() { return value_; }

 private:
  C value_;
};

// A request, which the function sets.
template <>
class Argument<MPI_Request*> {
 public:
  explicit Argument(void* argument) : argument_(static_cast<MPI_Fint*>(argument)) {}
  ~Argument() { *argument_ = PMPI_Request_c2f(request_); }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  Argument(Argument&&) = delete;
  Argument& operator=(Argument&&) = delete;
  MPI_Request* get() { return &request_; }

 private:
  MPI_Fint* argument_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

template <class>
using Address = void*;

// error: not given by programs that do not ask for it.
template <class... Arguments>
void call(int (*function)(Arguments...), MPI_Fint* error, Address<Arguments>... arguments) {
  const int code = function(Argument<Arguments>(arguments).get()...);
  if (error != nullptr) *error = code;
}

void init(MPI_Fint* error) {
  const int code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}

void init_thread(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}

}  // namespace

// NAME(SUFFIX): of the function in Fortran, which calls MPI's FUNCTION with 5 to 10 arguments.
#define ESPALIER_FORTRAN_5(NAME, FUNCTION)                                             \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, MPI_Fint* error) { \
    call(FUNCTION, error, a, b, c, d, e);                                              \
  }
#define ESPALIER_FORTRAN_6(NAME, FUNCTION)                                                      \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, void* f, MPI_Fint* error) { \
    call(FUNCTION, error, a, b, c, d, e, f);                                                    \
  }
#define ESPALIER_FORTRAN_7(NAME, FUNCTION)                                            \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, void* f, void* g, \
                       MPI_Fint* error) {                                             \
    call(FUNCTION, error, a, b, c, d, e, f, g);                                       \
  }
#define ESPALIER_FORTRAN_8(NAME, FUNCTION)                                                     \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, \
                       MPI_Fint* error) {                                                      \
    call(FUNCTION, error, a, b, c, d, e, f, g, h);                                             \
  }
#define ESPALIER_FORTRAN_9(NAME, FUNCTION)                                                     \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, \
                       void* i, MPI_Fint* error) {                                             \
    call(FUNCTION, error, a, b, c, d, e, f, g, h, i);                                          \
  }
#define ESPALIER_FORTRAN_10(NAME, FUNCTION)                                                    \
  extern "C" void NAME(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, \
                       void* i, void* j, MPI_Fint* error) {                                    \
    call(FUNCTION, error, a, b, c, d, e, f, g, h, i, j);                                       \
  }
#define ESPALIER_FORTRAN_FUNCTIONS(SUFFIX)                                         \
  extern "C" void mpi_init##SUFFIX(MPI_Fint* error) {                              \
    init(error);                                                                   \
  }                                                                                \
  extern "C" void mpi_init_thread##SUFFIX(MPI_Fint* required, MPI_Fint* provided,  \
                                          MPI_Fint* error) {                       \
    init_thread(required, provided, error);                                        \
  }                                                                                \
  ESPALIER_FORTRAN_5(mpi_bcast##SUFFIX, MPI_Bcast)                                 \
  ESPALIER_FORTRAN_7(mpi_reduce##SUFFIX, MPI_Reduce)                               \
  ESPALIER_FORTRAN_6(mpi_allreduce##SUFFIX, MPI_Allreduce)                         \
  ESPALIER_FORTRAN_7(mpi_allgather##SUFFIX, MPI_Allgather)                         \
  ESPALIER_FORTRAN_8(mpi_allgatherv##SUFFIX, MPI_Allgatherv)                       \
  ESPALIER_FORTRAN_6(mpi_reduce_scatter##SUFFIX, MPI_Reduce_scatter)               \
  ESPALIER_FORTRAN_6(mpi_reduce_scatter_block##SUFFIX, MPI_Reduce_scatter_block)   \
  ESPALIER_FORTRAN_8(mpi_scatter##SUFFIX, MPI_Scatter)                             \
  ESPALIER_FORTRAN_8(mpi_gather##SUFFIX, MPI_Gather)                               \
  ESPALIER_FORTRAN_7(mpi_alltoall##SUFFIX, MPI_Alltoall)                           \
  ESPALIER_FORTRAN_9(mpi_scatterv##SUFFIX, MPI_Scatterv)                           \
  ESPALIER_FORTRAN_9(mpi_gatherv##SUFFIX, MPI_Gatherv)                             \
  ESPALIER_FORTRAN_9(mpi_alltoallv##SUFFIX, MPI_Alltoallv)                         \
  ESPALIER_FORTRAN_6(mpi_ibcast##SUFFIX, MPI_Ibcast)                               \
  ESPALIER_FORTRAN_8(mpi_ireduce##SUFFIX, MPI_Ireduce)                             \
  ESPALIER_FORTRAN_7(mpi_iallreduce##SUFFIX, MPI_Iallreduce)                       \
  ESPALIER_FORTRAN_8(mpi_iallgather##SUFFIX, MPI_Iallgather)                       \
  ESPALIER_FORTRAN_9(mpi_iallgatherv##SUFFIX, MPI_Iallgatherv)                     \
  ESPALIER_FORTRAN_7(mpi_ireduce_scatter##SUFFIX, MPI_Ireduce_scatter)             \
  ESPALIER_FORTRAN_7(mpi_ireduce_scatter_block##SUFFIX, MPI_Ireduce_scatter_block) \
  ESPALIER_FORTRAN_9(mpi_iscatter##SUFFIX, MPI_Iscatter)                           \
  ESPALIER_FORTRAN_9(mpi_igather##SUFFIX, MPI_Igather)                             \
  ESPALIER_FORTRAN_8(mpi_ialltoall##SUFFIX, MPI_Ialltoall)                         \
  ESPALIER_FORTRAN_10(mpi_iscatterv##SUFFIX, MPI_Iscatterv)                        \
  ESPALIER_FORTRAN_10(mpi_igatherv##SUFFIX, MPI_Igatherv)                          \
  ESPALIER_FORTRAN_10(mpi_ialltoallv##SUFFIX, MPI_Ialltoallv)

ESPALIER_FORTRAN_FUNCTIONS(_)
ESPALIER_FORTRAN_FUNCTIONS(_f08_)

#endif
