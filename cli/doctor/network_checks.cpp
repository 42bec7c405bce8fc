// Checks of the network between hosts: firewalls, and interfaces that MPI may choose wrongly.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "cli/doctor/checks.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli::doctor {

namespace {

// Interfaces of containers and virtual machines, which do not lead to other hosts.
bool is_virtual(const std::string& name) {
  constexpr std::array<std::string_view, 8> kStems{"docker", "virbr", "br-",     "veth",
                                                   "podman", "cni",   "flannel", "lxcbr"};
  return std::ranges::any_of(kStems, [&](std::string_view stem) { return name.starts_with(stem); });
}

// Names of interfaces that are not virtual, each once.
std::vector<std::string> real_interfaces(const RankFacts& rank) {
  std::vector<std::string> names;
  for (const InterfaceFacts& one : rank.interfaces) {
    if (!is_virtual(one.name) && std::ranges::count(names, one.name) == 0)
      names.push_back(one.name);
  }
  return names;
}

// A variable that says which interfaces an MPI uses for TCP.
struct Choice {
  const char* variable;
  bool is_include;  // else: which it does not use
};
constexpr std::array kOfOpenMpi{Choice{"OMPI_MCA_btl_tcp_if_include", true},
                                Choice{"OMPI_MCA_btl_tcp_if_exclude", false}};
constexpr std::array kOfOthers{Choice{"UCX_NET_DEVICES", true}, Choice{"FI_TCP_IFACE", true}};

const Choice* choice_of(const Facts& facts, const RankFacts& rank) {
  for (const Choice& choice : is_open_mpi(facts) ? kOfOpenMpi : kOfOthers) {
    const std::string value = rank.variable(choice.variable);
    if (!value.empty() && value != "all") return &choice;
  }
  return nullptr;
}

// Whether a list of names and subnets, "eth0,10.0.0.0/8", names the interface.
bool is_in(std::string_view list, const InterfaceFacts& one) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view item) {
    const std::size_t slash = item.find('/');
    if (slash == std::string_view::npos) return item == one.name;
    const auto bits = parse_whole<int>(item.substr(slash + 1));
    return bits && subnet_of({"", std::string(item.substr(0, slash)), *bits}) ==
                       subnet_of({"", one.address, *bits});
  });
}

// Whether MPI may use the interface for messages.
bool is_used(const Facts& facts, const RankFacts& rank, const InterfaceFacts& one) {
  const Choice* const choice = choice_of(facts, rank);
  if (choice == nullptr) return !is_virtual(one.name);
  return is_in(rank.variable(choice->variable), one) == choice->is_include;
}

struct Owned {
  const RankFacts& rank;
  const InterfaceFacts& one;
};

// The address of a host that is called so, if it has it.
std::optional<Owned> owned(const Facts& facts, const std::string& host,
                           const std::string& address) {
  for (const RankFacts& rank : facts.ranks) {
    if (rank.host != host) continue;
    const auto found = std::ranges::find(rank.interfaces, address, &InterfaceFacts::address);
    if (found != rank.interfaces.end()) return Owned{rank, *found};
  }
  return std::nullopt;
}

// An address that two hosts have, for all that MPI may use.
struct Twin {
  const RankFacts& first;
  const RankFacts& second;
  const InterfaceFacts& of_second;
};

std::optional<Twin> find_twin(const Facts& facts) {
  std::map<std::string, const RankFacts*> owners;
  for (const RankFacts& rank : facts.ranks) {
    for (const InterfaceFacts& one : rank.interfaces) {
      if (!is_used(facts, rank, one)) continue;
      const RankFacts& owner = *owners.emplace(one.address, &rank).first->second;
      if (owner.host != rank.host) return Twin{owner, rank, one};
    }
  }
  return std::nullopt;
}

// An interface of rank 0 in a subnet that all hosts have, over which all of them are reached.
const InterfaceFacts* good_interface(const Facts& facts) {
  const auto is_in_subnet = [](const std::string& subnet) {
    return [&](const InterfaceFacts& one) { return subnet_of(one) == subnet; };
  };
  const auto twin = find_twin(facts);
  for (const InterfaceFacts& mine : facts.ranks.front().interfaces) {
    const std::string subnet = subnet_of(mine);
    const auto has_it = [&](const RankFacts& rank) {
      return std::ranges::any_of(rank.interfaces, is_in_subnet(subnet));
    };
    const auto fails_there = [&](const TrialFacts& trial) {
      const auto at = owned(facts, trial.to, trial.address);
      return !trial.reason.empty() && at && subnet_of(at->one) == subnet;
    };
    if (!is_virtual(mine.name) && !(twin && subnet_of(twin->of_second) == subnet) &&
        std::ranges::all_of(facts.ranks, has_it) &&
        std::ranges::none_of(facts.trials, fails_there)) {
      return &mine;
    }
  }
  return nullptr;
}

