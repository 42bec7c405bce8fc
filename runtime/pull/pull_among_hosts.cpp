#include "runtime/pull/pull_among_hosts.hpp"

#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "engine/pull/traffic.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

// Collective: the ranks of the same color; unset for MPI_UNDEFINED.
std::optional<OwnedComm> part_of(MPI_Comm comm, int color, Timeout timeout) {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, color, rank_in(comm), &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  OwnedComm owned(part, timeout);
  check(MPI_Comm_free(&part), "MPI_Comm_free");
  return owned;
}

}  // namespace

std::vector<std::size_t> numbered_hosts(std::span<const int> host_of_rank, std::size_t ranks) {
  std::vector<std::size_t> host_of(ranks);
  std::map<int, std::size_t> number_of;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int host = host_of_rank.empty() ? static_cast<int>(rank) : host_of_rank[rank];
    host_of[rank] = number_of.try_emplace(host, number_of.size()).first->second;
  }
  return host_of;
}

PullAmongHosts::PullAmongHosts(MPI_Comm comm, std::span<const int> host_of_rank,
                               const PullOptions& options)
    : rank_(rank_in(comm)),
      timeout_(options.timeout),
      host_of_(numbered_hosts(host_of_rank, static_cast<std::size_t>(size_of(comm)))),
      within_(
          *part_of(comm, static_cast<int>(host_of_[static_cast<std::size_t>(rank_)]), timeout_)) {
  std::vector<int> ranks_of(host_of_.size(), 0);
  for (const std::size_t host : host_of_) place_.push_back(ranks_of[host]++);
  const bool pulls = within_.rank() == 0;
  const auto leaders = part_of(comm, pulls ? 0 : MPI_UNDEFINED, timeout_);
  if (leaders) among_.emplace(leaders->get(), options);
}

template <class Act>
void PullAmongHosts::on_leader(const Act& act) {
  std::exception_ptr fault;
  if (among_) {
    try {
      act();
    } catch (...) {
      fault = std::current_exception();
    }
  }
  const auto is_right = std::make_shared<int>(fault ? 0 : 1);
  if (within_.size() > 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(is_right.get(), 1, MPI_INT, 0, within_.get(), &request), "MPI_Ibcast");
    timeout_.wait(request, "waiting for the rank that pulls for this host", is_right);
  }
  if (fault) std::rethrow_exception(fault);
  if (*is_right == 0) throw InputError("the rank that pulls for this host could not");
}

void PullAmongHosts::run(void* buffer, std::size_t count, MPI_Datatype type, int source) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()) && within_.size() > 1) {
    throw InputError("a message among ranks that share a host has at most 2^31 - 1 elements");
  }
  const auto hand_on = [&](int from) {
    check(MPI_Bcast(buffer, static_cast<int>(count), type, from, within_.get()), "MPI_Bcast");
  };
  const auto root = static_cast<std::size_t>(source);
  const std::size_t host = host_of_[root];
  const bool is_sources = host_of_[static_cast<std::size_t>(rank_)] == host;
  if (is_sources && within_.size() > 1) hand_on(place_[root]);
  on_leader([&] { among_->run(buffer, count, type, static_cast<int>(host)); });
  if (!is_sources && within_.size() > 1) hand_on(0);
}

std::vector<engine::pull::Traffic> PullAmongHosts::gather_traffic() {
  std::vector<engine::pull::Traffic> traffic;
  on_leader([&] { traffic = among_->gather_traffic(); });
  return traffic;
}

}  // namespace espalier::runtime
