#include "cli/doctor/facts.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace espalier::cli::doctor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FolderFacts, path, free_bytes, is_writable, fault)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PreloadFacts, file, exists, mpi)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialFacts, from, to, address, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InterfaceFacts, name, address, prefix_bits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, host, is_root, cores, machine_cores, container_cores,
                                   governor, memlock_bytes, open_files, has_infiniband,
                                   ptrace_scope, shm_free_bytes, shm_bytes, scratch, cache,
                                   interfaces, environment, missing_files, preloads, mpi, mpi_so,
                                   clock_ahead_s)

std::string json_text(const RankFacts& facts) {
  return nlohmann::json(facts).dump();
}

RankFacts rank_facts(const std::string& text) {
  return nlohmann::json::parse(text).get<RankFacts>();
}

std::string json_text(const std::vector<TrialFacts>& trials) {
  return nlohmann::json(trials).dump();
}

std::vector<TrialFacts> trial_facts(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<TrialFacts>>();
}

std::string subnet_of(const InterfaceFacts& one) {
  ::in_addr address{};
  if (::inet_pton(AF_INET, one.address.c_str(), &address) != 1) return {};
  const int host_bits = 32 - std::clamp(one.prefix_bits, 0, 32);
  const std::uint64_t mask = (std::uint64_t{0xFFFFFFFF} >> host_bits) << host_bits;
  address.s_addr = htonl(static_cast<std::uint32_t>(ntohl(address.s_addr) & mask));
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  return fmt::format("{}/{}", text.data(), one.prefix_bits);
}

std::string mpi_of(const std::string& text) {
  struct Known {
    std::string_view mpi;
    std::string_view said;
  };
  constexpr std::array<Known, 5> kKnown{{{"Open MPI", "Open MPI"},
                                         {"Open MPI", "OpenRTE"},
                                         {"Intel MPI", "Intel(R) MPI Library"},
                                         {"MPICH", "HYDRA build details"},
                                         {"MPICH", "MPICH Version"}}};
  constexpr std::string_view kDigits = "0123456789";
  for (const Known& known : kKnown) {
    std::size_t at = text.find(known.said);
    if (at == std::string::npos) continue;
    at = text.find_first_of(kDigits, at + known.said.size());
    const std::size_t end = text.find_first_of(" ,;)\n", std::min(at, text.size()));
    const std::string version = text.substr(std::min(at, text.size()), end - at);
    if (version.find('.') != std::string::npos) return fmt::format("{} {}", known.mpi, version);
  }
  return {};
}

}  // namespace espalier::cli::doctor
