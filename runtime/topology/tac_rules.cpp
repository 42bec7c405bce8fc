#include "runtime/topology/tac_rules.hpp"

namespace espalier::runtime {

std::optional<std::string_view> tac_choice(planner::Operation operation, std::size_t ranks,
                                           std::size_t hosts, Bytes message) {
  constexpr std::string_view kNode = "hierarchical-node";
  constexpr std::string_view kGroup = "hierarchical-group";
  constexpr std::string_view kNodeAndGroup = "hierarchical";
  constexpr std::string_view kRank = "reorder";
  const bool is_long = message.value >= kTacLong.value;
  const bool has_many_hosts = hosts > kTacHosts;
  const bool shares_hosts = ranks > hosts;  // more than one process per node
  switch (operation) {
    case planner::Operation::kBroadcast:
      if (shares_hosts) return is_long ? kNodeAndGroup : kNode;
      return has_many_hosts && is_long ? kGroup : kRank;
    case planner::Operation::kReduce:
      if (shares_hosts) return is_long ? kNodeAndGroup : kNode;
      return is_long ? kGroup : kRank;
    case planner::Operation::kGather:
      return has_many_hosts ? kGroup : kRank;
    default:
      return std::nullopt;
  }
}

bool tac_leaders_send(std::size_t ranks, std::size_t hosts) {
  return ranks >= kTacRanksPerHost * hosts;
}

}  // namespace espalier::runtime
