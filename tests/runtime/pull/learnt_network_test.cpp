// What a pulled message tells about the network, from traffic that is calculated.
#include "runtime/pull/learnt_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/support/draws.hpp"

namespace espalier::testing::learnt_network_test {
namespace {

using engine::pull::Traffic;
using runtime::LearntNetwork;

constexpr double kStep_s = 1e-3;  // segments come so often on every link

class Message {
 public:
  explicit Message(std::size_t ranks) : received_(ranks, Traffic(ranks)) {}

  void bring(std::size_t from, std::size_t to, double bytes, double begin_s, double end_s) {
    received_[to].note(from, bytes, begin_s, end_s);
    seconds_ = std::max(seconds_, end_s);
  }
  // At these rates, [from][to], after all that was brought so far.
  void carry(const std::vector<std::vector<double>>& rates_Bps, double seconds) {
    const double begin_s = seconds_;
    for (double at_s = begin_s; at_s < begin_s + seconds - kStep_s / 2; at_s += kStep_s) {
      for (std::size_t from = 0; from < rates_Bps.size(); ++from) {
        for (std::size_t to = 0; to < rates_Bps.size(); ++to) {
          const double bytes = rates_Bps[from][to] * kStep_s;
          if (bytes > 0) bring(from, to, bytes, at_s, at_s + kStep_s);
        }
      }
    }
    align();
  }
  // To bins of one length, as those that rank 0 gets.
  void align() {
    double bin_s = 0;
    for (const Traffic& one : received_) bin_s = std::max(bin_s, one.bin_s());
    for (Traffic& one : received_) one.widen_to(bin_s);
  }
  [[nodiscard]] const std::vector<Traffic>& received() const { return received_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::vector<Traffic> received_;
  double seconds_ = 0;
};

std::vector<std::string> names_of(std::size_t ranks) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < ranks; ++rank) names.push_back("h" + std::to_string(rank));
  return names;
}

// The shares of a broadcast.
std::vector<double> all_at(std::size_t source, std::size_t ranks) {
  std::vector<double> shares(ranks);
  shares[source] = 1;
  return shares;
}

TEST(LearntNetwork, RatesAreThoseThatWereHeld) {
  Message message(3);
  message.carry({{0, 30e6, 10e6}, {0, 0, 10e6}, {0, 5e6, 0}}, 1);
  message.carry({{0, 0, 20e6}, {0, 0, 0}, {0, 0, 0}}, 1);
  const LearntNetwork network = runtime::learn_network(message.received());
  EXPECT_NEAR(network.send_Bps[0], 40e6, 1e6);
  EXPECT_NEAR(network.send_Bps[1], 10e6, 1e6);
  EXPECT_EQ(network.receive_Bps[0], 0);
  EXPECT_NEAR(network.receive_Bps[1], 35e6, 1e6);
  EXPECT_NEAR(network.receive_Bps[2], 20e6, 1e6);
  EXPECT_NEAR(network.link(0, 2), 20e6, 1e6);
  EXPECT_EQ(network.link(2, 0), 0);
  EXPECT_EQ(network.links_used(), 4U);
}

// Buffers that drain at once.
TEST(LearntNetwork, ShortPeaksHardlyCount) {
  Message message(2);
  message.carry({{0, 10e6}, {0, 0}}, 1);
  message.carry({{0, 200e6}, {0, 0}}, 0.002);
  message.carry({{0, 10e6}, {0, 0}}, 1);
  EXPECT_LT(runtime::learn_network(message.received()).link(0, 1), 15e6);
}

//   0 ─┐          ┌─ 1     all cross links together carry 12 MB/s, whichever are in use
//      ├── trunk ─┤
//   2 ─┘          └─ 3
TEST(LearntNetwork, LinksThatShareOneAreACut) {
  const auto across = [](double zero_one, double two_one, double zero_three, double two_three) {
    return std::vector<std::vector<double>>{{0, zero_one, 40e6, zero_three},
                                            {0, 0, 0, 50e6},
                                            {0, two_one, 0, two_three},
                                            {0, 50e6, 0, 0}};
  };
  Message message(4);
  message.carry(across(12e6, 0, 0, 0), 0.5);
  message.carry(across(0, 12e6, 0, 0), 0.5);
  message.carry(across(0, 0, 12e6, 0), 0.5);
  message.carry(across(0, 0, 0, 12e6), 0.5);
  const LearntNetwork network = runtime::learn_network(message.received());
  const auto into = std::ranges::find_if(network.cuts, [](const LearntNetwork::Cut& cut) {
    return cut.is_inward && cut.ranks == std::vector<std::size_t>{1, 3};
  });
  ASSERT_NE(into, network.cuts.end());
  EXPECT_NEAR(into->rate_Bps, 12e6, 1e6);
  const runtime::LearntBound bound = bound_of(network, all_at(0, 4), names_of(4));
  EXPECT_NEAR(bound.rate_Bps, 12e6, 1e6);
  const auto estimate = estimate_of(network, names_of(4));
  EXPECT_EQ(estimate.links.size(), 12U);
  const auto shared = std::ranges::find_if(estimate.shared_links, [](const auto& link) {
    return link.arcs == std::vector<runtime::probe::Flow>{{0, 1}, {0, 3}, {2, 1}, {2, 3}};
  });
  EXPECT_NE(shared, estimate.shared_links.end());
}

// 0 may send 30, 1 and 2 may send 12 each, which is less than two receivers need.
TEST(LearntNetwork, TheBoundNamesWhatIsNarrowest) {
  LearntNetwork network{{30e6, 12e6, 12e6}, {0, 40e6, 40e6}, std::vector<double>(9), {}};
  EXPECT_DOUBLE_EQ(bound_of(network, all_at(0, 3), names_of(3)).rate_Bps, 27e6);
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).limit, "all ranks send together");
  network.receive_Bps[2] = 20e6;
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).limit, "h2 receives");
  network.send_Bps[0] = 19e6;
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).limit, "h0 sends");
  network.cuts.push_back({{1, 2}, true, 10e6});
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).limit, "h1, h2 receive from the others");
  network.cuts = {{{0, 1}, false, 9e6}};
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).limit, "h0, h1 send to the others");
}

