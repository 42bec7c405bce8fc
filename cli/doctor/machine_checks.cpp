// Checks of the machines: memory and disks, limits, clocks, processors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/doctor/checks.hpp"
#include "support/quantities.hpp"

namespace espalier::cli::doctor {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

std::string size_text(double bytes) {
  return format_size({static_cast<std::uint64_t>(bytes)});
}

std::optional<Finding> shm_full(const Facts& facts, const RankFacts& rank) {
  constexpr double kPerRank =
      8 * kMiB;  // Open MPI's vader maps 4 MiB a rank, and Espalier its rings
  const double needed =
      kPerRank * static_cast<double>(std::max<std::size_t>(2, ranks_on(facts, rank.host)));
  if (rank.shm_free_bytes >= needed) return std::nullopt;
  return Finding{
      fmt::format("/dev/shm on {} has {} left", rank.host, size_text(rank.shm_free_bytes)),
      "ranks of a host exchange data there; they die of a bus error when it is full",
      rank.shm_bytes < 2 * needed
          ? std::string(
                "mount -o remount,size=1G /dev/shm; in a container: docker run --shm-size=1g")
          : std::string("remove what dead jobs left: ls -l /dev/shm")};
}

std::optional<Finding> scratch_unwritable(const Facts&, const RankFacts& rank) {
  if (rank.scratch.is_writable || rank.scratch.path.empty()) return std::nullopt;
  return Finding{fmt::format("the temporary folder {} on {}: {}", rank.scratch.path, rank.host,
                             rank.scratch.fault),
                 "MPI keeps its session there and does not start", "export TMPDIR=/tmp"};
}

std::optional<Finding> scratch_full(const Facts&, const RankFacts& rank) {
  constexpr double kNeeded = 64 * kMiB;
  if (!rank.scratch.is_writable || rank.scratch.free_bytes >= kNeeded) return std::nullopt;
  return Finding{fmt::format("{} on {} has {} left", rank.scratch.path, rank.host,
                             size_text(rank.scratch.free_bytes)),
                 "MPI's session and shared memory do not fit, with errors that do not say so",
                 fmt::format("export TMPDIR=FOLDER, or make space: du -xh {} | sort -h | tail",
                             rank.scratch.path)};
}

std::optional<Finding> scratch_long(const Facts&, const RankFacts& rank) {
  constexpr std::size_t kMost =
      60;  // a socket's path has at most 107 bytes; Open MPI adds 40 or so
  if (rank.scratch.path.size() <= kMost) return std::nullopt;
  return Finding{fmt::format("TMPDIR is {} bytes long", rank.scratch.path.size()),
                 "paths of MPI's sockets in it are longer than the system's limit of 107 bytes",
                 "export TMPDIR=/tmp"};
}

std::optional<Finding> out_unwritable(const Facts& facts) {
  if (!facts.out || facts.out->is_writable) return std::nullopt;
  return Finding{fmt::format("the folder {} of --out: {}", facts.out->path, facts.out->fault),
                 "the run ends with an error after the data has been sent",
                 fmt::format("mkdir -p {0} && chmod u+w {0}", facts.out->path)};
}

std::optional<Finding> out_full(const Facts& facts) {
  if (!facts.out || !facts.out->is_writable) return std::nullopt;
  const double needed = std::max(facts.message_bytes, kMiB);
  if (facts.out->free_bytes >= needed) return std::nullopt;
  return Finding{fmt::format("{} has {} left, for a file of {}", facts.out->path,
                             size_text(facts.out->free_bytes), size_text(needed)),
                 "the run ends with an error, and leaves no file",
                 "choose --out on another disk: df -h"};
}

std::optional<Finding> cache_unwritable(const Facts& facts) {
  const RankFacts& rank = facts.ranks.front();
  if (rank.cache.is_writable) return std::nullopt;
  const std::string place = rank.cache.path.empty()
                                ? "neither HOME nor XDG_CACHE_HOME names a folder"
                                : fmt::format("{}: {}", rank.cache.path, rank.cache.fault);
  return Finding{place, "what a broadcast learns of the network is lost when it ends",
                 "espalier-mpi bcast --cache FOLDER, or export XDG_CACHE_HOME=FOLDER"};
}

std::optional<Finding> clocks_apart(const Facts& facts) {
  constexpr double kNoticeable_s = 0.1;
  const auto worst = std::ranges::max_element(
      facts.ranks, {}, [](const RankFacts& rank) { return std::abs(rank.clock_ahead_s); });
  if (std::abs(worst->clock_ahead_s) < kNoticeable_s) return std::nullopt;
  return Finding{
      fmt::format("the clock of {} is {} {} that of {}", worst->host,
                  format_duration({std::abs(worst->clock_ahead_s)}),
                  worst->clock_ahead_s > 0 ? "ahead of" : "behind", facts.ranks.front().host),
      "dates of files disagree, so a resumed copy may take an old file for a new one, and "
      "traces of other programs do not line up",
      "timedatectl set-ntp true, on both"};
}

std::optional<Finding> memlock(const Facts&, const RankFacts& rank) {
  if (!rank.has_infiniband || rank.memlock_bytes >= 1024 * kMiB) return std::nullopt;
  return Finding{fmt::format("{} has InfiniBand, and may lock {} of memory", rank.host,
                             size_text(rank.memlock_bytes)),
                 "MPI cannot register its buffers and falls back to TCP, or ends",
                 "ulimit -l unlimited; for all users: '* - memlock unlimited' in "
                 "/etc/security/limits.conf"};
}

std::optional<Finding> open_files(const Facts& facts, const RankFacts& rank) {
  const double needed = std::max(256.0, 64 + 2 * static_cast<double>(facts.ranks.size()));
  if (rank.open_files >= needed) return std::nullopt;
  return Finding{fmt::format("a process on {} may open {:.0f} files", rank.host, rank.open_files),
                 "a rank needs a socket for every other rank",
                 fmt::format("ulimit -n {:.0f}", std::max(4096.0, needed))};
}

std::optional<Finding> governor(const Facts&, const RankFacts& rank) {
  if (rank.governor != "powersave" && rank.governor != "conservative") return std::nullopt;
  return Finding{fmt::format("cores of {} run by the governor '{}'", rank.host, rank.governor),
                 "cores that wait for messages slow down, and times vary from run to run",
                 "cpupower frequency-set -g performance"};
}

std::optional<Finding> container_cores(const Facts&, const RankFacts& rank) {
  const auto cores = static_cast<double>(rank.cores.size());
  if (rank.container_cores >= cores - 0.01) return std::nullopt;
  return Finding{
      fmt::format("the container on {} may use {:.3g} of the {:.0f} cores that it sees", rank.host,
                  rank.container_cores, cores),
      "as many ranks as cores are stopped for a part of every 100 ms",
      fmt::format("start at most {:.0f} ranks there, or raise the limit: docker run --cpus={:.0f}",
                  std::max(1.0, std::floor(rank.container_cores)), cores)};
}

std::optional<Finding> no_single_copies(const Facts& facts, const RankFacts& rank) {
  if (rank.ptrace_scope == 0 || rank.is_root || ranks_on(facts, rank.host) < 2) return std::nullopt;
  if (!rank.variable("OMPI_MCA_btl_vader_single_copy_mechanism").empty()) return std::nullopt;
  return Finding{fmt::format("kernel.yama.ptrace_scope is {} on {}", rank.ptrace_scope, rank.host),
                 "ranks of a host may not read each other's memory, so MPI copies twice, or ends",
                 "sysctl kernel.yama.ptrace_scope=0, or export "
                 "OMPI_MCA_btl_vader_single_copy_mechanism=none"};
}

constexpr std::array kMachineChecks{
    Check{"shm-full", "too little space in /dev/shm", of_any_rank<shm_full>},
    Check{"scratch-unwritable", "a temporary folder that cannot be written",
          of_any_rank<scratch_unwritable>},
    Check{"scratch-full", "too little space in the temporary folder", of_any_rank<scratch_full>},
    Check{"scratch-long", "a temporary folder with too long a name", of_any_rank<scratch_long>},
    Check{"out-unwritable", "a folder of --out that cannot be written", out_unwritable},
    Check{"out-full", "too little space for --out", out_full},
    Check{"cache-unwritable", "a cache that cannot be written", cache_unwritable},
    Check{"clocks-apart", "clocks that disagree", clocks_apart},
    Check{"memlock", "a limit of locked memory, with InfiniBand", of_any_rank<memlock>},
    Check{"open-files", "a limit of open files", of_any_rank<open_files>},
    Check{"governor", "cores that save power", of_any_rank<governor>},
    Check{"container-cores", "a container that may use fewer cores than it sees",
          of_any_rank<container_cores>},
    Check{"no-single-copies", "ranks that may not read each other's memory",
          of_any_rank<no_single_copies>}};

}  // namespace

std::size_t ranks_on(const Facts& facts, const std::string& host) {
  return static_cast<std::size_t>(std::ranges::count(facts.ranks, host, &RankFacts::host));
}

std::span<const Check> machine_checks() {
  return kMachineChecks;
}

}  // namespace espalier::cli::doctor
