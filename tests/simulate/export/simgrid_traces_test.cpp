// SimGrid's traces, run by an interpreter of its replay: ranks that act one after the other, sends
// that do not wait.
#include "simulate/export/simgrid_traces.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "tests/simulate/export/deliveries.hpp"

namespace espalier::simulate::simgrid_traces_test {
namespace {

using espalier::testing::Contributions;
using espalier::testing::Deliveries;

struct Action {
  std::string name;
  std::vector<std::uint64_t> numbers{};
};

// Of "RANK NAME NUMBER...", all of one rank.
std::vector<Action> parse(const std::string& text, std::uint64_t rank) {
  std::vector<Action> actions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::uint64_t of = 0;
    Action action;
    in >> of >> action.name;
    EXPECT_EQ(of, rank) << line;
    for (std::uint64_t number = 0; in >> number;) action.numbers.push_back(number);
    actions.push_back(action);
  }
  return actions;
}

class Replay {
 public:
  Replay(const planner::Plan& plan, const Transfers& transfers, Deliveries& deliveries)
      : deliveries_(deliveries), ranks_(transfers.ranks) {
    const std::vector<ExportedFile> files = simgrid_traces(plan, transfers);
    std::string names;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].actions = parse(files[rank].text, rank);
      names += files[rank].name + '\n';
    }
    EXPECT_EQ(files[ranks_.size()].text, names);
  }

  void run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        while (ranks_[rank].next < ranks_[rank].actions.size() && step(rank)) {
          ++ranks_[rank].next;
          moves = true;
        }
      }
    }
    for (const Rank& rank : ranks_) {
      EXPECT_EQ(rank.next, rank.actions.size()) << "a rank waits without end";
    }
    EXPECT_TRUE(sent_.empty()) << "a message is not received";
  }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // from, to, tag
  struct Rank {
    std::vector<Action> actions;
    std::size_t next = 0;
    std::map<Key, std::uint64_t> posted{};  // bytes
  };
  struct Message {
    std::uint64_t bytes;
    Contributions data;
  };

  // False: it has to wait.
  bool step(std::uint32_t rank) {
    Rank& here = ranks_[rank];
    const auto& [name, numbers] = here.actions[here.next];
    if (name == "isend") {
      const bool is_new =
          sent_
              .try_emplace({rank, numbers.at(0), numbers.at(1)},
                           Message{numbers.at(2), deliveries_.sent(rank, numbers.at(1))})
              .second;
      EXPECT_TRUE(is_new) << "two messages that look the same";
    } else if (name == "irecv") {
      here.posted[{numbers.at(0), rank, numbers.at(1)}] = numbers.at(2);
    } else if (name == "wait") {
      if (numbers.at(0) == rank) return true;  // a send: it ends without its receiver's doing
      EXPECT_EQ(numbers.at(1), rank);
      return take(here, {numbers.at(0), numbers.at(1), numbers.at(2)});
    } else if (name == "waitall") {
      while (!here.posted.empty()) {
        if (!take(here, here.posted.begin()->first)) return false;
      }
    } else {
      EXPECT_TRUE(name == "init" || name == "finalize") << name;
    }
    return true;
  }

  bool take(Rank& here, Key key) {
    const auto found = sent_.find(key);
    if (found == sent_.end()) return false;
    EXPECT_EQ(here.posted.at(key), found->second.bytes);
    deliveries_.received(static_cast<std::uint32_t>(std::get<1>(key)), std::get<2>(key),
                         found->second.bytes, found->second.data);
    here.posted.erase(key);
    sent_.erase(found);
    return true;
  }

  Deliveries& deliveries_;
  std::vector<Rank> ranks_;
  std::map<Key, Message> sent_;
};

TEST(SimGridTraces, DeliverEveryOperation) {
  espalier::testing::expect_delivers_every_operation<Replay>();
}

TEST(SimGridTraces, DeliverHalvesThatAreExchanged) {
  espalier::testing::expect_delivers<Replay>(espalier::testing::exchanging_plan(), {100'000});
}

// Without a second word, `init` makes sizes bytes.
TEST(SimGridTraces, AreWhatSmpirunReads) {
  planner::Plan plan = planner::plan_of({"chain", planner::Operation::kBroadcast, 3, 0, {1e9}});
  plan.nodes[1] = "aws:us-east-1";
  const std::vector<ExportedFile> files = simgrid_traces(plan, transfers_of(plan, {3}, {2}));
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files[1].name, "rank1.tit");
  EXPECT_EQ(files[1].text,
            "1 init\n1 irecv 0 0 2\n1 irecv 0 1 1\n1 wait 0 1 0\n1 isend 2 0 2\n1 wait 0 1 1\n"
            "1 isend 2 1 1\n1 waitall\n1 finalize\n");
  EXPECT_EQ(files[3].text, "rank0.tit\nrank1.tit\nrank2.tit\n");
  EXPECT_EQ(files[4].text, "rank0\naws:us-east-1:1\nrank2\n");
}

}  // namespace
}  // namespace espalier::simulate::simgrid_traces_test
