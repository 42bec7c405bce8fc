#include "simulate/export/mscclpp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "simulate/export/mscclpp_rank.hpp"
#include "support/errors.hpp"
#include "support/json.hpp"

namespace espalier::simulate {

namespace {

using planner::Operation;

// MSCCL++'s name of a collective; unset: it has none.
std::optional<std::string_view> collective_of(Operation operation) {
  switch (operation) {
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kAllreduce:
      return "allreduce";
    case Operation::kAllgather:
      return "allgather";
    case Operation::kReduceScatter:
      return "reducescatter";
    case Operation::kAlltoall:
      return "alltoall";
    default:
      return std::nullopt;
  }
}

void require_expressible(const planner::Plan& plan, const Transfers& transfers) {
  if (!collective_of(plan.operation)) {
    throw InputError({}, "/operation",
                     fmt::format("MSCCL++ has no {}; it has broadcast, allreduce, allgather, "
                                 "reduce-scatter and alltoall",
                                 planner::name_of(plan.operation)));
  }
  if (plan.has_helpers()) {
    throw InputError({}, "/blocks/0/members", "MSCCL++ has no broadcast to some of the ranks");
  }
  if (!planner::has_parts(plan.operation)) return;
  const std::size_t nodes = plan.nodes.size();
  const std::size_t parts = plan.operation == Operation::kAlltoall ? nodes * (nodes - 1) : nodes;
  const auto count = [](const planner::SegmentGrid& grid) { return grid.count(); };
  const auto [least, most] = std::ranges::minmax(transfers.grids, {}, count);
  if (transfers.grids.size() != parts || least.count() != most.count()) {
    throw InputError({}, "/blocks", "the ranks' parts differ, but those of MSCCL++ are equal");
  }
}

// Where a segment lies.
class Places {
 public:
  Places(const planner::Plan& plan, const Transfers& transfers)
      : blocks_(planner::blocks_of(plan)),
        transfers_(transfers),
        has_parts_(planner::has_parts(plan.operation)),
        gathers_(plan.operation == Operation::kAllgather) {}

  [[nodiscard]] MscclppChunk at_sender(const Transfer& transfer) const {
    const planner::PlanTrees& block = blocks_[transfer.block];
    if (!block.to) return common(transfer);
    if (transfer.from != block.root) return {'s', held_.at(key(transfer.from, transfer))};
    return {'i', *block.to * transfers_.grids[transfer.block].count() + transfer.segment};
  }
  // Where it is put.
  MscclppChunk at_receiver(const Transfer& transfer) {
    const planner::PlanTrees& block = blocks_[transfer.block];
    if (block.to && transfer.to == *block.to) {
      return {'o', block.root * transfers_.grids[transfer.block].count() + transfer.segment};
    }
    if (!block.to && !transfer.combines) return common(transfer);
    const std::uint64_t slot = scratch_[transfer.to]++;
    held_[key(transfer.to, transfer)] = slot;
    return {'s', slot};
  }
  // Where a segment that is combined or spread lies on every rank.
  [[nodiscard]] MscclppChunk common(const Transfer& transfer) const {
    const std::uint64_t first =
        has_parts_ ? blocks_[transfer.block].root * transfers_.grids[transfer.block].count()
                   : transfers_.first_tag[transfer.block] % transfers_.segments;
    return {gathers_ ? 'o' : 'i', first + transfer.segment};
  }
  [[nodiscard]] std::uint64_t scratch_of(std::uint32_t rank) const {
    const auto found = scratch_.find(rank);
    return found == scratch_.end() ? 0 : found->second;
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // rank, block, segment
  static Key key(std::uint32_t rank, const Transfer& transfer) {
    return {rank, transfer.block, transfer.segment};
  }

  std::vector<planner::PlanTrees> blocks_;
  const Transfers& transfers_;
  bool has_parts_;
  bool gathers_;
  std::map<std::uint32_t, std::uint64_t> scratch_;  // of each rank: chunks
  std::map<Key, std::uint64_t> held_;
};

// Chunks of the input and of the output of every rank.
struct Sizes {
  std::uint64_t input;
  std::uint64_t output;
};
Sizes sizes_of(const planner::Plan& plan, const Transfers& transfers) {
  const std::uint64_t part = transfers.grids.front().count();
  const std::uint64_t all = part * plan.nodes.size();
  if (plan.operation == Operation::kAllgather) return {part, all};
  if (plan.operation == Operation::kReduceScatter) return {all, part};
  if (plan.operation == Operation::kAlltoall) return {all, all};
  return {transfers.segments, transfers.segments};
}

std::vector<MscclppRank> ranks_of(const planner::Plan& plan, const Transfers& transfers,
                                  Places& places) {
  const bool in_one =
      planner::has_sequence(planner::blocks_of(plan)) || planner::routes(plan.operation);
  std::vector<MscclppRank> ranks(transfers.ranks);
  if (plan.operation == Operation::kAlltoall) {
    const std::uint64_t part = transfers.grids.front().count();
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      ranks[rank].copy({'i', rank * part}, {'o', rank * part}, part);
    }
  }
  for (const Transfer& transfer : transfers.all) {
    const std::uint32_t threadblock = in_one ? 0 : transfer.tree;
    const MscclppChunk from = places.at_sender(transfer);
    const MscclppChunk to = places.at_receiver(transfer);
    ranks[transfer.from].send(threadblock, transfer.to, from, to);
    ranks[transfer.to].receive(threadblock, transfer.from);
    if (transfer.combines) ranks[transfer.to].add(threadblock, places.common(transfer), to);
  }
  return ranks;
}

}  // namespace

std::string mscclpp_plan(const planner::Plan& plan, const Transfers& transfers) {
  require_expressible(plan, transfers);
  Places places(plan, transfers);
  const std::vector<MscclppRank> ranks = ranks_of(plan, transfers, places);
  const Sizes sizes = sizes_of(plan, transfers);
  Json gpus = Json::array();
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    Json gpu{{"id", rank},
             {"input_chunks", sizes.input},
             {"output_chunks", sizes.output},
             {"scratch_chunks", places.scratch_of(rank)}};
    gpu.update(ranks[rank].json(plan.nodes[rank]));
    gpus.push_back(std::move(gpu));
  }
  const Json text{{"name", title_of(plan, transfers)},
                  {"collective", *collective_of(plan.operation)},
                  {"protocol", "Simple"},
                  {"inplace", plan.operation != Operation::kAlltoall},
                  {"reuse_resources", false},
                  {"gpus", std::move(gpus)},
                  {"num_threads_per_block", 1024},
                  {"use_double_scratch_buffer", false},
                  {"buffer_alignment", 16},
                  {"min_message_size", 0},
                  {"max_message_size", UINT64_MAX}};
  return text.dump(1) + '\n';
}

}  // namespace espalier::simulate
