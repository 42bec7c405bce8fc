// export: files and folders, libraries' own algorithms, and refusals. What the formats'
// interpreters make of the files: tests/simulate/export.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::export_test {

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExportCommand : public CliTest {
 protected:
  ExportCommand() {
    write("net.json", kTriangle);
    write("plan.json", kChainPlan);
  }
  [[nodiscard]] std::string text(std::vector<std::string> more) const {
    more.insert(more.begin(), {"export", "plan.json", "--to"});
    const Finished finished = run(more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished.out;
  }
};

TEST_F(ExportCommand, WritesAFileOrStandardOutput) {
  const std::string goal = text({"goal", "--message", "3MiB"});
  EXPECT_THAT(goal, HasSubstr("num_ranks 3\n"));
  EXPECT_EQ(text({"goal", "--message", "3MiB", "-o", "plan.goal"}), "");
  EXPECT_EQ(read("plan.goal"), goal);
  EXPECT_THAT(text({"msccl++"}), HasSubstr(R"("collective": "broadcast")"));
}

TEST_F(ExportCommand, NamesTheLogGPParametersOfThePlatform) {
  EXPECT_THAT(text({"goal", "--platform", "net.json"}),
              HasSubstr("times in fs\n// LogGOPSim -L 1000000 -o 0 -g 1000000 -G 1000000 "));
}

TEST_F(ExportCommand, WritesAFolder) {
  EXPECT_EQ(text({"chakra", "-o", "traces"}), "");
  EXPECT_TRUE(exists("traces/plan.0.et"));
  EXPECT_TRUE(exists("traces/plan.2.et"));
  EXPECT_EQ(text({"simgrid", "--platform", "net.json", "-o", "replay"}), "");
  EXPECT_EQ(read("replay/hosts.txt"), "a\nb\nc\n");
  EXPECT_THAT(read("replay/platform.xml"), HasSubstr("<platform version=\"4.1\">"));
}

// Whether Open MPI accepts such rules: tests/mpi/commands/open_mpi_rules_test.sh.
TEST_F(ExportCommand, StatesAChainAsOpenMPIsPipeline) {
  EXPECT_THAT(text({"ompi", "--segment", "64KiB"}),
              HasSubstr("7 # MPI_Bcast\n3 # numbers of ranks\n0 # ranks or more\n1 # rules\n"
                        "0 0 0 0 # Open MPI's own choice\n3 # ranks or more\n1 # rules\n"
                        "0 3 0 65536 # pipeline\n4 # ranks or more\n"));
  EXPECT_THAT(text({"ompi", "--segment", "64KiB", "--message", "1MiB"}),
              HasSubstr("0 0 0 0 # Open MPI's own choice\n1048576 3 0 65536 # pipeline\n"));
}

TEST_F(ExportCommand, StatesTreesAsMPICHs) {
  EXPECT_THAT(text({"mpich", "--segment", "64KiB"}),
              EndsWith("MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0\n"
                       "MPIR_CVAR_BCAST_INTRA_ALGORITHM=pipelined_tree\n"
                       "MPIR_CVAR_BCAST_TREE_TYPE=kary\nMPIR_CVAR_BCAST_TREE_KVAL=1\n"
                       "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE=65536\n"));
  ASSERT_EQ(run({"plan", "net.json", "--source", "b", "--operation", "reduce", "--algorithm",
                 "binomial", "-o", "plan.json"})
                .status,
            0);
  EXPECT_THAT(text({"mpich"}), EndsWith("MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0\n"
                                        "MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial\n"));
}

TEST_F(ExportCommand, RefusesWhatIsNotALibrarysAlgorithm) {
  ASSERT_EQ(
      run({"plan", sample("seed-sketch.json"), "--source", "P0", "-o", "several.json"}).status, 0);
  for (const char* library : {"ompi", "mpich"}) {
    EXPECT_EQ(
        refusal_of(run({"export", "several.json", "--to", library})),
        "espalier: several.json: /broadcast_trees: no MPI library has these trees; those of "
        "chain, binary, binomial, flat and split-binary in the order of ranks can be stated\n");
  }
  ASSERT_EQ(run({"plan", "net.json", "--operation", "allgather", "-o", "all.json"}).status, 0);
  EXPECT_EQ(refusal_of(run({"export", "all.json", "--to", "ompi"})),
            "espalier: all.json: /operation: an allgather cannot be stated as a library's "
            "algorithm; broadcasts and reductions to and from all ranks can\n");
}

TEST_F(ExportCommand, RefusesOptionsThatDoNotFit) {
  EXPECT_THAT(refusal_of(run({"export", "plan.json", "--to", "gaol"})),
              StartsWith("espalier: --to: unknown format 'gaol'; did you mean 'goal'?"));
  EXPECT_THAT(refusal_of(run({"export", "plan.json", "--to", "simgrid", "-o", "x"})),
              HasSubstr("--to: simgrid contains the platform; add --platform"));
  EXPECT_THAT(refusal_of(run({"export", "plan.json", "--to", "chakra"})),
              HasSubstr("--output: this format has several files; name a folder"));
  EXPECT_THAT(refusal_of(run({"export", "plan.json", "--to", "ompi", "--compute", "1GB/s"})),
              HasSubstr("--compute: ompi has no times of additions"));
  EXPECT_EQ(files(), (std::vector<std::string>{"net.json", "plan.json"}));
}

}  // namespace
}  // namespace espalier::cli::export_test
