#include "runtime/topology/alltoall_by_leaders.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/api/parts.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

std::size_t sum_of(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

// For MPI: how many bytes each part has, and where they begin when they follow one another.
struct IntParts {
  explicit IntParts(std::span<const std::size_t> bytes) : counts(bytes.begin(), bytes.end()) {
    const std::vector<std::size_t> begins = one_after_another(bytes);
    first.assign(begins.begin(), begins.end());
  }
  std::vector<int> counts;
  std::vector<int> first;
};

// Copies part after part from one memory to the end of another.
void append(std::vector<std::byte>& to, const std::byte* from, std::size_t bytes) {
  to.insert(to.end(), from, from + bytes);
}

std::vector<std::byte> joined(std::span<const std::vector<std::byte>> parts) {
  std::vector<std::byte> all;
  for (const auto& part : parts) append(all, part.data(), part.size());
  return all;
}

// Where the parts begin.
std::vector<std::size_t> begins_of(const auto& parts) {
  if (parts.first.empty()) return one_after_another(parts.counts);
  return {parts.first.begin(), parts.first.end()};
}

}  // namespace

AlltoallByLeaders::AlltoallByLeaders(MPI_Comm comm, std::span<const int> host_of_rank,
                                     Timeout timeout)
    : AlltoallByLeaders(comm, numbered_hosts(host_of_rank, static_cast<std::size_t>(size_of(comm))),
                        timeout) {}

AlltoallByLeaders::AlltoallByLeaders(MPI_Comm comm, const std::vector<std::size_t>& host_of,
                                     Timeout timeout)
    : order_(host_of.size()),
      host_(host_of[static_cast<std::size_t>(rank_in(comm))]),
      within_(*ranks_of_color(comm, static_cast<int>(host_), timeout)),
      among_(ranks_of_color(comm, within_.rank() == 0 ? 0 : MPI_UNDEFINED, timeout)) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t rank) { return host_of[rank]; });
  members_.resize(std::ranges::max(host_of) + 1);
  for (const std::size_t host : host_of) ++members_[host];
}

void AlltoallByLeaders::run(Way way, const PartsOf<const std::byte>& sent,
                            const PartsOf<std::byte>& received) const {
  if (way == Way::kOneAlltoallv) {
    run_at_once(sent, received);
  } else {
    run_rank_by_rank(sent, received);
  }
}

AlltoallByLeaders::Table AlltoallByLeaders::gather_counts(
    std::span<const std::size_t> counts) const {
  std::vector<std::uint64_t> own;
  for (const std::size_t rank : order_) own.push_back(counts[rank]);
  std::vector<std::uint64_t> all(leads() ? within_.size() * ranks() : 0);
  const int each = static_cast<int>(ranks());
  check(
      MPI_Gather(own.data(), each, MPI_UINT64_T, all.data(), each, MPI_UINT64_T, 0, within_.get()),
      "MPI_Gather");
  Table table;
  for (std::size_t i = 0; i < all.size(); i += ranks()) {
    table.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                       all.begin() + static_cast<std::ptrdiff_t>(i + ranks()));
  }
  return table;
}

std::vector<std::byte> AlltoallByLeaders::in_order(const PartsOf<const std::byte>& parts) const {
  const std::vector<std::size_t> first = begins_of(parts);
  std::vector<std::byte> packed;
  packed.reserve(sum_of(parts.counts));
  for (const std::size_t rank : order_) {
    append(packed, parts.address + first[rank], parts.counts[rank]);
  }
  return packed;
}

void AlltoallByLeaders::store(std::span<const std::byte> parts_in_order,
                              const PartsOf<std::byte>& received) const {
  const std::vector<std::size_t> first = begins_of(received);
  const std::byte* from = parts_in_order.data();
  for (const std::size_t rank : order_) {
    std::copy_n(from, received.counts[rank], received.address + first[rank]);
    from += received.counts[rank];
  }
}

std::vector<std::byte> AlltoallByLeaders::gathered(std::span<const std::byte> own,
                                                   const Table& sent) const {
  std::vector<std::size_t> bytes;
  for (const auto& of_member : sent) bytes.push_back(sum_of(of_member));
  const IntParts parts(bytes);
  std::vector<std::byte> all(sum_of(bytes));
  check(MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(),
                    parts.counts.data(), parts.first.data(), MPI_BYTE, 0, within_.get()),
        "MPI_Gatherv");
  return all;
}

