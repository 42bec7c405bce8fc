#include "runtime/pull/pull_among_hosts.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "engine/pull/traffic.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/pull/pull_run.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

// As long as it takes: it is the rank that pulls that sees whether there is progress. Without
// keeping a processor from it.
void wait_asleep(MPI_Request& request) {
  const double begin_s = MPI_Wtime();
  for (int done = 0; done == 0;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) sleep_after(Seconds{MPI_Wtime() - begin_s});
  }
}

void* element_at(void* buffer, std::size_t index, const ElementShape& shape) {
  return moved(buffer, static_cast<MPI_Aint>(index) * shape.extent);
}

// On a rank whose leader has failed like this.
void throw_as_leader(ExitStatus status) {
  const std::string line = "the rank that pulls for this host has failed";
  if (status == ExitStatus::kDone) return;
  if (status == ExitStatus::kBadInput) throw InputError(line);
  if (status == ExitStatus::kLimitReached) throw TimedOut(line);
  throw MpiError(MPI_ERR_OTHER, line);
}

}  // namespace

PullAmongHosts::PullAmongHosts(MPI_Comm comm, std::span<const int> host_of_rank,
                               const PullOptions& options)
    : rank_(rank_in(comm)),
      segment_bytes_(options.segment_bytes),
      timeout_(options.timeout),
      host_of_(numbered_hosts(host_of_rank, static_cast<std::size_t>(size_of(comm)))),
      within_(*ranks_of_color(comm, static_cast<int>(host_of_[static_cast<std::size_t>(rank_)]),
                              timeout_)) {
  std::vector<int> ranks_of(host_of_.size(), 0);
  PullOptions among = options;
  for (std::size_t rank = 0; rank < host_of_.size(); ++rank) {
    place_.push_back(ranks_of[host_of_[rank]]++);
    if (place_.back() == 0) among.shown_ranks.push_back(static_cast<int>(rank));
  }
  const bool pulls = within_.rank() == 0;
  const auto leaders = ranks_of_color(comm, pulls ? 0 : MPI_UNDEFINED, timeout_);
  if (leaders) among_.emplace(leaders->get(), among);
}

template <class Act>
void PullAmongHosts::on_leader(const Act& act) {
  std::exception_ptr fault;
  const auto status = std::make_shared<int>(static_cast<int>(ExitStatus::kDone));
  if (among_) {
    try {
      act();
    } catch (const Error& error) {
      fault = std::current_exception();
      *status = static_cast<int>(error.status());
    } catch (...) {
      fault = std::current_exception();
      *status = static_cast<int>(ExitStatus::kInternalFault);
    }
  }
  if (within_.size() > 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(status.get(), 1, MPI_INT, 0, within_.get(), &request), "MPI_Ibcast");
    if (among_) {
      timeout_.wait(request, "waiting for the ranks of this host", status);
    } else {
      wait_asleep(request);
    }
  }
  if (fault) std::rethrow_exception(fault);
  throw_as_leader(static_cast<ExitStatus>(*status));
}

void PullAmongHosts::broadcast(void* buffer, std::size_t count, MPI_Datatype type, int source) {
  const auto hand_on = [&](int from) {
    broadcast_by_library(within_.get(), buffer, count, type, from);
  };
  const auto root = static_cast<std::size_t>(source);
  const bool is_sources = is_here(root);
  if (is_sources && within_.size() > 1) hand_on(place_[root]);
  on_leader([&] { among_->broadcast(buffer, count, type, static_cast<int>(host_of_[root])); });
  if (!is_sources && within_.size() > 1) hand_on(0);
}

void PullAmongHosts::allgather(const void* sendbuf, void* recvbuf,
                               std::span<const std::size_t> counts,
                               std::span<const std::size_t> first, MPI_Datatype type) {
  const PlacedParts placed({counts, first});
  const Parts parts = placed.parts();
  // Otherwise all hosts hear of it by the pull.
  const bool is_sound = type != MPI_DATATYPE_NULL &&
                        parts_fault(parts, host_of_.size(), element_shape_of(type)).empty();
  if (is_sound) share_parts_of_host(sendbuf, recvbuf, parts, type);
  on_leader(
      [&] { among_->allgather(MPI_IN_PLACE, recvbuf, parts.counts, parts.first, type, host_of_); });
  if (is_sound) hand_on_parts_of_others(recvbuf, parts, type);
}

void PullAmongHosts::share_parts_of_host(const void* sendbuf, void* recvbuf, const Parts& parts,
                                         MPI_Datatype type) {
  const ElementShape shape = element_shape_of(type);
  if (sendbuf != MPI_IN_PLACE) {
    const auto own = static_cast<std::size_t>(rank_);
    const Parts mine{parts.counts.subspan(own, 1), parts.first.subspan(own, 1)};
    PartsInMemory(within_.get(), recvbuf, mine, type, shape).take(0, const_cast<void*>(sendbuf));
  }
  if (within_.size() == 1) return;
  for (std::size_t part = 0; part < host_of_.size(); ++part) {
    if (!is_here(part)) continue;
    broadcast_by_library(within_.get(), element_at(recvbuf, parts.first[part], shape),
                         parts.counts[part], type, place_[part]);
  }
}

// Parts that follow one another in memory go together.
void PullAmongHosts::hand_on_parts_of_others(void* recvbuf, const Parts& parts, MPI_Datatype type) {
  if (within_.size() == 1) return;
  const ElementShape shape = element_shape_of(type);
  std::size_t begin = 0;
  std::size_t end = 0;  // of those that are to be handed on
  const auto hand_on = [&] {
    if (begin == end) return;
    broadcast_by_library(within_.get(), element_at(recvbuf, begin, shape), end - begin, type, 0);
  };
  for (std::size_t part = 0; part < host_of_.size(); ++part) {
    if (is_here(part)) continue;
    if (parts.first[part] != end) {
      hand_on();
      begin = parts.first[part];
    }
    end = parts.first[part] + parts.counts[part];
  }
  hand_on();
}

std::uint64_t PullAmongHosts::segment_bytes(std::uint64_t message_bytes) const {
  return pulled_segment(message_bytes, segment_bytes_);
}

std::vector<engine::pull::Traffic> PullAmongHosts::gather_traffic() {
  std::vector<engine::pull::Traffic> traffic;
  on_leader([&] { traffic = among_->gather_traffic(); });
  return traffic;
}

}  // namespace espalier::runtime
