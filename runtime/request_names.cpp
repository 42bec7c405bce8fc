#include "runtime/request_names.hpp"

#include <fmt/format.h>

namespace espalier::runtime {

std::string name_of_slice(const planner::SliceDealer& dealer, std::size_t tree, std::uint64_t nth) {
  return fmt::format("slice {} (number {} of tree {})", dealer.slice_of(tree, nth), nth, tree);
}

std::string RequestNames::slice_name(std::size_t tree, std::uint64_t nth) const {
  if ((*flows_)[tree].is_stop_word(nth)) return fmt::format("the end of tree {}", tree);
  return name_of_slice(*dealer_, tree, nth);
}

std::string RequestNames::receiving(std::size_t tree, std::uint64_t nth) const {
  return fmt::format("receiving {} from rank {}", slice_name(tree, nth), (*roles_)[tree].parent);
}

std::string RequestNames::sending(std::size_t tree, std::size_t child, std::uint64_t nth) const {
  return fmt::format("sending {} to rank {}", slice_name(tree, nth),
                     (*roles_)[tree].children[child]);
}

std::string RequestNames::describe(const RequestTable::Entry& entry) const {
  using Kind = RequestTable::Kind;
  switch (entry.kind) {
    case Kind::kReceive:
      return receiving(entry.tree, received_in(entry.tree, entry.slot));
    case Kind::kSend: {
      const std::uint64_t sent = (*flows_)[entry.tree].children[entry.child].sent;
      return sending(entry.tree, entry.child, slice_in_slot(sent, entry.slot, sends_));
    }
    case Kind::kSizeCheck:
      return "comparing the message's size among the ranks";
    case Kind::kStopWord:
      return "passing the word to stop";
  }
  return {};
}

}  // namespace espalier::runtime
