// What `doctor` looks at. Gathering is apart (gather.hpp), so that each check (checks.hpp) is a
// function of these facts alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier::cli::doctor {

inline constexpr double kUnlimited = 1e300;  // of the limits below

// A folder in which files are written.
struct FolderFacts {
  std::string path{};        // empty: none is known
  double free_bytes = 0;     // of its file system
  bool is_writable = false;  // by this process; for a folder that is missing, its nearest parent
  std::string fault{};       // why not; empty: writable
};

// A library that the dynamic linker is asked to load first.
struct PreloadFacts {
  std::string file{};
  bool exists = false;
  std::string mpi{};  // the MPI library that it needs, "libmpi.so.40"; empty: none
};

// An IPv4 address of an interface that is up.
struct InterfaceFacts {
  std::string name{};     // "eth0"; once for each address
  std::string address{};  // "10.0.0.1"
  int prefix_bits = 0;    // of its subnet: 24
};

// One process: a rank, or `espalier doctor` itself.
struct RankFacts {
  std::string host{};
  bool is_root = false;
  std::vector<std::uint64_t> cores{};   // that it may run on, by number
  double machine_cores = 0;             // online
  double container_cores = kUnlimited;  // as many as the container's quota allows (cpu.max)
  std::string governor{};               // of the first core's frequency; empty: unknown
  double memlock_bytes = kUnlimited;    // limit of locked memory
  double open_files = kUnlimited;       // limit
  bool has_infiniband = false;
  std::uint64_t ptrace_scope = 0;      // of Yama: 0 lets ranks read each other's memory
  double shm_free_bytes = kUnlimited;  // of /dev/shm
  double shm_bytes = kUnlimited;
  FolderFacts scratch{};                             // TMPDIR, or /tmp
  FolderFacts cache{};                               // ~/.cache/espalier
  std::vector<InterfaceFacts> interfaces{};          // without loopback
  std::map<std::string, std::string> environment{};  // variables of Espalier, MPI and launchers
  std::vector<std::string> missing_files{};          // "ESPALIER_PLAN: plan.json"
  std::vector<PreloadFacts> preloads{};              // of LD_PRELOAD
  std::string mpi{};         // this process's MPI: "Open MPI 4.1.4"; empty: none
  std::string mpi_so{};      // its library: "libmpi.so.40"; empty: unknown
  double clock_ahead_s = 0;  // of rank 0's

  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  }
};

// mpirun or mpiexec, in the order of PATH.
struct LauncherFacts {
  std::string file{};
  std::string mpi{};  // "MPICH 4.0.2"; empty: unknown
};

// An attempt of a host to connect to another by TCP.
struct TrialFacts {
  std::string from{};     // host
  std::string to{};       // host
  std::string address{};  // of `to`
  std::string reason{};   // why not; empty: it was connected
};

struct PlanFacts {
  std::string file{};
  std::vector<std::string> nodes{};
  bool by_host = false;               // ranks are mapped by host name
  std::string platform{};             // file; empty: not given
  std::vector<std::string> faults{};  // of the plan on that platform
};

struct Facts {
  bool has_ranks = false;          // gathered under mpirun
  std::vector<RankFacts> ranks{};  // never empty
  std::vector<LauncherFacts> launchers{};
  // Of pairs of hosts with an address that was not connected to, all attempts.
  std::vector<TrialFacts> trials{};
  bool has_messages = true;  // ranks could send each other messages by MPI
  std::optional<PlanFacts> plan{};
  std::optional<FolderFacts> out{};              // where --out writes
  double message_bytes = 0;                      // that are written there
  std::vector<std::string> platform_warnings{};  // of a platform that was given
};

// What a rank sends to the one that reports.
std::string json_text(const RankFacts& facts);
// Throw Json::exception if `text` is not from json_text.
RankFacts rank_facts(const std::string& text);
std::string json_text(const std::vector<TrialFacts>& trials);
std::vector<TrialFacts> trial_facts(const std::string& text);

// The subnet of an interface's address: "10.0.0.0/24".
std::string subnet_of(const InterfaceFacts& one);

// "Open MPI 4.1.4" of what `mpirun --version` or MPI_Get_library_version says; empty if it says
// neither name nor version in a known way.
std::string mpi_of(const std::string& text);

}  // namespace espalier::cli::doctor
