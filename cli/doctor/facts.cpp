#include "cli/doctor/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace espalier::cli::doctor {

namespace {

// Calls visit(name, member) for each member that is a figure or a list of such.
template <class Rank, class Visit>
void each_plain(Rank& rank, const Visit& visit) {
  visit("host", rank.host);
  visit("is_root", rank.is_root);
  visit("cores", rank.cores);
  visit("machine_cores", rank.machine_cores);
  visit("container_cores", rank.container_cores);
  visit("governor", rank.governor);
  visit("memlock_bytes", rank.memlock_bytes);
  visit("open_files", rank.open_files);
  visit("has_infiniband", rank.has_infiniband);
  visit("ptrace_scope", rank.ptrace_scope);
  visit("shm_free_bytes", rank.shm_free_bytes);
  visit("shm_bytes", rank.shm_bytes);
  visit("interfaces", rank.interfaces);
  visit("environment", rank.environment);
  visit("missing_files", rank.missing_files);
  visit("mpi", rank.mpi);
  visit("mpi_so", rank.mpi_so);
  visit("clock_ahead_s", rank.clock_ahead_s);
}

template <class Folder, class Visit>
void each_of_folder(Folder& folder, const Visit& visit) {
  visit("path", folder.path);
  visit("free_bytes", folder.free_bytes);
  visit("is_writable", folder.is_writable);
  visit("fault", folder.fault);
}

Json folder_json(const FolderFacts& folder) {
  Json json;
  each_of_folder(folder, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

FolderFacts folder_of(const Json& json) {
  FolderFacts folder;
  each_of_folder(folder, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  return folder;
}

}  // namespace

Json to_json(const RankFacts& facts) {
  Json json;
  each_plain(facts, [&](const char* name, const auto& value) { json[name] = value; });
  json["scratch"] = folder_json(facts.scratch);
  json["cache"] = folder_json(facts.cache);
  json["preloads"] = Json::array();
  for (const PreloadFacts& one : facts.preloads) {
    json["preloads"].push_back({{"file", one.file}, {"exists", one.exists}, {"mpi", one.mpi}});
  }
  return json;
}

RankFacts rank_facts(const Json& json) {
  RankFacts facts;
  each_plain(facts, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  facts.scratch = folder_of(json.at("scratch"));
  facts.cache = folder_of(json.at("cache"));
  for (const Json& one : json.at("preloads")) {
    facts.preloads.push_back({one.at("file"), one.at("exists"), one.at("mpi")});
  }
  return facts;
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
