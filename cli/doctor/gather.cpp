#include "cli/doctor/gather.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>

#include "support/errors.hpp"
#include "support/surroundings.hpp"
#include "support/text.hpp"

namespace espalier::cli::doctor {

namespace {

namespace fs = std::filesystem;

// Empty if it cannot be read.
std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

double limit_of(int resource) {
  ::rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return kUnlimited;
  return limit.rlim_cur == RLIM_INFINITY ? kUnlimited : static_cast<double>(limit.rlim_cur);
}

std::vector<std::uint64_t> usable_cores() {
  ::cpu_set_t set;
  std::vector<std::uint64_t> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (std::uint64_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// cpu.max of the control group of this process and of those above it: "50000 100000" is half a
// core.
double quota_in_cores() {
  double least = kUnlimited;
  const std::string group = text_of("/proc/self/cgroup");
  const std::size_t at = group.find("0::");
  fs::path folder = "/sys/fs/cgroup";
  if (at != std::string::npos) {
    const std::string path = group.substr(at + 3, group.find('\n', at) - at - 3);
    folder += path;
  }
  while (folder.string().starts_with("/sys/fs/cgroup")) {
    std::istringstream words(text_of(folder / "cpu.max"));
    double quota_us = 0;
    double period_us = 0;
    if (words >> quota_us >> period_us && period_us > 0)
      least = std::min(least, quota_us / period_us);
    folder = folder.parent_path();
  }
  return least;
}

std::string address_text(const ::sockaddr* address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const auto& four = *reinterpret_cast<const ::sockaddr_in*>(address);
  return ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size()) == nullptr ? ""
                                                                                   : text.data();
}

std::vector<InterfaceFacts> addressed_interfaces() {
  std::vector<InterfaceFacts> found;
  ::ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ::ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || !is_up) continue;
    const auto* const mask = reinterpret_cast<const ::sockaddr_in*>(one->ifa_netmask);
    found.push_back({one->ifa_name, address_text(one->ifa_addr),
                     mask == nullptr ? 32 : std::popcount(mask->sin_addr.s_addr)});
  }
  ::freeifaddrs(all);
  return found;
}

// The variables that a check reads.
bool is_read(std::string_view name) {
  constexpr std::array<std::string_view, 8> kStems{
      "ESPALIER_", "OMPI_MCA_",    "OMPI_ALLOW_",     "OMPI_COMM_WORLD_SIZE",
      "PMI_SIZE",  "SLURM_NTASKS", "UCX_NET_DEVICES", "FI_TCP_IFACE"};
  return std::ranges::any_of(kStems, [&](std::string_view stem) { return name.starts_with(stem); });
}

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !is_read(text.substr(0, equals))) continue;
    found.emplace(text.substr(0, equals), printable(text.substr(equals + 1)));
  }
  return found;
}

std::vector<std::string> missing_settings() {
  std::vector<std::string> missing;
  for (const char* const name : {"ESPALIER_PLAN", "ESPALIER_TUNED", "ESPALIER_DECISIONS",
                                 "ESPALIER_PLATFORM", "ESPALIER_GROUPS"}) {
    const std::string value = environment_variable(name);
    const bool are_hosts = name == std::string_view("ESPALIER_GROUPS") && value == "hosts";
    if (value.empty() || are_hosts) continue;
    for (const std::string_view file : split(value, ':')) {
      std::error_code ignored;
      if (!fs::exists(file, ignored))
        missing.push_back(fmt::format("{}: {}", name, printable(file)));
    }
  }
  return missing;
}

std::vector<PreloadFacts> gather_preloads() {
  std::vector<PreloadFacts> preloads;
  std::string names = environment_variable("LD_PRELOAD");
  std::ranges::replace(names, ' ', ':');
  for (const std::string_view name : split(names, ':')) {
    if (name.empty()) continue;
    // Without a slash the linker searches its folders; only a path can be said to be missing.
    std::error_code ignored;
    const bool exists = name.find('/') == std::string_view::npos || fs::exists(name, ignored);
    preloads.push_back({printable(name), exists, exists ? mpi_library_in(std::string(name)) : ""});
  }
  return preloads;
}

