// Descriptions of requests for error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// What an engine knows of its requests.
struct RequestNaming {
  // "receiving segment 7 (number 3 of tree 1) from rank 2".
  std::function<std::string(const RequestTable::Entry&)> describe;
  // The number, in its tree, of the segment of a send or receive.
  std::function<std::uint64_t(const RequestTable::Entry&)> nth_of;
};
// The operations that a rank without progress waits for: the oldest segment of each tree and
// peer, receives first, limited to a few. outstanding: from the table.
std::string waiting_for(const std::vector<RequestTable::Entry>& outstanding,
                        const RequestNaming& naming);
// " (5 more in progress, first: receiving ...)"; empty when there are none.
std::string others_of(const std::vector<RequestTable::Entry>& outstanding,
                      const RequestNaming& naming);

// Refers to the engine's state, which must outlive this object.
class RequestNames {
 public:
  RequestNames(const std::vector<TreeRole>& roles, const planner::SegmentAssignment& assignment,
               const std::vector<Flow>& flows, const RequestTable& requests)
      : roles_(&roles), assignment_(&assignment), flows_(&flows), requests_(&requests) {}

  // "receiving segment 7 (number 3 of tree 1) from rank 2".
  [[nodiscard]] std::string receiving(std::size_t tree, std::uint64_t nth) const;
  [[nodiscard]] std::string sending(std::size_t tree, std::size_t child, std::uint64_t nth) const;
  [[nodiscard]] std::string sending_to(int rank, std::size_t tree, std::uint64_t nth) const;
  // Describes any request of the table that the counters do not yet count as complete.
  [[nodiscard]] std::string describe(const RequestTable::Entry& entry) const;
  // The same as functions; they refer to this object.
  [[nodiscard]] RequestNaming naming() const;
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