// Of a message in three equal parts, two thirds come to each host, and one leaves it.
TEST(LearntNetwork, TheBoundOfAnAllgatherCountsEachPart) {
  const std::vector<double> shares(3, 1.0 / 3);
  LearntNetwork network{{30e6, 30e6, 30e6}, {24e6, 30e6, 30e6}, std::vector<double>(9), {}};
  EXPECT_DOUBLE_EQ(bound_of(network, shares, names_of(3)).rate_Bps, 36e6);
  EXPECT_EQ(bound_of(network, shares, names_of(3)).limit, "h0 receives");
  network.send_Bps[1] = 8e6;
  EXPECT_DOUBLE_EQ(bound_of(network, shares, names_of(3)).rate_Bps, 24e6);
  EXPECT_EQ(bound_of(network, shares, names_of(3)).limit, "h1 sends");
  network.cuts = {{{0, 2}, true, 7e6}};
  EXPECT_DOUBLE_EQ(bound_of(network, shares, names_of(3)).rate_Bps, 21e6);
  network.cuts = {{{0, 2}, false, 7e6}};
  EXPECT_DOUBLE_EQ(bound_of(network, shares, names_of(3)).rate_Bps, 10.5e6);
}

TEST(LearntNetwork, UnusedLinksGetTheLeastRateBesideThem) {
  LearntNetwork network{{30e6, 12e6, 0}, {0, 30e6, 12e6}, std::vector<double>(9), {}};
  network.link_Bps[0 * 3 + 1] = 30e6;
  network.link_Bps[1 * 3 + 2] = 12e6;
  const auto estimate = estimate_of(network, names_of(3));
  ASSERT_EQ(estimate.links.size(), 6U);
  EXPECT_EQ(estimate.links[0].bandwidth_Bps, 30e6);  // 0 -> 1
  EXPECT_EQ(estimate.links[1].bandwidth_Bps, 12e6);  // 0 -> 2
  EXPECT_EQ(estimate.links[2].bandwidth_Bps, 12e6);  // 1 -> 0
  EXPECT_EQ(estimate.links[4].bandwidth_Bps, 12e6);  // 2 -> 0: there are none beside it
  EXPECT_FALSE(estimate.send_Bps[2].has_value());
  EXPECT_FALSE(estimate.receive_Bps[0].has_value());
}

