// The formulas against messages simulated one by one, where the formulas are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>
#include <vector>

#include "cost_models/formulas/predict.hpp"
#include "tests/cost_models/networks.hpp"
#include "tests/cost_models/plain_events.hpp"

namespace espalier::cost_models::events_test {
namespace {

// Arbitrary parameters, so that no two terms are equal by chance. g(m) covers receiving and
// sending, as a pipeline requires.
const Hockney kHockney{PiecewiseLinear({{Bytes{0}, 7e-6}, {Bytes{4096}, 31e-6}}),
                       PiecewiseLinear({{Bytes{1}, 5e-9}, {Bytes{1024}, 3e-9}})};
const LogGP kLogGP{{61e-6}, {8e-6}, {23e-6}, {84e-9}};
const PLogP kPLogP{{53e-6},
                   PiecewiseLinear({{Bytes{1}, 3e-6}, {Bytes{65536}, 1e-3}}),
                   PiecewiseLinear({{Bytes{1}, 4e-6}, {Bytes{65536}, 2e-3}}),
                   PiecewiseLinear({{Bytes{1}, 23e-6}, {Bytes{65536}, 6e-3}})};

// A message of `bytes` bytes by CM, section 3.1.
Message message_of(const Parameters& parameters, double bytes) {
  if (const auto* hockney = std::get_if<Hockney>(&parameters)) {
    const double time = hockney->alpha_s.at(bytes) + bytes * hockney->beta_s_per_byte.at(bytes);
    return {time, time};
  }
  if (const auto* loggp = std::get_if<LogGP>(&parameters)) {
    const double bytes_s = bytes > 0 ? (bytes - 1) * loggp->gap_per_byte.value : 0;
    return {loggp->gap.value + bytes_s, loggp->latency.value + 2 * loggp->overhead.value + bytes_s};
  }
  const auto& plogp = std::get<PLogP>(parameters);
  return {plogp.gap_s.at(bytes), plogp.latency.value + plogp.gap_s.at(bytes)};
}

const std::vector<Parameters> kNetworks{kHockney, kLogGP, kPLogP};
constexpr std::size_t kSegment = 1000;

double predicted_s(const char* operation, const char* algorithm, const Parameters& network,
                   std::size_t ranks, std::size_t segments, double computation = 0) {
  const FormulaEntry& entry = entry_of(operation, algorithm, kModelNames.at(network.index()));
  return predict(entry, network,
                 {ranks, {segments * kSegment}, {kSegment}, SecondsPerByte{computation}})
      .value;
}

void expect_close(double predicted, double simulated) {
  EXPECT_NEAR(predicted, simulated, 1e-12 * simulated);
}

// Compares the formula with simulated(network, ranks, segments) for several counts of segments.
template <class Simulated>
void expect_as_simulated(const char* operation, const char* algorithm,
                         const std::vector<Parameters>& networks,
                         const std::vector<std::size_t>& all_ranks, const Simulated& simulated) {
  for (const Parameters& network : networks) {
    for (const std::size_t ranks : all_ranks) {
      for (const std::size_t segments : {1U, 2U, 7U}) {
        SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks << ' ' << segments);
        expect_close(predicted_s(operation, algorithm, network, ranks, segments),
                     simulated(network, ranks, segments));
      }
    }
  }
}

TEST(Broadcast, LinearIsAFlatTreeUnderEveryModel) {
  expect_as_simulated("broadcast", "linear", kNetworks, {2, 3, 8, 17},
                      [](const Parameters& network, std::size_t ranks, std::size_t segments) {
                        return pipelined_s(flat_tree(ranks), segments,
                                           message_of(network, kSegment));
                      });
}

TEST(Broadcast, PipelineIsAChainUnderEveryModel) {
  expect_as_simulated("broadcast", "pipeline", kNetworks, {2, 3, 8, 17},
                      [](const Parameters& network, std::size_t ranks, std::size_t segments) {
                        return pipelined_s(chain(ranks), segments, message_of(network, kSegment));
                      });
}

// Only in full binomial trees does the last rank wait as long as the formula says.
TEST(Broadcast, BinomialStoresAndForwardsInFullTrees) {
  expect_as_simulated("broadcast", "binomial", kNetworks, {2, 4, 8, 16, 32, 64},
                      [](const Parameters& network, std::size_t ranks, std::size_t segments) {
                        return store_and_forward_s(binomial_tree(ranks), segments,
                                                   message_of(network, kSegment));
                      });
}

// Hockney's row is not such a sum: it counts the bytes of only one of two children (0010).
TEST(Broadcast, BinaryPipelinesThroughFullTrees) {
  expect_as_simulated("broadcast", "binary", {kLogGP, kPLogP}, {3, 7, 15, 31, 63},
                      [](const Parameters& network, std::size_t ranks, std::size_t segments) {
                        return pipelined_s(binary_tree(ranks), segments,
                                           message_of(network, kSegment));
                      });
}

TEST(Broadcast, SplitBinarySendsHalvesThenExchangesThem) {
  for (const Parameters& network : {Parameters(kLogGP), Parameters(kPLogP)}) {
    for (std::size_t ranks = 3; ranks <= 63; ranks = 2 * ranks + 1) {
      for (const std::size_t half : {1U, 2U, 7U}) {
        SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks << ' ' << half);
        const double simulated =
            pipelined_s(binary_tree(ranks), half, message_of(network, kSegment)) +
            message_of(network, static_cast<double>(half * kSegment)).delivery;
        expect_close(predicted_s("broadcast", "split-binary", network, ranks, 2 * half), simulated);
      }
    }
  }
}

