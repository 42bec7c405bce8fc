#include "cli/espalier_mpi/run/buffer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <new>

#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

// The kernel overcommits memory and kills processes later, so the need is compared with the
// physical memory first.
void check_memory(MPI_Comm comm, std::uint64_t bytes, const std::string& option,
                  std::uint64_t copies) {
  const std::size_t ranks =
      runtime::ranks_on_host_of(runtime::rank_in(comm), runtime::hosts_of_ranks(comm));
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  runtime::collective_try(comm, [&] {
    if (static_cast<double>(bytes) * static_cast<double>(copies) * static_cast<double>(ranks) >
        memory) {
      throw InputError(fmt::format("{} {}: {} ranks on one host with {} of memory", option,
                                   format_size({bytes}), ranks,
                                   format_size({static_cast<std::uint64_t>(memory)})));
    }
  });
}

}  // namespace

std::unique_ptr<std::byte[]> allocate_message(MPI_Comm comm, std::uint64_t bytes,
                                              const std::string& option, std::uint64_t copies,
                                              std::uint64_t spare) {
  check_memory(comm, bytes, option, copies);
  std::unique_ptr<std::byte[]> buffer;
  runtime::collective_try_by_rank(comm, [&] {
    try {
      buffer = std::make_unique_for_overwrite<std::byte[]>(copies * bytes + spare);
    } catch (const std::bad_alloc&) {
      throw InputError(fmt::format("not enough memory for a message of {}", format_size({bytes})));
    }
  });
  return buffer;
}

}  // namespace espalier::cli
