// Rules files for Open MPI. tests/mpi/commands/open_mpi_rules_test.sh tests that Open MPI follows
// them.
#include "cost_models/decide/open_mpi_rules.hpp"

#include <gmock/gmock.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cost_models/networks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::open_mpi_rules_test {
namespace {

using espalier::testing::refusal;
using ::testing::HasSubstr;

// Reads a rules file as Open MPI does: a sequence of numbers, without the comments.
class Reader {
 public:
  explicit Reader(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      numbers_ << line.substr(0, line.find('#')) << ' ';
    }
  }
  std::int64_t next() {
    std::int64_t number = -1;
    numbers_ >> number;
    EXPECT_TRUE(numbers_) << "the text ends early";
    return number;
  }
  bool at_end() {
    std::string rest;
    return !(numbers_ >> rest);
  }

 private:
  std::stringstream numbers_;
};

struct Decided {
  std::int64_t algorithm = -1;
  std::int64_t segment = -1;
  bool operator==(const Decided&) const = default;
};

// Looks up a rule as Open MPI does: first the greatest number of ranks, then the greatest size,
// that does not exceed the call's; for fewer ranks than any, the first rules.
class OpenMpi {
 public:
  explicit OpenMpi(const std::string& text) {
    Reader reader(text);
    EXPECT_EQ(reader.next(), 1);
    collective_ = reader.next();
    for (std::int64_t sets = reader.next(); sets > 0; --sets) {
      const std::int64_t ranks = reader.next();
      EXPECT_TRUE(sets_.empty() || ranks > sets_.rbegin()->first);
      auto& rules = sets_[ranks];
      for (std::int64_t count = reader.next(); count > 0; --count) {
        const std::int64_t bytes = reader.next();
        EXPECT_TRUE(rules.empty() ? bytes == 0 : bytes > rules.rbegin()->first);
        const std::int64_t algorithm = reader.next();
        EXPECT_EQ(reader.next(), 0);  // topology
        rules[bytes] = {algorithm, reader.next()};
      }
      EXPECT_FALSE(rules.empty());
    }
    EXPECT_TRUE(reader.at_end());
  }
  [[nodiscard]] std::int64_t collective() const { return collective_; }
  [[nodiscard]] Decided decided(std::int64_t ranks, std::int64_t bytes) const {
    auto set = sets_.upper_bound(ranks);
    if (set != sets_.begin()) --set;
    return std::prev(set->second.upper_bound(bytes))->second;
  }

 private:
  std::int64_t collective_ = 0;
  std::map<std::int64_t, std::map<std::int64_t, Decided>> sets_;
};

std::vector<Method> all_methods(std::string_view operation, std::string_view model) {
  std::vector<const FormulaEntry*> entries;
  for (const FormulaEntry& entry : formulas()) {
    if (entry.operation == operation && entry.model() == model) entries.push_back(&entry);
  }
  const std::vector<Bytes> segments{{0}, {1024}, {8192}};
  return methods_of(entries, segments);
}

bool has_number(const Prediction& one) {
  return open_mpi_number(one).has_value();
}

constexpr Decided kOwn{0, 0};

TEST(OpenMpiNumber, IsAsOmpiInfoLists) {
  const auto number = [](const char* operation, const char* algorithm, std::uint64_t segment) {
    Prediction one{&entry_of(operation, algorithm, "loggp"), {}, {}};
    one.of.segment = {segment};
    return open_mpi_number(one).value_or(-1);
  };
  EXPECT_EQ(number("broadcast", "linear", 0), 1);
  EXPECT_EQ(number("broadcast", "linear", 1024), -1);  // Open MPI does not cut in this one
  EXPECT_EQ(number("broadcast", "pipeline", 1024), 3);
  EXPECT_EQ(number("broadcast", "split-binary", 1024), 4);
  EXPECT_EQ(number("broadcast", "binary", 1024), 5);
  EXPECT_EQ(number("broadcast", "binomial", 0), 6);
  EXPECT_EQ(number("broadcast", "two-tree", 1024), -1);
  EXPECT_EQ(number("broadcast", "pipeline", std::uint64_t{1} << 31U), -1);
  EXPECT_EQ(number("reduce", "flat-tree", 0), 1);
  EXPECT_EQ(number("reduce", "pipeline", 8192), 3);
  EXPECT_EQ(number("reduce", "binary", 8192), 4);
  EXPECT_EQ(number("reduce", "binomial", 8192), 5);
  EXPECT_EQ(number("alltoall", "linear", 0), 1);
  EXPECT_EQ(number("alltoall", "linear", 1024), -1);
  EXPECT_EQ(number("alltoall", "pairwise", 0), 2);
  EXPECT_EQ(number("allgather", "bruck", 0), 2);
  EXPECT_EQ(number("allgather", "recursive-doubling", 0), 3);
  EXPECT_EQ(number("allgather", "ring", 0), 4);
  EXPECT_EQ(number("allgather", "neighbor-exchange", 0), 5);
  EXPECT_EQ(number("reduce-scatter", "recursive-halving", 0), 2);
  EXPECT_EQ(number("reduce-scatter", "ring", 0), 3);
  EXPECT_EQ(number("reduce-scatter", "pairwise", 0), -1);
  EXPECT_EQ(number("gather", "linear", 0), 1);
  EXPECT_EQ(number("gather", "binomial", 0), 2);
  EXPECT_EQ(number("scatter", "linear", 0), 1);
  EXPECT_EQ(number("scatter", "binomial", 0), 2);
  EXPECT_EQ(number("barrier", "flat-tree", 0), 1);
  EXPECT_EQ(number("barrier", "double-ring", 0), 2);
  EXPECT_EQ(number("barrier", "recursive-doubling", 0), 3);
  EXPECT_EQ(number("barrier", "bruck", 0), 4);
}