// Hosts 0 and 1 behind a thin link; ranks 0 and 2 are on host 0.
TEST(LearntNetwork, RanksOfAHostShareWhatItCarries) {
  using Cut = LearntNetwork::Cut;
  const LearntNetwork hosts{
      {5, 6, 7}, {8, 0, 9}, {0, 1, 2, 3, 0, 4, 5, 6, 0}, {Cut{{0, 1}, true, 2.5}}};
  const std::vector<std::size_t> host_of{0, 1, 0, 2};
  const LearntNetwork ranks = runtime::among_ranks(hosts, host_of);
  EXPECT_EQ(ranks.send_Bps, (std::vector<double>{0, 6, 0, 7}));
  EXPECT_EQ(ranks.receive_Bps, (std::vector<double>{0, 0, 0, 9}));
  EXPECT_EQ(ranks.link(0, 2), 90);
  EXPECT_EQ(ranks.link(2, 1), 1);
  EXPECT_EQ(ranks.link(3, 2), 5);
  std::vector<Cut> expected{{{0, 2}, false, 5}, {{0, 2}, true, 8}, {{0, 1, 2}, true, 2.5}};
  ASSERT_EQ(ranks.cuts.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(ranks.cuts[i].ranks, expected[i].ranks);
    EXPECT_EQ(ranks.cuts[i].is_inward, expected[i].is_inward);
    EXPECT_EQ(ranks.cuts[i].rate_Bps, expected[i].rate_Bps);
  }
}

TEST(LearntNetwork, NothingFollowsFromNothing) {
  const LearntNetwork network = runtime::learn_network(std::vector<Traffic>(3, Traffic(3)));
  EXPECT_EQ(network.links_used(), 0U);
  EXPECT_EQ(bound_of(network, all_at(0, 3), names_of(3)).rate_Bps, 0);
  EXPECT_TRUE(estimate_of(network, names_of(3)).links.empty());
}

// Every part of a message reaches every rank from one that has it, at any times.
TEST(LearntNetwork, NoMessageIsFasterThanTheBound) {
  constexpr double kPart = 1e5;
  for (std::uint64_t seed = 1; seed <= draws(200); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t ranks = 2 + random() % 6;
    const std::size_t source = random() % ranks;
    const std::size_t parts = 1 + random() % 40;
    Message message(ranks);
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<std::size_t> holders{source};
      for (std::size_t i = 1; i < ranks; ++i) {
        const std::size_t to = (source + i) % ranks;
        const double begin_s = static_cast<double>(random() % 1'000'000) * 1e-6;
        const double end_s = begin_s + static_cast<double>(random() % 200'000) * 1e-6;
        message.bring(holders[random() % holders.size()], to, kPart, begin_s, end_s);
        holders.push_back(to);
      }
    }
    message.align();
    const double rate = kPart * static_cast<double>(parts) / message.seconds();
    const LearntNetwork network = runtime::learn_network(message.received());
    EXPECT_GE(bound_of(network, all_at(source, ranks), names_of(ranks)).rate_Bps,
              rate * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace espalier::testing::learnt_network_test
