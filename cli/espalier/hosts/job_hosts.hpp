// Which hosts `espalier run` is for, and how one logs in to them.
#pragma once

#include <string>
#include <vector>

#include "runtime/tcp/host_list.hpp"

namespace espalier::cli {

struct JobHosts {
  std::vector<runtime::tcp::HostEntry> hosts{};
  std::string launch{};  // what starts a command on {host}
};

// given: a file (runtime/tcp/host_list.hpp), or names separated by commas, where node[01-04] stands
// for four; empty: the hosts of the job in which this program runs, by SLURM_JOB_NODELIST or
// PBS_NODEFILE. launch: empty for srun in a job of Slurm whose hosts were not given, otherwise ssh.
// Throws InputError, also if there are none.
JobHosts hosts_of_job(const std::string& given, const std::string& launch);

}  // namespace espalier::cli
