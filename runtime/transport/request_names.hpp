// Requests in words, for errors that say who waits for what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/slice_dealer.hpp"
#include "runtime/engine/flow.hpp"
#include "runtime/transport/request_table.hpp"
#include "runtime/engine/tree_role.hpp"

namespace espalier::runtime {

// "slice 7 (number 3 of tree 1)".
std::string name_of_slice(const planner::SliceDealer& dealer, std::size_t tree, std::uint64_t nth);

// Refers to what the engine knows, which outlives it.
class RequestNames {
 public:
  RequestNames(const std::vector<TreeRole>& roles, const planner::SliceDealer& dealer,
               const std::vector<Flow>& flows, const RequestTable& requests)
      : roles_(&roles), dealer_(&dealer), flows_(&flows), requests_(&requests) {}

  // "receiving slice 7 (number 3 of tree 1) from rank 2".
  [[nodiscard]] std::string receiving(std::size_t tree, std::uint64_t nth) const;
  [[nodiscard]] std::string sending(std::size_t tree, std::size_t child, std::uint64_t nth) const;
  [[nodiscard]] std::string sending_to(int rank, std::size_t tree, std::uint64_t nth) const;
  // Of any request of the table, as long as the counters do not say that it is complete.
  [[nodiscard]] std::string describe(const RequestTable::Entry& entry) const;
  // What a rank that gets nothing waits for: of each tree and peer the oldest slice, receives
  // first, a few of them. under_way: of the table.
  [[nodiscard]] std::string waiting_for(const std::vector<RequestTable::Entry>& under_way) const;
  // " (5 more under way, first: receiving ...)"; empty when there are none.
  [[nodiscard]] std::string others(const std::vector<RequestTable::Entry>& under_way) const;
  static constexpr std::string_view kComparingSizes =
      "comparing the message's size among the ranks";
  // The tree's slice whose receive is in slot `slot`.
  [[nodiscard]] std::uint64_t received_in(std::size_t tree, std::uint64_t slot) const {
    return slice_in_slot((*flows_)[tree].here, slot, requests_->windows()[tree].parent);
  }

 private:
  [[nodiscard]] std::uint64_t nth_of(const RequestTable::Entry& entry) const;
  [[nodiscard]] std::string slice_name(std::size_t tree, std::uint64_t nth) const;

  const std::vector<TreeRole>* roles_;
  const planner::SliceDealer* dealer_;
  const std::vector<Flow>* flows_;
  const RequestTable* requests_;
};

}  // namespace espalier::runtime
