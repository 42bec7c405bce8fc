#include "runtime/preload/trials.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "runtime/preload/size_classes.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::preload {

Trials::Size& Trials::of(std::uint64_t bytes) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return sizes_.try_emplace(size_class(bytes), Size{0, kNone, kNone, false}).first->second;
}

Way Trials::next(std::uint64_t bytes) {
  if (each_ == 0) return Way::kPlan;
  const Size& size = of(bytes);
  if (!size.is_agreed) return size.calls % 2 == 0 ? Way::kMpi : Way::kPlan;
  constexpr double kClearly = 0.95;  // what is nearly as fast in a few runs may be slower in others
  return size.plan_s <= kClearly * size.mpi_s ? Way::kPlan : Way::kMpi;
}

void Trials::note(std::uint64_t bytes, double seconds, const runtime::OwnedComm& comm,
                  runtime::Timeout timeout) {
  if (each_ == 0) return;
  Size& size = of(bytes);
  if (size.is_agreed) return;
  // The first call of each way makes connections and maps memory.
  if (size.calls >= 2) {
    double& fastest = size.calls % 2 == 0 ? size.mpi_s : size.plan_s;
    fastest = std::min(fastest, seconds / static_cast<double>(bytes));
  }
  if (++size.calls < 2 + 2 * each_) return;
  struct Times {
    std::array<double, 2> here;
    std::array<double, 2> slowest;
  };
  const auto times = std::make_shared<Times>(Times{{size.mpi_s, size.plan_s}, {}});
  MPI_Request request = MPI_REQUEST_NULL;
  runtime::check(PMPI_Iallreduce(times->here.data(), times->slowest.data(), 2, MPI_DOUBLE, MPI_MAX,
                                 comm.get(), &request),
                 "MPI_Iallreduce");
  timeout.wait(request, "comparing the plan with MPI's own algorithm", times);
  size.mpi_s = times->slowest[0];
  size.plan_s = times->slowest[1];
  size.is_agreed = true;
}

std::optional<double> Trials::saved_s(std::uint64_t bytes) const {
  const auto known = sizes_.find(size_class(bytes));
  if (known == sizes_.end() || !known->second.is_agreed) return std::nullopt;
  return (known->second.mpi_s - known->second.plan_s) * static_cast<double>(bytes);
}

}  // namespace espalier::preload
