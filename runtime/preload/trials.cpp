#include "runtime/preload/trials.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "runtime/preload/size_classes.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::preload {

Trials::Size& Trials::of(std::uint64_t bytes) {
  const auto known = sizes_.find(size_class(bytes));
  if (known != sizes_.end()) return known->second;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return sizes_.emplace(size_class(bytes), Size{0, std::vector<double>(ways_, kNone)})
      .first->second;
}

std::size_t Trials::next(std::uint64_t bytes) {
  if (each_ == 0) return ways_ - 1;
  const Size& size = of(bytes);
  return size.chosen.value_or(size.calls % ways_);
}

void Trials::note(std::uint64_t bytes, double seconds, const runtime::OwnedComm& comm,
                  runtime::Timeout timeout) {
  if (each_ == 0) return;
  Size& size = of(bytes);
  if (size.chosen) return;
  // The first call of each way makes connections and maps memory.
  if (size.calls >= ways_) {
    double& fastest = size.fastest_s[size.calls % ways_];
    fastest = std::min(fastest, seconds / static_cast<double>(bytes));
  }
  if (++size.calls < ways_ * (1 + each_)) return;
  struct Times {
    std::vector<double> here;
    std::vector<double> slowest;
  };
  const auto times = std::make_shared<Times>(Times{size.fastest_s, std::vector<double>(ways_)});
  MPI_Request request = MPI_REQUEST_NULL;
  runtime::check(PMPI_Iallreduce(times->here.data(), times->slowest.data(), static_cast<int>(ways_),
                                 MPI_DOUBLE, MPI_MAX, comm.get(), &request),
                 "MPI_Iallreduce");
  timeout.wait(request, "comparing the plan with MPI's own algorithm", times);
  size.fastest_s = times->slowest;
  constexpr double kClearly = 0.95;  // what is nearly as fast in a few runs may be slower in others
  std::vector<double> handicapped = size.fastest_s;
  handicapped[kMpi] *= kClearly;
  size.chosen =
      static_cast<std::size_t>(std::ranges::min_element(handicapped) - handicapped.begin());
}

std::optional<double> Trials::saved_s(std::uint64_t bytes, std::size_t way) const {
  const auto known = sizes_.find(size_class(bytes));
  if (known == sizes_.end() || !known->second.chosen) return std::nullopt;
  const std::vector<double>& fastest_s = known->second.fastest_s;
  return (fastest_s[kMpi] - fastest_s[way]) * static_cast<double>(bytes);
}

}  // namespace espalier::preload
