#include "runtime/transport/request_names.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace espalier::runtime {

std::string name_of_segment(const planner::SegmentAssignment& assignment, std::size_t tree,
                            std::uint64_t nth) {
  return fmt::format("segment {} (number {} of tree {})", assignment.segment_of(tree, nth), nth,
                     tree);
}

std::string RequestNames::segment_name(std::size_t tree, std::uint64_t nth) const {
  if ((*flows_)[tree].is_abort_marker(nth)) return fmt::format("the end of tree {}", tree);
  return name_of_segment(*assignment_, tree, nth);
}

std::string RequestNames::receiving(std::size_t tree, std::uint64_t nth) const {
  return fmt::format("receiving {} from rank {}", segment_name(tree, nth), (*roles_)[tree].parent);
}

std::string RequestNames::sending(std::size_t tree, std::size_t child, std::uint64_t nth) const {
  return sending_to((*roles_)[tree].children[child], tree, nth);
}

std::string RequestNames::sending_to(int rank, std::size_t tree, std::uint64_t nth) const {
  return fmt::format("sending {} to rank {}", segment_name(tree, nth), rank);
}

std::uint64_t RequestNames::nth_of(const RequestTable::Entry& entry) const {
  if (entry.kind == RequestTable::Kind::kReceive) return received_in(entry.tree, entry.slot);
  const std::uint64_t sent = (*flows_)[entry.tree].children[entry.child].sent;
  return segment_in_slot(sent, entry.slot, requests_->windows()[entry.tree].children[entry.child]);
}

std::string RequestNames::describe(const RequestTable::Entry& entry) const {
  using Kind = RequestTable::Kind;
  switch (entry.kind) {
    case Kind::kReceive:
      return receiving(entry.tree, nth_of(entry));
    case Kind::kSend:
      return sending(entry.tree, entry.child, nth_of(entry));
    case Kind::kSizeCheck:
      return std::string(kComparingSizes) + " (some have not begun)";
    case Kind::kAbort:
      return "passing the abort signal";
  }
  return {};
}

RequestNaming RequestNames::naming() const {
  return {[this](const RequestTable::Entry& entry) { return describe(entry); },
          [this](const RequestTable::Entry& entry) { return nth_of(entry); }};
}

std::string waiting_for(const std::vector<RequestTable::Entry>& outstanding,
                        const RequestNaming& naming) {
  using Kind = RequestTable::Kind;
  constexpr std::size_t kMost = 4;
  // The source always has a receive posted for the abort signal, but never waits for it.
  std::map<std::tuple<Kind, std::uint32_t, std::uint32_t>, RequestTable::Entry> oldest;
  std::size_t all = 0;
  for (const RequestTable::Entry& entry : outstanding) {
    if (entry.kind == Kind::kAbort) continue;
    ++all;
    const auto [at, is_new] = oldest.try_emplace({entry.kind, entry.tree, entry.child}, entry);
    const bool is_segment = entry.kind == Kind::kReceive || entry.kind == Kind::kSend;
    if (!is_new && is_segment && naming.nth_of(entry) < naming.nth_of(at->second)) {
      at->second = entry;
    }
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [key, entry] : oldest) {
    if (named == kMost) break;
    if (named++ != 0) text += ", ";
    text += naming.describe(entry);
  }
  if (all > named) text += fmt::format(" ({} more in progress)", all - named);
  return text;
}

std::string others_of(const std::vector<RequestTable::Entry>& outstanding,
                      const RequestNaming& naming) {
  if (outstanding.empty()) return {};
  return fmt::format(" ({} more in progress, first: {})", outstanding.size(),
                     naming.describe(outstanding[0]));
}

}  // namespace espalier::runtime