TEST(Barrier, FlatTreeIsOneReportAndALinearRelease) {
  for (const Parameters& network : kNetworks) {
    for (const std::size_t ranks : {2U, 3U, 17U}) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      const Message empty = message_of(network, 0);
      expect_close(predicted_s("barrier", "flat-tree", network, ranks, 0),
                   empty.delivery + pipelined_s(flat_tree(ranks), 1, empty));
    }
  }
}

// Under these two models a message ends when the next one begins.
TEST(Barrier, DoubleRingIsTwoRoundsOfMessages) {
  for (const Parameters& network : {Parameters(kHockney), Parameters(kPLogP)}) {
    for (const std::size_t ranks : {2U, 3U, 17U}) {
      double time = 0;
      std::size_t at = 0;
      for (int returned = 0; returned < 2; returned += at == 0 ? 1 : 0) {
        time += message_of(network, 0).delivery;
        at = (at + 1) % ranks;
      }
      expect_close(predicted_s("barrier", "double-ring", network, ranks, 0), time);
    }
  }
}

// The number of steps until information from every rank has reached every rank.
TEST(Barrier, BruckTakesTheStepsThatInformationNeeds) {
  for (const Parameters& network : {Parameters(kHockney), Parameters(kPLogP)}) {
    for (std::size_t ranks = 2; ranks <= 33; ++ranks) {
      std::vector<std::set<std::size_t>> heard(ranks);
      for (std::size_t r = 0; r < ranks; ++r) heard[r] = {r};
      double time = 0;
      for (std::size_t distance = 1; heard[0].size() < ranks; distance *= 2) {
        auto next = heard;
        for (std::size_t r = 0; r < ranks; ++r) {
          next[(r + distance) % ranks].insert(heard[r].begin(), heard[r].end());
        }
        heard = next;
        time += message_of(network, 0).delivery;
      }
      expect_close(predicted_s("barrier", "bruck", network, ranks, 0), time);
      const bool power_of_two = (ranks & (ranks - 1)) == 0;
      const double doubling = predicted_s("barrier", "recursive-doubling", network, ranks, 0);
      expect_close(doubling, power_of_two ? time : time + message_of(network, 0).delivery);
    }
  }
}

constexpr double kGamma = 1.5e-9;

TEST(Reduce, TreesReceiveSegmentBySegmentUnderHockney) {
  const double segment_s = message_of(kHockney, kSegment).delivery + kGamma * kSegment;
  for (const std::size_t segments : {1U, 2U, 7U}) {
    for (const std::size_t ranks : {3U, 7U, 31U}) {
      SCOPED_TRACE(::testing::Message() << ranks << ' ' << segments);
      const auto expect_same = [&](const char* algorithm, const Children& tree) {
        expect_close(predicted_s("reduce", algorithm, kHockney, ranks, segments, kGamma),
                     pipelined_reduce_s(tree, segments, segment_s));
      };
      expect_same("flat-tree", flat_tree(ranks));
      expect_same("pipeline", chain(ranks));
      expect_same("binary", binary_tree(ranks));
    }
  }
}

