// Checks of the MPI: its library and launcher, where ranks run, the preloaded library.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/doctor/checks.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli::doctor {

namespace {

std::map<std::string, std::vector<const RankFacts*>> by_host(const Facts& facts) {
  std::map<std::string, std::vector<const RankFacts*>> hosts;
  for (const RankFacts& rank : facts.ranks) hosts[rank.host].push_back(&rank);
  return hosts;
}

std::optional<Finding> two_mpis(const Facts& facts) {
  for (const LauncherFacts& other : facts.launchers) {
    const LauncherFacts& first = facts.launchers.front();
    if (other.mpi.empty() || first.mpi.empty() || other.mpi == first.mpi) continue;
    return Finding{
        fmt::format("{} is {}, and {} is {}", first.file, first.mpi, other.file, other.mpi),
        "a program of one MPI that the other starts hangs, or each rank is alone",
        fmt::format("name one launcher in full, {}, or take the other's folder out of PATH",
                    first.file)};
  }
  return std::nullopt;
}

std::optional<Finding> other_launcher(const Facts& facts) {
  const std::string& library = facts.ranks.front().mpi;
  if (library.empty() || facts.launchers.empty()) return std::nullopt;
  const LauncherFacts& first = facts.launchers.front();
  if (first.mpi.empty() || first.mpi == library) return std::nullopt;
  const auto fitting = std::ranges::find(facts.launchers, library, &LauncherFacts::mpi);
  return Finding{
      fmt::format("this program's library is {}, but {} is {}", library, first.file, first.mpi),
      "ranks that the wrong launcher starts do not find each other",
      fitting != facts.launchers.end()
          ? fmt::format("start with {}", fitting->file)
          : fmt::format("start with the mpirun of {}, or build Espalier with {}", library,
                        first.mpi)};
}

// Each started process believes that it is the only rank.
std::optional<Finding> ranks_alone(const Facts& facts) {
  if (!facts.has_ranks || facts.ranks.size() != 1) return std::nullopt;
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    const std::string size = facts.ranks.front().variable(variable);
    if (size.empty() || size == "1") continue;
    return Finding{
        fmt::format("the launcher started {} processes ({}), but MPI has one rank", size, variable),
        "the launcher is of another MPI than the program's library, or srun lacks its "
        "plugin, so that every process runs alone",
        facts.ranks.front().mpi.empty()
            ? "start with the mpirun of the program's MPI"
            : fmt::format("start with the mpirun of {}; under Slurm: srun --mpi=pmix",
                          facts.ranks.front().mpi)};
  }
  return std::nullopt;
}

std::optional<Finding> mixed_libraries(const Facts& facts) {
  const RankFacts& first = facts.ranks.front();
  const auto other = std::ranges::find_if(
      facts.ranks, [&](const RankFacts& rank) { return rank.mpi != first.mpi; });
  if (other == facts.ranks.end()) return std::nullopt;
  return Finding{
      fmt::format("{} runs {}, and {} runs {}", first.host, first.mpi, other->host, other->mpi),
      "different versions of MPI need not understand each other",
      fmt::format("install {} on {}, or give its folder to all ranks: mpirun --prefix DIR",
                  first.mpi, other->host)};
}

std::optional<Finding> as_root(const Facts& facts) {
  const RankFacts& rank = facts.ranks.front();
  if (facts.has_ranks || !rank.is_root || !is_open_mpi(facts)) return std::nullopt;
  if (!rank.variable("OMPI_ALLOW_RUN_AS_ROOT").empty() &&
      !rank.variable("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM").empty()) {
    return std::nullopt;
  }
  return Finding{
      "you are root, and Open MPI's mpirun refuses root", "mpirun ends before any rank begins",
      "run as a user, or: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
}

std::optional<Finding> oversubscribed(const Facts& facts) {
  if (!facts.has_ranks || !is_open_mpi(facts)) return std::nullopt;
  for (const auto& [host, ranks] : by_host(facts)) {
    const auto count = static_cast<double>(ranks.size());
    const double cores = ranks.front()->machine_cores;
    const std::string yields = ranks.front()->variable("OMPI_MCA_mpi_yield_when_idle");
    if (cores <= 0 || count <= cores || (!yields.empty() && yields != "0" && yields != "false"))
      continue;
    return Finding{fmt::format("{} on {}, which has {}", counted(ranks.size(), "rank"), host,
                               counted(static_cast<std::uint64_t>(cores), "core")),
                   "a rank that waits keeps its core busy, and those that have work do not get it",
                   "mpirun --mca mpi_yield_when_idle 1 ..., or fewer ranks a host"};
  }
  return std::nullopt;
}

std::optional<Finding> shared_core(const Facts& facts) {
  if (!facts.has_ranks) return std::nullopt;
  for (const auto& [host, ranks] : by_host(facts)) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto& cores = ranks[i]->cores;
      if (cores.size() != 1 || ranks[i]->machine_cores < 2) continue;
      for (std::size_t j = 0; j < i; ++j) {
        if (ranks[j]->cores != cores) continue;
        return Finding{fmt::format("two ranks on {} are bound to core {}", host, cores.front()),
                       "they take turns, while other cores are idle",
                       "mpirun --bind-to none ..., or --bind-to core with one mpirun a host"};
      }
    }
  }
  return std::nullopt;
}

