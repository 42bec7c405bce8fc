#include "runtime/api/rank_mapping.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <unordered_map>

#include "runtime/transport/agreement.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {
namespace {

void check_numbers(std::size_t ranks, std::size_t nodes) {
  if (ranks != nodes) {
    throw InputError(fmt::format(
        "the plan has {}, but {} it; start it with {}", counted(nodes, "node"),
        ranks == 1 ? "1 rank is running" : fmt::format("{} ranks are running", ranks), nodes));
  }
}

}  // namespace

std::string up_to_dot(const std::string& name) {
  return name.substr(0, name.find('.'));
}

std::vector<int> ranks_by_order(std::size_t ranks, std::size_t nodes) {
  check_numbers(ranks, nodes);
  std::vector<int> rank_of_node(nodes);
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  return rank_of_node;
}

std::vector<int> ranks_by_host(std::span<const std::string> hosts,
                               std::span<const std::string> nodes) {
  check_numbers(hosts.size(), nodes.size());
  // Whole names first: nodes such as "n1.lyon" and "n1.paris" are equal up to the dot.
  std::unordered_map<std::string, int> whole;
  std::unordered_map<std::string, int> cut;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto [earlier, is_new] = whole.emplace(hosts[rank], static_cast<int>(rank));
    if (!is_new) {
      throw InputError(
          fmt::format("ranks {} and {} both run on host '{}', so the host does not determine "
                      "their nodes in the plan; run one rank per host, or map ranks by order",
                      earlier->second, rank, hosts[rank]));
    }
    cut.emplace(up_to_dot(hosts[rank]), static_cast<int>(rank));
  }
  std::vector<int> rank_of_node;
  std::vector<std::string> node_of_rank(hosts.size());
  for (const std::string& node : nodes) {
    auto found = whole.find(node);
    if (found == whole.end()) {
      found = cut.find(up_to_dot(node));
      if (found == cut.end()) {
        throw InputError(fmt::format("no rank runs on node '{}' of the plan", node));
      }
    }
    std::string& taken = node_of_rank[static_cast<std::size_t>(found->second)];
    if (!taken.empty()) {
      throw InputError(fmt::format("nodes '{}' and '{}' of the plan are both host '{}'", taken,
                                   node, hosts[static_cast<std::size_t>(found->second)]));
    }
    taken = node;
    rank_of_node.push_back(found->second);
  }
  return rank_of_node;
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> host_names(MPI_Comm comm) {
  return gather_texts(comm, host_name());
}

}  // namespace espalier::runtime
