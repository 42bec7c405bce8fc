! A Fortran program without Espalier, by mpif.h, module mpi or module mpi_f08 (INTERFACE: 1, 2, 3):
! one call of each collective that the preloaded library takes, and some in place. Each element is
! checked. Rank 0 prints "all right".
program fortran_calls
#if INTERFACE == 3
  use mpi_f08
#elif INTERFACE == 2
  use mpi
#endif
  implicit none
#if INTERFACE == 1
  include 'mpif.h'
#endif
  integer, parameter :: n = 20000
  integer :: rank, ranks, provided, code, i, from, wrong, all_wrong
#if INTERFACE == 3
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  integer, allocatable :: mine(:), parts(:), got(:), back(:), counts(:), first(:)

  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  allocate (mine(n), parts(n*ranks), got(n*ranks), back(n*ranks), counts(ranks), first(ranks))
  wrong = 0
  mine = [(rank*1000 + mod(i, 997), i=1, n)]
  parts = [((rank*1000 + from*10000 + mod(i, 997), i=1, n), from=0, ranks - 1)]

  got(1:n) = -1
  if (rank == 1) got(1:n) = mine
  call MPI_Bcast(got, n, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
  call check(got(1:n), [(1000 + mod(i, 997), i=1, n)])

  call MPI_Reduce(mine, got, n, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, code)
  if (rank == 1) call check(got(1:n), [((ranks - 1)*1000 + mod(i, 997), i=1, n)])
  got(1:n) = mine
  call MPI_Allreduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  call check(got(1:n), [((ranks - 1)*1000 + mod(i, 997), i=1, n)])

  got = -1
  call MPI_Allgather(mine, n, MPI_INTEGER, got, n, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check(got, [((from*1000 + mod(i, 997), i=1, n), from=0, ranks - 1)])
  back = got
  got = -1
  got(rank*n + 1:(rank + 1)*n) = mine
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, got, n, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check(got, back)

  counts = [(n - from, from=0, ranks - 1)]
  first = [(from*n, from=0, ranks - 1)]
  got = -1
  call MPI_Allgatherv(mine, n - rank, MPI_INTEGER, got, counts, first, MPI_INTEGER, &
                      MPI_COMM_WORLD, code)
  do from = 0, ranks - 1
    call check(got(from*n + 1:(from + 1)*n - from), back(from*n + 1:(from + 1)*n - from))
  end do

  got = -1
  call MPI_Reduce_scatter_block(parts, got, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  call check(got(1:n), [((ranks - 1)*1000 + rank*10000 + mod(i, 997), i=1, n)])
  counts = n
  back = parts
  call MPI_Reduce_scatter(MPI_IN_PLACE, back, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  call check(back(1:n), got(1:n))

  call MPI_Scatter(parts, n, MPI_INTEGER, got, n, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
  call check(got(1:n), [(1000 + rank*10000 + mod(i, 997), i=1, n)])
  back = -1
  if (rank == 1) then
    back = parts
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, back, n, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
    call check(back, parts)
  else
    call MPI_Gather(got, n, MPI_INTEGER, back, n, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
  end if

  call MPI_Alltoall(parts, n, MPI_INTEGER, got, n, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check(got, [((from*1000 + rank*10000 + mod(i, 997), i=1, n), from=0, ranks - 1)])

  ! Parts of different sizes: n - 1 elements of each rank but the last.
  counts = n - 1
  counts(ranks) = n
  first = [(from*n, from=0, ranks - 1)]
  got = -1
  call MPI_Scatterv(parts, counts, first, MPI_INTEGER, got, counts(rank + 1), MPI_INTEGER, 1, &
                    MPI_COMM_WORLD, code)
  call check(got(1:n - 1), [(1000 + rank*10000 + mod(i, 997), i=1, n - 1)])
  back = -1
  if (rank == 1) then
    back(n + 1:2*n) = got(1:n)
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, back, counts, first, MPI_INTEGER, 1, &
                     MPI_COMM_WORLD, code)
    do from = 0, ranks - 1
      call check(back(from*n + 1:from*n + n - 1), parts(from*n + 1:from*n + n - 1))
    end do
  else
    call MPI_Gatherv(got, counts(rank + 1), MPI_INTEGER, back, counts, first, MPI_INTEGER, 1, &
                     MPI_COMM_WORLD, code)
  end if
  counts = n - 1
  got = -1
  call MPI_Alltoallv(parts, counts, first, MPI_INTEGER, got, counts, first, MPI_INTEGER, &
                     MPI_COMM_WORLD, code)
  do from = 0, ranks - 1
    call check(got(from*n + 1:from*n + n - 1), [(from*1000 + rank*10000 + mod(i, 997), i=1, n - 1)])
  end do

  got = -1
  call MPI_Ialltoall(parts, n, MPI_INTEGER, got, n, MPI_INTEGER, MPI_COMM_WORLD, request, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  call check(got, [((from*1000 + rank*10000 + mod(i, 997), i=1, n), from=0, ranks - 1)])

  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0 .and. all_wrong == 0) print '(a)', 'all right'
  call MPI_Finalize(code)

contains

  subroutine check(values, expected)
    integer, intent(in) :: values(:), expected(:)
    if (any(values /= expected)) wrong = wrong + 1
  end subroutine check

end program fortran_calls