TEST(Alltoall, LinearStartsWhenThePredecessorsMessageHasArrived) {
  expect_as_simulated(
      "alltoall", "linear", kNetworks, {2, 3, 9},
      [](const Parameters& network, std::size_t ranks, std::size_t segments) {
        // LogGP's row counts one gap too many per rank.
        const double excess =
            network.index() == 1 ? static_cast<double>(ranks) * kLogGP.gap.value : 0;
        return linear_alltoall_s(ranks, segments, message_of(network, kSegment)) + excess;
      });
}

TEST(Alltoall, PairwiseIsOneMessagePerStepWhateverTheSegment) {
  for (const Parameters& network : {Parameters(kHockney), Parameters(kPLogP)}) {
    double time = 0;
    for (std::size_t step = 1; step < 9; ++step) time += message_of(network, 3000).delivery;
    expect_close(predicted_s("alltoall", "pairwise", network, 9, 3), time);
  }
}

// The bytes of a message of one share.
constexpr std::size_t kShare = 600;

double predicted_of_shares(const char* operation, const char* algorithm, const Parameters& network,
                           std::size_t ranks, double computation = 0) {
  const FormulaEntry& entry = entry_of(operation, algorithm, kModelNames.at(network.index()));
  return predict(entry, network, {ranks, {ranks * kShare}, {}, SecondsPerByte{computation}}).value;
}

// The time until all ranks have all shares, where each sends its partner of the step what that
// lacks. to(rank, step): the partner; the rank itself: none.
template <class To>
double allgather_s(const Parameters& network, std::size_t ranks, const To& to) {
  std::vector<std::set<std::size_t>> has(ranks);
  for (std::size_t r = 0; r < ranks; ++r) has[r] = {r};
  std::vector<double> at(ranks, 0);
  const auto lacks = [&](const auto& shares) { return shares.size() < ranks; };
  for (std::size_t step = 0; std::ranges::any_of(has, lacks); ++step) {
    const std::vector<std::set<std::size_t>> before = has;
    const std::vector<double> began = at;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t partner = to(r, step);
      if (partner == r) continue;
      has[partner].insert(before[r].begin(), before[r].end());
      const std::size_t shares = has[partner].size() - before[partner].size();
      at[partner] =
          std::max(at[partner],
                   began[r] + message_of(network, static_cast<double>(shares * kShare)).delivery);
    }
  }
  return *std::max_element(at.begin(), at.end());
}

TEST(Allgather, StepsCarryWhatThePartnerLacks) {
  for (const Parameters& network : kNetworks) {
    for (std::size_t ranks = 2; ranks <= 20; ++ranks) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      const auto expect = [&](const char* algorithm, const auto& to) {
        expect_close(predicted_of_shares("allgather", algorithm, network, ranks),
                     allgather_s(network, ranks, to));
      };
      expect("ring", [&](std::size_t r, std::size_t) { return (r + 1) % ranks; });
      expect("bruck", [&](std::size_t r, std::size_t step) {
        return (r + ranks - (std::size_t{1} << step) % ranks) % ranks;
      });
      if (ranks % 2 == 0) {
        expect("neighbor-exchange", [&](std::size_t r, std::size_t step) {
          return (r % 2 == step % 2 ? r + 1 : r + ranks - 1) % ranks;
        });
      }
      if ((ranks & (ranks - 1)) == 0) {
        expect("recursive-doubling",
               [](std::size_t r, std::size_t step) { return r ^ (std::size_t{1} << step); });
      }
    }
  }
}