// What a program prints with --version, or nothing within some seconds.
std::string version_of(const std::string& program) {
  if (program.find('\'') != std::string::npos) return {};
  const std::string command = fmt::format("timeout 5 '{}' --version 2>&1 </dev/null", program);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && text.size() < 65536 &&
         std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

}  // namespace

FolderFacts gather_folder(const std::string& path, bool to_be_made) {
  FolderFacts folder{.path = path};
  if (path.empty()) return folder;
  fs::path there = path;
  std::error_code ignored;
  while (to_be_made && !fs::exists(there, ignored) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (there.empty()) there = ".";
  struct ::statvfs system {};
  if (!fs::is_directory(there, ignored)) {
    folder.fault = fs::exists(there, ignored) ? "is not a folder" : "does not exist";
  } else if (::access(there.c_str(), W_OK | X_OK) != 0) {
    folder.fault = std::generic_category().message(errno);
  } else if (::statvfs(there.c_str(), &system) == 0) {
    folder.free_bytes = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  }
  folder.is_writable = folder.fault.empty();
  return folder;
}

RankFacts gather_rank(const std::string& host) {
  RankFacts facts{.host = host};
  facts.is_root = ::geteuid() == 0;
  facts.cores = usable_cores();
  facts.machine_cores = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  facts.container_cores = quota_in_cores();
  facts.governor = text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  facts.memlock_bytes = limit_of(RLIMIT_MEMLOCK);
  facts.open_files = limit_of(RLIMIT_NOFILE);
  std::error_code ignored;
  facts.has_infiniband = fs::is_directory("/sys/class/infiniband", ignored) &&
                         !fs::is_empty("/sys/class/infiniband", ignored);
  facts.ptrace_scope =
      parse_whole<std::uint64_t>(text_of("/proc/sys/kernel/yama/ptrace_scope")).value_or(0);
  struct ::statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0) {
    facts.shm_free_bytes = static_cast<double>(shm.f_bavail) * static_cast<double>(shm.f_frsize);
    facts.shm_bytes = static_cast<double>(shm.f_blocks) * static_cast<double>(shm.f_frsize);
  }
  const std::string scratch = environment_variable("TMPDIR");
  facts.scratch = gather_folder(scratch.empty() ? "/tmp" : scratch);
  facts.cache = gather_folder(users_cache(), /*to_be_made=*/true);
  facts.interfaces = addressed_interfaces();
  facts.environment = read_environment();
  facts.missing_files = missing_settings();
  facts.preloads = gather_preloads();
  return facts;
}

std::vector<LauncherFacts> gather_launchers() {
  std::vector<LauncherFacts> launchers;
  std::vector<fs::path> seen;
  const std::string path = environment_variable("PATH");
  for (const std::string_view folder : split(path, ':')) {
    for (const char* const name : {"mpirun", "mpiexec"}) {
      const fs::path file = fs::path(folder) / name;
      std::error_code fault;
      const fs::path real = fs::canonical(file, fault);
      if (fault || ::access(file.c_str(), X_OK) != 0 || std::ranges::count(seen, real) > 0)
        continue;
      seen.push_back(real);
      launchers.push_back({file.string(), mpi_of(version_of(file.string()))});
    }
  }
  return launchers;
}

std::string mpi_library_in(const std::string& file) {
  constexpr std::uintmax_t kMost = 256U << 20U;
  std::error_code fault;
  const std::uintmax_t size = fs::file_size(file, fault);
  if (fault || size > kMost) return {};
  const std::string bytes = text_of(file);
  constexpr std::array<std::string_view, 2> kStems{"libmpi.so.", "libmpich.so."};
  for (const std::string_view stem : kStems) {
    const std::size_t at = bytes.find(stem);
    if (at == std::string::npos) continue;
    std::size_t end = at + stem.size();
    while (end < bytes.size() && bytes[end] >= '0' && bytes[end] <= '9') ++end;
    return bytes.substr(at, end - at);
  }
  return {};
}

}  // namespace espalier::cli::doctor