std::vector<std::byte> AlltoallByLeaders::exchanged(std::span<const std::byte> of_host,
                                                    const Table& sent,
                                                    const Table& received) const {
  std::vector<std::size_t> from_host(hosts());
  for (const auto& of_member : received) {
    const std::vector<std::size_t> sums = by_host(of_member);
    std::ranges::transform(from_host, sums, from_host.begin(), std::plus());
  }
  // From rank by rank of this host, in order_, to host by host, and rank by rank of this one: what
  // a rank sends to one host stays together.
  std::vector<std::vector<std::byte>> for_host(hosts());
  const std::byte* begin = of_host.data();
  for (const auto& of_member : sent) {
    const std::vector<std::size_t> sums = by_host(of_member);
    for (std::size_t host = 0; host < hosts(); ++host) {
      append(for_host[host], begin, sums[host]);
      begin += sums[host];
    }
  }
  std::vector<std::size_t> to_host;
  for (const auto& parts : for_host) to_host.push_back(parts.size());
  const std::vector<std::byte> out = joined(for_host);
  const IntParts to(to_host);
  const IntParts from(from_host);
  std::vector<std::byte> in(sum_of(from_host));
  check(MPI_Alltoallv(out.data(), to.counts.data(), to.first.data(), MPI_BYTE, in.data(),
                      from.counts.data(), from.first.data(), MPI_BYTE, among_->get()),
        "MPI_Alltoallv");
  // Now by rank, in order_, and rank of this host; it is needed by rank of this host first.
  std::vector<std::vector<std::byte>> of_member(received.size());
  const std::byte* part = in.data();
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    for (std::size_t member = 0; member < received.size(); ++member) {
      append(of_member[member], part, received[member][rank]);
      part += received[member][rank];
    }
  }
  return joined(of_member);
}

void AlltoallByLeaders::run_at_once(const PartsOf<const std::byte>& sent,
                                    const PartsOf<std::byte>& received) const {
  const Table sent_by = gather_counts(sent.counts);
  const Table received_by = gather_counts(received.counts);
  std::vector<std::byte> parts = gathered(in_order(sent), sent_by);
  if (leads()) parts = exchanged(parts, sent_by, received_by);
  std::vector<std::size_t> bytes;
  for (const auto& of_member : received_by) bytes.push_back(sum_of(of_member));
  const IntParts of_member(bytes);
  std::vector<std::byte> own(sum_of(received.counts));
  check(MPI_Scatterv(parts.data(), of_member.counts.data(), of_member.first.data(), MPI_BYTE,
                     own.data(), static_cast<int>(own.size()), MPI_BYTE, 0, within_.get()),
        "MPI_Scatterv");
  store(own, received);
}

void AlltoallByLeaders::run_rank_by_rank(const PartsOf<const std::byte>& sent,
                                         const PartsOf<std::byte>& received) const {
  const Table sent_by = gather_counts(sent.counts);
  const Table received_by = gather_counts(received.counts);
  const std::vector<std::byte> mine = in_order(sent);
  const std::byte* next = mine.data();
  std::size_t place = 0;  // of the receiver in order_
  for (std::size_t host = 0; host < hosts(); ++host) {
    for (std::size_t member = 0; member < members_[host]; ++member, ++place) {
      const std::size_t bytes = sent.counts[order_[place]];
      Table for_receiver;
      for (const auto& of_member : sent_by) for_receiver.push_back({of_member[place]});
      std::vector<std::byte> parts = gathered({next, bytes}, for_receiver);
      next += bytes;
      if (leads()) {
        std::vector<std::size_t> from_host;
        if (host == host_) from_host = by_host(received_by[member]);
        parts = gathered_from_hosts(parts, host, from_host);
      }
      if (host == host_) hand_to(member, parts, received);
    }
  }
}

std::vector<std::size_t> AlltoallByLeaders::by_host(std::span<const std::size_t> bytes) const {
  std::vector<std::size_t> sums;
  std::size_t first = 0;
  for (const std::size_t ranks_there : members_) {
    sums.push_back(sum_of(bytes.subspan(first, ranks_there)));
    first += ranks_there;
  }
  return sums;
}

std::vector<std::byte> AlltoallByLeaders::gathered_from_hosts(
    std::span<const std::byte> own, std::size_t host, std::span<const std::size_t> bytes) const {
  const IntParts parts(bytes);
  std::vector<std::byte> all(sum_of(bytes));
  check(MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(),
                    parts.counts.data(), parts.first.data(), MPI_BYTE, static_cast<int>(host),
                    among_->get()),
        "MPI_Gatherv");
  return all;
}

void AlltoallByLeaders::hand_to(std::size_t member, std::span<const std::byte> parts,
                                const PartsOf<std::byte>& received) const {
  constexpr int kTag = 0;
  const int to = static_cast<int>(member);
  if (within_.rank() == to && leads()) return store(parts, received);
  if (leads()) {
    check(MPI_Send(parts.data(), static_cast<int>(parts.size()), MPI_BYTE, to, kTag, within_.get()),
          "MPI_Send");
  } else if (within_.rank() == to) {
    std::vector<std::byte> own(sum_of(received.counts));
    check(MPI_Recv(own.data(), static_cast<int>(own.size()), MPI_BYTE, 0, kTag, within_.get(),
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    store(own, received);
  }
}

}  // namespace espalier::runtime