// Ranks beyond a power of two give their share to one of the first, and get all others from it.
TEST(Allgather, RecursiveDoublingIsABoundWhereRanksAreRepresented) {
  for (const Parameters& network : kNetworks) {
    for (std::size_t ranks = 3; ranks <= 20; ++ranks) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      const std::size_t first = std::bit_floor(ranks);
      const auto last_step = static_cast<std::size_t>(std::bit_width(first));
      const double simulated = allgather_s(network, ranks, [&](std::size_t r, std::size_t step) {
        if (first == ranks) return r ^ (std::size_t{1} << step);
        if (step == 0) return r < first ? r : r - first;
        if (step == last_step) return r < ranks - first ? r + first : r;
        return r < first ? r ^ (std::size_t{1} << (step - 1)) : r;
      });
      const double bound = predicted_of_shares("allgather", "recursive-doubling", network, ranks);
      EXPECT_GE(bound, simulated * (1 - 1e-12));
      EXPECT_LE(bound, simulated * 1.6);
    }
  }
}

// The numbers of the ranks in each subtree.
std::vector<std::size_t> sizes_of(const Children& children) {
  std::vector<std::size_t> sizes(children.size(), 1);
  for (std::size_t v = children.size(); v-- > 0;) {
    for (const std::size_t child : children[v]) sizes[v] += sizes[child];
  }
  return sizes;
}

double scatter_s(const Parameters& network, const Children& children) {
  const std::vector<std::size_t> sizes = sizes_of(children);
  std::vector<double> at(children.size(), 0);
  for (std::size_t v = 0; v < children.size(); ++v) {
    double start = at[v];
    for (const std::size_t child : children[v]) {
      const Message message = message_of(network, static_cast<double>(sizes[child] * kShare));
      at[child] = start + message.delivery;
      start += message.spacing;
    }
  }
  return *std::max_element(at.begin(), at.end());
}

TEST(Scatter, TreesCarryTheSharesOfEachSubtree) {
  for (const Parameters& network : kNetworks) {
    for (const std::size_t ranks : {2U, 4U, 8U, 32U}) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      expect_close(predicted_of_shares("scatter", "linear", network, ranks),
                   scatter_s(network, flat_tree(ranks)));
      expect_close(predicted_of_shares("scatter", "binomial", network, ranks),
                   scatter_s(network, binomial_tree(ranks)));
    }
  }
}

TEST(Scatter, BinomialIsABoundOfTreesThatAreNotFull) {
  for (const Parameters& network : kNetworks) {
    for (std::size_t ranks = 2; ranks <= 40; ++ranks) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      const double simulated = scatter_s(network, binomial_tree(ranks));
      const double bound = predicted_of_shares("scatter", "binomial", network, ranks);
      EXPECT_GE(bound, simulated * (1 - 1e-12));
      EXPECT_LE(bound, simulated * 1.5);
    }
  }
}

// A gather is a scatter in reverse, and without work a reduce-scatter is an allgather in reverse.
TEST(Gather, IsTheReverse) {
  for (const Parameters& network : kNetworks) {
    for (std::size_t ranks = 2; ranks <= 20; ++ranks) {
      SCOPED_TRACE(::testing::Message() << network.index() << ' ' << ranks);
      for (const char* algorithm : {"linear", "binomial"}) {
        EXPECT_EQ(predicted_of_shares("gather", algorithm, network, ranks),
                  predicted_of_shares("scatter", algorithm, network, ranks));
      }
      EXPECT_EQ(predicted_of_shares("reduce-scatter", "ring", network, ranks),
                predicted_of_shares("allgather", "ring", network, ranks));
      EXPECT_EQ(predicted_of_shares("reduce-scatter", "recursive-halving", network, ranks),
                predicted_of_shares("allgather", "recursive-doubling", network, ranks));
    }
  }
}

// All data are combined once: P - 1 shares on each rank of a power of two.
TEST(ReduceScatter, CombinesAllOtherShares) {
  for (const char* algorithm : {"ring", "recursive-halving", "pairwise"}) {
    for (const Parameters& network : {Parameters(kHockney), Parameters(kLogGP)}) {
      const double work = predicted_of_shares("reduce-scatter", algorithm, network, 8, kGamma) -
                          predicted_of_shares("reduce-scatter", algorithm, network, 8);
      EXPECT_NEAR(work, 7 * kShare * kGamma, 1e-12 * work) << algorithm;
    }
  }
}

}  // namespace
}  // namespace espalier::cost_models::events_test
