#include "cli/espalier/hosts/job_hosts.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "platforms/formats/slurm/slurm_topology.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/surroundings.hpp"

namespace espalier::cli {
namespace {

using Entries = std::vector<runtime::tcp::HostEntry>;

constexpr std::string_view kBySsh = "ssh -o BatchMode=yes -o ConnectTimeout=5 {host}";
constexpr std::string_view kBySrun = "srun --overlap -N1 -n1 -w {host}";

// place: for messages.
Entries named(const std::string& list, const std::string& place) {
  Entries entries;
  const auto names =
      at_place(place, std::string(), [&] { return platforms::Hostlists().expand(list); });
  for (const std::string& name : names) {
    entries.push_back(runtime::tcp::parse_hosts(name, place).front());
  }
  if (entries.empty()) throw InputError(place, {}, "names no host");
  return entries;
}

// A job's file names a host once for each of its slots.
Entries once_each(const Entries& entries) {
  Entries once;
  for (const auto& entry : entries) {
    if (std::ranges::find(once, entry) == once.end()) once.push_back(entry);
  }
  return once;
}

Entries read_hosts(const std::string& file) {
  return runtime::tcp::parse_hosts(read_text(file), file);
}

}  // namespace

JobHosts hosts_of_job(const std::string& given, const std::string& launch) {
  const std::string slurm = environment_variable("SLURM_JOB_NODELIST");
  const std::string pbs = environment_variable("PBS_NODEFILE");
  JobHosts job{{}, launch.empty() ? std::string(kBySsh) : launch};
  std::error_code ignored;
  if (std::filesystem::exists(given, ignored) || given.find('/') != std::string::npos) {
    job.hosts = read_hosts(given);
  } else if (!given.empty()) {
    job.hosts = named(given, "--hosts");
  } else if (!slurm.empty()) {
    job.hosts = named(slurm, "SLURM_JOB_NODELIST");
    if (launch.empty()) job.launch = kBySrun;
  } else if (!pbs.empty()) {
    job.hosts = once_each(read_hosts(pbs));
  } else {
    throw InputError(
        "--hosts is missing: a file, or names separated by commas; only in a job of Slurm or PBS "
        "its hosts are known");
  }
  return job;
}

}  // namespace espalier::cli