// What makes MPI use another interface than `bad`.
std::string other_interface(const Facts& facts, const std::string& bad) {
  const InterfaceFacts* const good = good_interface(facts);
  if (!is_open_mpi(facts)) {
    const std::string name = good == nullptr ? "INTERFACE" : good->name;
    return fmt::format(
        "choose another one: export UCX_NET_DEVICES={0} (with UCX), or FI_TCP_IFACE={0} (with "
        "libfabric)",
        name);
  }
  if (good != nullptr) {
    return fmt::format("export OMPI_MCA_btl_tcp_if_include={}", subnet_of(*good));
  }
  return fmt::format("export OMPI_MCA_btl_tcp_if_exclude=lo,{}", bad);
}

using Pair = std::pair<std::string, std::string>;

// The pairs of hosts of which one was not reached at any address of the other.
std::vector<Pair> cut_pairs(const Facts& facts) {
  std::vector<Pair> cut;
  std::map<Pair, bool> is_reached;
  for (const TrialFacts& trial : facts.trials) {
    is_reached[{trial.from, trial.to}] |= trial.reason.empty();
  }
  for (const auto& [pair, reached] : is_reached) {
    if (!reached) cut.push_back(pair);
  }
  return cut;
}

std::string firewall_cure(const Facts& facts, const TrialFacts& trial) {
  std::string sources;
  const auto to = owned(facts, trial.to, trial.address);
  for (const RankFacts& rank : facts.ranks) {
    if (rank.host != trial.from) continue;
    for (const InterfaceFacts& one : rank.interfaces) {
      if (to && subnet_of(one) == subnet_of(to->one)) sources = subnet_of(one);
    }
  }
  if (sources.empty()) {
    return fmt::format("they share no subnet; see which way packets go: ip route get {} on {}",
                       trial.address, trial.from);
  }
  std::string open =
      fmt::format("on {0}: firewall-cmd --zone=trusted --add-source={1}, or ufw allow from {1}",
                  trial.to, sources);
  if (!is_open_mpi(facts)) return open;
  return open +
         "; or open ports 50000 to 50099 alone, and: export OMPI_MCA_btl_tcp_port_min_v4=50000 "
         "OMPI_MCA_btl_tcp_port_range_v4=100";
}

std::optional<Finding> firewall(const Facts& facts) {
  const std::vector<Pair> cut = cut_pairs(facts);
  if (cut.empty()) return std::nullopt;
  const auto trial = std::ranges::find_if(facts.trials, [&](const TrialFacts& one) {
    return one.from == cut.front().first && one.to == cut.front().second;
  });
  const std::string more =
      cut.size() == 1 ? ""
                      : fmt::format("; likewise {}", counted(cut.size() - 1, "more pair of hosts",
                                                             "more pairs of hosts"));
  return Finding{fmt::format("{} cannot connect to {} at {}: {}{}", trial->from, trial->to,
                             trial->address, trial->reason, more),
                 "a firewall between them, or a missing route: messages by TCP wait until MPI "
                 "gives up",
                 firewall_cure(facts, *trial)};
}

// An address that MPI may use and that was not reached, although another one of its host was.
const TrialFacts* partly_reached(const Facts& facts) {
  const std::vector<Pair> cut = cut_pairs(facts);
  const auto twin = find_twin(facts);  // which same_address reports
  for (const TrialFacts& trial : facts.trials) {
    if (twin && trial.address == twin->of_second.address) continue;
    if (trial.reason.empty() || std::ranges::count(cut, Pair{trial.from, trial.to}) > 0) continue;
    const auto at = owned(facts, trial.to, trial.address);
    if (at && is_used(facts, at->rank, at->one)) return &trial;
  }
  return nullptr;
}

