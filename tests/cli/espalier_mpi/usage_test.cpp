// What the command line of espalier-mpi refuses without looking at a plan, in this process: no rank
// starts. That a refusal ends a run on several ranks with one line and status 2 is tested once, in
// tests/mpi/commands/command_line_test.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/espalier_mpi/options/options.hpp"
#include "support/errors.hpp"

namespace espalier::cli::usage_test {
namespace {

// The words after the program's name; '' is an empty word.
std::string refusal(const std::string& words) {
  std::vector<std::string> texts{"espalier-mpi"};
  std::istringstream stream(words);
  for (std::string word; stream >> word;) texts.push_back(word == "''" ? "" : word);
  std::vector<const char*> arguments;
  for (const std::string& text : texts) arguments.push_back(text.c_str());
  try {
    static_cast<void>(
        make_command_line({})->parse(static_cast<int>(arguments.size()), arguments.data()));
  } catch (const InputError& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return {};
}

struct Usage {
  const char* words;
  const char* reason;  // a part of the refusal
};

// Else GoogleTest prints their bytes.
void PrintTo(const Usage& usage, std::ostream* out) {
  *out << usage.words;
}

class RefusedUsage : public ::testing::TestWithParam<Usage> {};

TEST_P(RefusedUsage, NamesTheOptionAndTheReason) {
  const std::string text = refusal(GetParam().words);
  EXPECT_THAT(text, ::testing::HasSubstr(GetParam().reason));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("\n")));
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, RefusedUsage, ::testing::Values(
    Usage{"reduce reduce.json --type duoble", "--type: unknown type 'duoble'; did you mean 'double'?"},
    Usage{"reduce reduce.json --op summ", "--op: unknown operation 'summ'; did you mean 'sum'?"},
    Usage{"allgather allgather.json --schedule", "--schedule"},
    Usage{"allgather --rounds", "--rounds needs a plan; give PLAN"},
    Usage{"allgather --source 1", "--source"},
    Usage{"allgather allgather.json --no-cache",
          "--platform-out, --cache and --no-cache are for a run without a plan"},
    Usage{"reduce reduce.json --schedule --tuned tuned", "--tuned: --schedule needs the plan's segments"},
    Usage{"reduce reduce.json --rounds --tuned tuned", "--tuned: --rounds needs the plan's segments"},
    Usage{"reduce reduce.json --timeout 0s", "--timeout: '0s' is not a time above 0"},
    Usage{"allreduce --tuned t", "--tuned is for PLAN; give it, without --algorithm"},
    Usage{"alreduce reduce.json", "did you mean 'allreduce'?"},
    Usage{"bcast timed.json --schedule --tuned tuned", "--tuned: --schedule needs the plan's segments"},
    Usage{"allreduce reduce.json --in a --out b --verify", "--verify of what is combined needs a --message"},
    Usage{"allgather --in a --out b --message 1", "--message and --in are given; give one of them"},
    Usage{"allgather --in a", "--in and --out must be given together"},
    Usage{"barrier barrier.json --message 1", "--message: a barrier has none"},
    Usage{"", "no command given; one of: bcast, reduce, allreduce, allgather, reduce-scatter, scatter, "
              "gather, alltoall, barrier, bench, tune, probe"},
    Usage{"bcats good.json", "unknown command 'bcats'; did you mean 'bcast'?"},
    Usage{"bcast --map host", "--map needs a plan; give PLAN"},
    Usage{"bcast --window 3", "--window needs a plan; give PLAN"},
    Usage{"bcast --receives 3", "--receives needs a plan; give PLAN"},
    Usage{"bcast --ports 1", "--ports needs a plan; give PLAN"},
    Usage{"bcast --as-planned", "--as-planned needs a plan; give PLAN"},
    Usage{"bcast --rounds", "--rounds needs a plan; give PLAN"},
    Usage{"bcast --schedule", "--schedule needs a plan; give PLAN"},
    Usage{"bcast good.json --no-cache", "--no-cache are for a run without a plan"},
    Usage{"bcast --tuned tuned", "--tuned needs a plan; give PLAN"},
    Usage{"bcast --trace -", "--trace needs a file name"},
    Usage{"bcast --in a --out b --resume", "--resume needs a plan; give PLAN"},
    Usage{"bcast --root 1", "--root is for --decisions; without a plan --source names the rank"},
    Usage{"bcast --in a", "--in and --out must be given together"},
    Usage{"bcast --in a --out b --message 1", "--message and --in are given"},
    Usage{"bcast --source x", "--source"},
    Usage{"bcast good.json --source 1", "--source is for a run without a plan; a plan has its own source"},
    Usage{"bcast good.json --nonsense", "--nonsense"},
    Usage{"bcast good.json --message ten", "--message: "},
    Usage{"bcast good.json --message -5", "--message"},
    Usage{"bcast good.json --segment 0", "--segment: a segment has at least one byte"},
    Usage{"bcast good.json --repeat 0", "--repeat"},
    Usage{"bcast good.json --window 0", "--window"},
    Usage{"bcast good.json --ports 0", "--ports"},
    Usage{"bcast good.json --in a --out out --ports 1", "--ports needs a --message"},
    Usage{"bcast good.json --map hots", "unknown mapping 'hots'; did you mean 'host'?"},
    Usage{"bcast good.json --in a", "--in and --out must be given together"},
    Usage{"bcast good.json --in a --out out --message 1", "--message"},
    Usage{"bcast good.json --in a --out out --compare-mpi-bcast", "--compare-mpi-bcast"},
    Usage{"bcast good.json --in - --out out", "--in and --out need file names"},
    Usage{"bcast good.json --timeout 0s", "--timeout: '0s' is not a time above 0"},
    Usage{"bcast good.json --timeout 30parsecs", "--timeout: "},
    Usage{"bcast good.json --message 1 --trace -", "--trace needs a file name"},
    Usage{"bench good.json --repeat 0", "--repeat"},
    Usage{"bench --operation reduec", "--operation: unknown operation 'reduec'; did you mean 'reduce'?"},
    Usage{"reduce --map host", "--map is for PLAN; other plans are for ranks in order"},
    Usage{"bcast good.json --decisions table.json", "PLAN and --decisions are given; give one of them"},
    Usage{"bcast good.json --root 1", "--root is for --decisions and --algorithm; a plan has its own source"},
    Usage{"bcast good.json --algorithm chain", "PLAN and --algorithm are given; give one of them"},
    Usage{"reduce --decisions d.json --algorithm tac",
          "--decisions and --algorithm are given; give one of them"},
    Usage{"reduce good.json --groups g", "--groups is for a run without PLAN and --decisions"},
    Usage{"scatter good.json --cache c", "--platform-out, --cache and --no-cache are for a run without a plan"},
    Usage{"bcast --groups g", "--groups is for --algorithm"},
    Usage{"allgather --algorithm chain --map host", "--map is for PLAN; other plans are for ranks in order"},
    Usage{"bcast --decisions table.json --segment 1kB", "--decisions sets the segment size"},
    Usage{"bcast --decisions table.json --in table.json --out out{rank}", "--decisions needs a --message"},
    Usage{"reorder --rankfile -", "--rankfile needs a file name; standard output contains the order"},
    Usage{"reorder --hostfile -", "--hostfile needs a file name; standard output contains the order"},
    Usage{"reorder --hostfile f --rankfile f", "--rankfile and --hostfile are the same file"},
    Usage{"tune good.json", "--message is required"},
    Usage{"tune --message 1", "PLAN is missing; give a plan, or --algorithms all"},
    Usage{"tune good.json --algorithms all --message 1", "PLAN and --algorithms are given; give one of them"},
    Usage{"tune --algorithms lineer --parameters p --message 1",
          "--algorithms: unknown algorithm of broadcast 'lineer'; did you mean 'linear'?"},
    Usage{"tune --algorithms library --parameters p --message 1", "--algorithms: name others than MPI's own"},
    Usage{"tune --algorithms all --parameters p --message 1 --within 0.5", "--within: the least time itself is 1"},
    Usage{"tune --algorithms all --parameters p --message 1 --segment 1kB", "--platform and --segment are for a plan"},
    Usage{"tune --algorithms all --parameters p --message 1 --rounds", "--rounds, --schedule and --ports are for a plan"},
    Usage{"bcast good.json --tuned tuned --segment 1kB", "--tuned and --segment both set the segment size"},
    Usage{"bcast good.json --tuned tuned --rounds", "--tuned: --rounds needs the plan's segments"},
    Usage{"bcast good.json --tuned tuned --tuned tuned", "--tuned: there is only one plan; give one file"},
    Usage{"bcast good.json --message 1kB --resume", "--resume needs --in, and --repeat 1"},
    Usage{"probe --model plgp -o out.json", "--model: unknown model 'plgp'; did you mean 'plogp'?"},
    Usage{"probe --model plogp -o out.json --class hosts", "--class: unknown class 'hosts'"},
    Usage{"probe --model plogp -o out.json --pair 1,1", "--pair: a rank cannot send to itself"},
    Usage{"probe --model plogp -o out.json --pair 0,1 --class within-host", "--class and --pair both select the pairs"},
    Usage{"probe --model plogp -o out.json --largest 2GiB", "--largest: 2 GiB is out of range; give 2 B to 1 GiB"},
    Usage{"probe --model plogp -o out.json --resume", "--resume and --measurements cannot be combined"},
    Usage{"probe --model plogp -o out.json --measurements m.json", "--resume and --measurements cannot be combined"},
    Usage{"probe -o out.json --largest 1KiB", "--class, --pair, --largest and --statistics need --model"},
    Usage{"probe --model plogp -o - --json", "--json and -o - both write to standard output"},
    Usage{"probe", "--output is required"},
    Usage{"probe -o out.json --measurements out.json", "are the same file"},
    Usage{"probe -o - --json", "--json and -o - both write to standard output"},
    Usage{"probe -o - --resume", "--resume"},
    Usage{"probe -o out.json --nonsense", "--nonsense"},
    Usage{"probe --model plogp -o out.json --pair=,", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=0,", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=,1", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=0,1,2", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=-1,0", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=0:1", "--pair: "},
    Usage{"probe --model plogp -o out.json --pair=99999999999999999999,1", "--pair: "}
));
// clang-format on

}  // namespace
}  // namespace espalier::cli::usage_test
