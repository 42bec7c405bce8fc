// Requests in words, for errors that say who waits for what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "runtime/engine/flow.hpp"
#include "runtime/engine/tree_role.hpp"
#include "runtime/transport/request_table.hpp"

namespace espalier::runtime {

// "segment 7 (number 3 of tree 1)".
std::string name_of_segment(const planner::SegmentAssignment& assignment, std::size_t tree,
                            std::uint64_t nth);

// Refers to what the engine knows, which outlives it.
class RequestNames {
 public:
  RequestNames(const std::vector<TreeRole>& roles, const planner::SegmentAssignment& assignment,
               const std::vector<Flow>& flows, const RequestTable& requests)
      : roles_(&roles), assignment_(&assignment), flows_(&flows), requests_(&requests) {}

  // "receiving segment 7 (number 3 of tree 1) from rank 2".
  [[nodiscard]] std::string receiving(std::size_t tree, std::uint64_t nth) const;
  [[nodiscard]] std::string sending(std::size_t tree, std::size_t child, std::uint64_t nth) const;
  [[nodiscard]] std::string sending_to(int rank, std::size_t tree, std::uint64_t nth) const;
  // Of any request of the table, as long as the counters do not say that it is complete.
  [[nodiscard]] std::string describe(const RequestTable::Entry& entry) const;
  // What a rank that gets nothing waits for: of each tree and peer the oldest segment, receives
  // first, a few of them. outstanding: of the table.
  [[nodiscard]] std::string waiting_for(const std::vector<RequestTable::Entry>& outstanding) const;
  // " (5 more in progress, first: receiving ...)"; empty when there are none.
  [[nodiscard]] std::string others(const std::vector<RequestTable::Entry>& outstanding) const;
  static constexpr std::string_view kComparingSizes =
      "comparing the message's size among the ranks";
  // The tree's segment whose receive is in slot `slot`.
  [[nodiscard]] std::uint64_t received_in(std::size_t tree, std::uint64_t slot) const {
    return segment_in_slot((*flows_)[tree].here, slot, requests_->windows()[tree].parent);
  }

 private:
  [[nodiscard]] std::uint64_t nth_of(const RequestTable::Entry& entry) const;
  [[nodiscard]] std::string segment_name(std::size_t tree, std::uint64_t nth) const;

  const std::vector<TreeRole>* roles_;
  const planner::SegmentAssignment* assignment_;
  const std::vector<Flow>* flows_;
  const RequestTable* requests_;
};

}  // namespace espalier::runtime