TEST(OpenMpiRules, DecideAsTheDecisionDoes) {
  const std::map<std::string, std::int64_t> ids{
      {"allgather", 0}, {"alltoall", 3}, {"barrier", 6},         {"broadcast", 7},
      {"gather", 9},    {"reduce", 11},  {"reduce-scatter", 12}, {"scatter", 15}};
  for (const auto& [operation, id] : ids) {
    for (const std::string_view model : kModelNames) {
      DecisionGrid grid{{3, 4, 5, 8, 16, 31}, {{1}, {1024}, {4096}, {65536}, {1048576}}, {}};
      if (operation == "barrier") grid.messages = {{0}};
      const DecisionFunction decision =
          decide(all_methods(operation, model), frodo(model), grid, has_number);
      const OpenMpi rules(open_mpi_rules(decision));
      EXPECT_EQ(rules.collective(), id);
      for (const Prediction& best : decision.best) {
        const std::int64_t counted = static_cast<std::int64_t>(best.of.message.value) *
                                     (operation == "alltoall" ? best.of.ranks : 1);
        const Decided expected{*open_mpi_number(best),
                               static_cast<std::int64_t>(best.of.segment.value)};
        EXPECT_EQ(rules.decided(static_cast<std::int64_t>(best.of.ranks), counted), expected)
            << operation << ' ' << model << ' ' << best.of.ranks << ' ' << best.of.message.value;
      }
    }
  }
}

TEST(OpenMpiRules, ApplyBetweenTheSizesAndLeaveTheRestToOpenMpi) {
  const DecisionFunction decision = decide(all_methods("broadcast", "loggp"), frodo("loggp"),
                                           {{4, 8}, {{1024}, {1048576}}, {}}, has_number);
  const OpenMpi rules(open_mpi_rules(decision));
  const Decided at_4 = rules.decided(4, 1048576);
  EXPECT_EQ(at_4, (Decided{3, 8192}));
  EXPECT_EQ(rules.decided(7, 1048576), at_4);
  EXPECT_EQ(rules.decided(4, 1048575), rules.decided(4, 1024));
  EXPECT_EQ(rules.decided(4, 1048577), kOwn);
  EXPECT_EQ(rules.decided(4, 1023), kOwn);
  EXPECT_EQ(rules.decided(4, 0), kOwn);
  EXPECT_EQ(rules.decided(3, 1048576), kOwn);
  EXPECT_EQ(rules.decided(9, 1048576), kOwn);
}

TEST(OpenMpiRules, LeaveCellsWithoutMethodOrNumberToOpenMpi) {
  DecisionFunction decision =
      decide(all_methods("broadcast", "loggp"), frodo("loggp"), {{4}, {{0}, {64}, {4096}}, {}});
  decision.best[0].entry = nullptr;
  decision.best[1].entry = &entry_of("broadcast", "two-tree", "loggp");
  decision.best[2].entry = &entry_of("broadcast", "binomial", "loggp");
  decision.best[2].of.segment = {0};
  const OpenMpi rules(open_mpi_rules(decision));
  EXPECT_EQ(rules.decided(4, 0), kOwn);
  EXPECT_EQ(rules.decided(4, 64), kOwn);
  EXPECT_EQ(rules.decided(4, 4096), (Decided{6, 0}));
}

TEST(OpenMpiRules, TheWholeTextOfASmallFile) {
  const std::vector<const FormulaEntry*> entries{&entry_of("barrier", "bruck", "loggp")};
  const std::vector<Bytes> whole{{0}};
  EXPECT_EQ(open_mpi_rules(decide(methods_of(entries, whole), frodo("loggp"), {{2, 3}, {{0}}, {}})),
            "# Rules for Open MPI 4.1, coll_tuned_dynamic_rules_filename; by espalier decide.\n"
            "# A rule: least message size, number of the algorithm (0: Open MPI's own choice), "
            "topology\n"
            "# (unused), segment size (0: not cut); sizes in bytes.\n"
            "1 # collective\n"
            "6 # MPI_Barrier\n"
            "3 # numbers of ranks\n"
            "0 # ranks or more\n1 # rules\n0 0 0 0 # Open MPI's own choice\n"
            "2 # ranks or more\n1 # rules\n0 4 0 0 # bruck\n"
            "4 # ranks or more\n1 # rules\n0 0 0 0 # Open MPI's own choice\n");
}

TEST(OpenMpiRules, RefuseAnAlltoallThatOpenMpiCannotCount) {
  const std::vector<const FormulaEntry*> entries{&entry_of("alltoall", "pairwise", "loggp")};
  const std::vector<Bytes> whole{{0}};
  const DecisionFunction decision =
      decide(methods_of(entries, whole), frodo("loggp"), {{4}, {{std::uint64_t{1} << 62U}}, {}});
  EXPECT_THAT(refusal([&] { return open_mpi_rules(decision); }),
              HasSubstr("4611686018427387904 bytes to each of 4 ranks"));
}

}  // namespace
}  // namespace espalier::cost_models::open_mpi_rules_test