bool is_ours(const PreloadFacts& preload) {
  return preload.file.find("espalier_pmpi") != std::string::npos;
}

std::optional<Finding> preload_missing(const Facts&, const RankFacts& rank) {
  for (const PreloadFacts& preload : rank.preloads) {
    if (!is_ours(preload) || preload.exists) continue;
    return Finding{
        fmt::format("LD_PRELOAD names {}, which is not on {}", preload.file, rank.host),
        "the program runs, but none of its calls is taken over",
        "mpirun -x LD_PRELOAD=/usr/lib/.../libespalier_pmpi.so ..., a path that all hosts have"};
  }
  return std::nullopt;
}

std::optional<Finding> preload_of_other_mpi(const Facts&, const RankFacts& rank) {
  for (const PreloadFacts& preload : rank.preloads) {
    if (!is_ours(preload) || preload.mpi.empty() || rank.mpi_so.empty()) continue;
    if (preload.mpi == rank.mpi_so) continue;
    return Finding{fmt::format("{} needs {}, but the program's MPI is {}", preload.file,
                               preload.mpi, rank.mpi_so),
                   "two MPIs in one process crash, or no call is taken over",
                   "build Espalier with the program's MPI: cmake -DMPI_CXX_COMPILER=.../mpicxx"};
  }
  return std::nullopt;
}

std::optional<Finding> preload_idle(const Facts&, const RankFacts& rank) {
  if (std::ranges::any_of(rank.preloads, is_ours)) return std::nullopt;
  for (const char* const name : {"ESPALIER_PLAN", "ESPALIER_PLATFORM", "ESPALIER_GROUPS",
                                 "ESPALIER_DECISIONS", "ESPALIER_REPORT"}) {
    if (rank.variable(name).empty()) continue;
    return Finding{fmt::format("{} is set, but LD_PRELOAD does not name libespalier_pmpi.so", name),
                   "programs run as without Espalier",
                   "mpirun -x LD_PRELOAD=/usr/lib/.../libespalier_pmpi.so ..."};
  }
  return std::nullopt;
}

std::optional<Finding> preload_without_a_plan(const Facts& facts) {
  const RankFacts& rank = facts.ranks.front();
  if (std::ranges::none_of(rank.preloads, is_ours)) return std::nullopt;
  for (const char* const name :
       {"ESPALIER_PLAN", "ESPALIER_PLATFORM", "ESPALIER_GROUPS", "ESPALIER_DECISIONS"}) {
    if (!rank.variable(name).empty()) return std::nullopt;
  }
  return Finding{"libespalier_pmpi.so is preloaded, but has no plan", "it leaves every call to MPI",
                 "export ESPALIER_PLATFORM=platform.json, or ESPALIER_PLAN=plan.json"};
}

std::optional<Finding> settings_file_missing(const Facts& facts) {
  const RankFacts& rank = facts.ranks.front();  // which reads them
  if (rank.missing_files.empty()) return std::nullopt;
  return Finding{fmt::format("{} is not on {}", rank.missing_files.front(), rank.host),
                 "the preloaded library refuses to start", "give a path that this host has"};
}

constexpr std::array kMpiChecks{
    Check{"two-mpis", "launchers of several MPIs in PATH", two_mpis},
    Check{"other-launcher", "a launcher of another MPI than the program's", other_launcher},
    Check{"ranks-alone", "processes that do not find each other", ranks_alone},
    Check{"mixed-libraries", "hosts with different versions of MPI", mixed_libraries},
    Check{"as-root", "root, whom mpirun refuses", as_root},
    Check{"oversubscribed", "more ranks than cores, which do not yield", oversubscribed},
    Check{"shared-core", "ranks that are bound to one core", shared_core},
    Check{"preload-missing", "a preloaded library that is not there", of_any_rank<preload_missing>},
    Check{"preload-other-mpi", "a preloaded library for another MPI",
          of_any_rank<preload_of_other_mpi>},
    Check{"preload-idle", "settings for a library that is not preloaded",
          of_any_rank<preload_idle>},
    Check{"preload-no-plan", "a preloaded library without a plan", preload_without_a_plan},
    Check{"settings-file", "files of settings that are not there", settings_file_missing}};

}  // namespace

bool is_open_mpi(const Facts& facts) {
  // "Open MPI" of "Open MPI 4.1.4".
  const auto family_of = [](const std::string& mpi) { return mpi.substr(0, mpi.rfind(' ')); };
  const std::string& mpi = facts.ranks.front().mpi;
  if (!mpi.empty()) return family_of(mpi) == "Open MPI";
  return !facts.launchers.empty() && family_of(facts.launchers.front().mpi) == "Open MPI";
}

std::span<const Check> mpi_checks() {
  return kMpiChecks;
}

}  // namespace espalier::cli::doctor