std::optional<Finding> unreached_interface(const Facts& facts) {
  const TrialFacts* const trial = partly_reached(facts);
  if (trial == nullptr) return std::nullopt;
  const auto other = std::ranges::find_if(facts.trials, [&](const TrialFacts& one) {
    return one.from == trial->from && one.to == trial->to && one.reason.empty();
  });
  const Owned at = *owned(facts, trial->to, trial->address);
  const Choice* const choice = choice_of(facts, at.rank);
  return Finding{
      fmt::format("{} connects to {} at {}, but not at {}, its {}: {}", trial->from, trial->to,
                  other->address, trial->address, at.one.name, trial->reason),
      choice == nullptr
          ? "MPI may choose the one that does not work, and then waits or ends the program"
          : fmt::format("{} makes MPI use the one that does not work, and it "
                        "waits or ends the program",
                        choice->variable),
      other_interface(facts, at.one.name)};
}

std::optional<Finding> same_address(const Facts& facts) {
  const auto twin = find_twin(facts);
  if (!twin) return std::nullopt;
  return Finding{
      fmt::format("{} and {} both have the address {} ({})", twin->first.host, twin->second.host,
                  twin->of_second.address, twin->of_second.name),
      "MPI takes it for a network that joins them, and a rank that connects to it reaches its own "
      "host",
      other_interface(facts, twin->of_second.name)};
}

std::optional<Finding> virtual_interface(const Facts& facts, const RankFacts& rank) {
  if (!is_open_mpi(facts)) return std::nullopt;
  const auto found = std::ranges::find_if(rank.interfaces, is_virtual, &InterfaceFacts::name);
  if (found == rank.interfaces.end() || choice_of(facts, rank) != nullptr) return std::nullopt;
  return Finding{
      fmt::format("{} has the interface {} of a container or virtual machine", rank.host,
                  found->name),
      "Open MPI may choose it, and connections to other hosts then hang",
      fmt::format("export OMPI_MCA_btl_tcp_if_exclude=lo,{0} OMPI_MCA_oob_tcp_if_exclude=lo,{0}",
                  found->name)};
}

std::optional<Finding> several_interfaces(const Facts& facts, const RankFacts& rank) {
  if (!is_open_mpi(facts) || ranks_on(facts, rank.host) == facts.ranks.size()) return std::nullopt;
  const std::vector<std::string> real = real_interfaces(rank);
  if (real.size() < 2 || choice_of(facts, rank) != nullptr) return std::nullopt;
  // Others say which of them does not work.
  if (partly_reached(facts) != nullptr || find_twin(facts)) return std::nullopt;
  return Finding{fmt::format("{} has several interfaces: {}", rank.host, fmt::join(real, ", ")),
                 "Open MPI stripes messages over all of them, also over slow ones, so that plans "
                 "are for another network than the one in use",
                 fmt::format("choose one: export OMPI_MCA_btl_tcp_if_include={}", real.front())};
}

std::optional<Finding> unknown_interface(const Facts&, const RankFacts& rank) {
  const std::string names = rank.variable(kOfOpenMpi[0].variable);
  for (const std::string_view name : split(names, ',')) {
    const bool is_name = name.find('/') == std::string::npos && name != "lo";  // else a subnet
    if (!is_name || name.empty()) continue;
    if (std::ranges::count(rank.interfaces, name, &InterfaceFacts::name) > 0) continue;
    return Finding{fmt::format("OMPI_MCA_btl_tcp_if_include names {}, which {} does not have", name,
                               rank.host),
                   "ranks on different hosts cannot reach each other",
                   fmt::format("export OMPI_MCA_btl_tcp_if_include={}",
                               rank.interfaces.empty() ? "lo" : rank.interfaces.front().name)};
  }
  return std::nullopt;
}

constexpr std::array kNetworkChecks{
    Check{"firewall", "hosts that cannot connect to each other by TCP", firewall},
    Check{"unreached-interface", "an interface at which a host is not reached, but MPI tries it",
          unreached_interface},
    Check{"same-address", "an address that several hosts have", same_address},
    Check{"virtual-interface", "interfaces of containers that MPI may choose",
          of_any_rank<virtual_interface>},
    Check{"several-interfaces", "several interfaces, of which none is chosen",
          of_any_rank<several_interfaces>},
    Check{"unknown-interface", "a chosen interface that a host does not have",
          of_any_rank<unknown_interface>}};

}  // namespace

bool has_unreached(const Facts& facts) {
  return !cut_pairs(facts).empty() || partly_reached(facts) != nullptr || find_twin(facts);
}

std::span<const Check> network_checks() {
  return kNetworkChecks;
}

}  // namespace espalier::cli::doctor
