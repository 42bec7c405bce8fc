// Topology-oblivious single trees, as MPI libraries build them.
#include <algorithm>
#include <bit>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/oblivious_tree.hpp"
#include "planner/solve/ring_order.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

std::uint32_t ranks_of(const Instance& instance) {
  return static_cast<std::uint32_t>(instance.host_count());
}

std::uint32_t root_rank_of(const Instance& instance) {
  return host_numbers(instance.platform())[index_of(instance.source())];
}

// The chain of the root along the best ring. reversed: the instance is that of a reduction.
Outcome along_ring(const Instance& instance, const AlgorithmOptions& options, bool reversed) {
  std::vector<std::uint32_t> own;
  if (options.ring == nullptr) {
    const HostArcsInUse in_use(instance, options);
    own = ring_order(in_use.get(), instance.platform().hosts(), reversed, options.deadline);
  }
  std::vector<platforms::NodeId> order;
  for (const std::uint32_t node : options.ring != nullptr ? *options.ring : own) {
    order.push_back(platforms::NodeId{node});
  }
  if (reversed) std::ranges::reverse(order);
  return lay_over(instance, options, chain_shape(ranks_of(instance)), order);
}

// The ranks between which recursive doubling doubles: a power of two. Where there are more ranks,
// the first ones are in pairs, of which the odd one takes part (MPICH).
class DoublingRanks {
 public:
  explicit DoublingRanks(std::uint32_t ranks)
      : core_(std::bit_floor(ranks)), pairs_(ranks - core_) {}

  [[nodiscard]] std::uint32_t count() const { return core_; }
  // The place among those that take part of a rank, or of its partner.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const {
    return rank < 2 * pairs_ ? rank / 2 : rank - pairs_;
  }
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t place) const {
    return place < pairs_ ? 2 * place + 1 : place + pairs_;
  }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_; }

 private:
  std::uint32_t core_;
  std::uint32_t pairs_;
};

}  // namespace

// The ranks' 1 to n-1 divided into k contiguous chains. Where they do not divide evenly the first
// chains are longer by one, because the source serves them first.
Outcome k_chain(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  ObliviousTree tree;
  std::uint32_t next = 1;
  for (std::size_t left = std::clamp<std::size_t>(options.chains, 1, ranks); left > 0; --left) {
    const std::size_t length = (ranks - next + left - 1) / left;
    for (std::size_t i = 0; i < length; ++i, ++next) {
      tree.edges.push_back({i == 0 ? 0 : next - 1, next});
    }
  }
  return lay_over(instance, options, {&tree, 1});
}

Outcome ring(const Instance& instance, const AlgorithmOptions& options) {
  return along_ring(instance, options, false);
}

Outcome ring_of_reduction(const Instance& instance, const AlgorithmOptions& options) {
  return along_ring(instance, options, true);
}

// In step k every rank' r < 2^k, which has the data, sends it to r + 2^k.
Outcome bruck(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  ObliviousTree tree;
  for (std::uint32_t step = 1; step < ranks; step *= 2) {
    for (std::uint32_t rank = 0; rank < step && rank + step < ranks; ++rank) {
      tree.edges.push_back({rank, rank + step});
    }
  }
  return lay_over(instance, options, {&tree, 1});
}

// In step k the ranks exchange with those whose place differs in bit k.
Outcome recursive_doubling(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  const std::uint32_t root = root_rank_of(instance);
  const DoublingRanks doubling(ranks);
  ObliviousTree tree;
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    tree.edges.push_back({(from + ranks - root) % ranks, (to + ranks - root) % ranks});
  };
  const std::uint32_t first = doubling.place_of(root);
  if (doubling.rank_at(first) != root) add(root, doubling.rank_at(first));
  for (std::uint32_t step = 1; step < doubling.count(); step *= 2) {
    for (std::uint32_t place = 0; place < step; ++place) {
      add(doubling.rank_at(first ^ place), doubling.rank_at(first ^ place ^ step));
    }
  }
  for (std::uint32_t place = 0; place < doubling.pairs(); ++place) {
    const std::uint32_t odd = doubling.rank_at(place);
    if (odd - 1 != root) add(odd, odd - 1);
  }
  return lay_over(instance, options, {&tree, 1});
}

// Pairs of neighbours exchange, then each with its other neighbour what it got last, and so on: a
// part goes round the ring in both directions, first to the partner's side.
Outcome neighbor_exchange(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  const bool is_right = root_rank_of(instance) % 2 == 0;
  const std::uint32_t far = ranks / 2;           // hosts on the partner's side
  const std::uint32_t near = (ranks - 1) - far;  // on the other
  ObliviousTree tree;
  for (std::uint32_t i = 1; i <= far; ++i) {
    const auto place = [&](std::uint32_t along, bool right) {
      return right ? along : (ranks - along) % ranks;
    };
    tree.edges.push_back({place(i - 1, is_right), place(i, is_right)});
    if (i <= near) tree.edges.push_back({place(i - 1, !is_right), place(i, !is_right)});
  }
  return lay_over(instance, options, {&tree, 1});
}

}  // namespace espalier::planner::tree_algorithms
