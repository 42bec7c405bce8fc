// The syntax of commands, and the messages for wrong usage.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::usage_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Usage : public CliTest {};

TEST_F(Usage, HelpAndVersionSucceed) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit status: 0 done"));
  EXPECT_THAT(help.err, IsEmpty());
  const Finished version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, StartsWith("espalier 0."));
}

TEST_F(Usage, EveryCommandHasHelp) {
  for (const char* command :
       {"plan", "compare", "bound", "explain", "verify", "simulate", "predict", "decide", "fit",
        "show", "convert", "export", "generate", "run", "study", "list", "doctor"}) {
    const Finished help = run({command, "--help"});
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("espalier " + std::string(command)));
    EXPECT_THAT(help.err, IsEmpty()) << command;
  }
}

TEST_F(Usage, HelpNamesEveryAlgorithm) {
  const Json list = run_json({"list", "algorithms", "--json"});
  const Finished help = run({"plan", "--help"});
  for (const Json& entry : list.at("algorithms")) {
    EXPECT_THAT(help.out, HasSubstr(entry.at("name").get<std::string>()));
  }
}

struct WrongUsage {
  std::vector<std::string> arguments;
  std::string line;  // as printed, without "espalier: "
};

TEST_F(Usage, WrongUsageIsOneLineAndStatusTwo) {
  const std::vector<WrongUsage> cases{
      {{},
       "no command given; one of: plan, compare, bound, explain, verify, simulate, predict, "
       "decide, fit, show, report, convert, export, generate, run, study, list, doctor"},
      {{"pln"}, "unknown command 'pln'; did you mean 'plan'?"},
      {{"generate"},
       "generate: no family given; one of: random, tiers, star, loggp, two-clusters, fat-tree, "
       "torus, dragonfly, multi-region"},
      {{"generate", "rndom"},
       "generate: unknown family 'rndom'; did you mean 'random'? one of: random, tiers, star, "
       "loggp, two-clusters, fat-tree, torus, dragonfly, multi-region"},
      {{"plan", "p.json"}, "--source is required"},
      {{"plan", "p.json", "--source"}, "plan: --source: 1 required NAME missing"},
      {{"plan", "--source", "a"}, "plan: platform is required"},
      {{"list", "algorithms", "models"}, "list: unexpected argument 'models'"},
      {{"decide", "p.json"},
       "decide: unexpected argument 'p.json'; this command takes options only: --parameters FILE, "
       "--decisions FILE, "
       "--against FILE, --open-mpi-rules FILE, --mpich-selection FILE, --mpich-library FILE (see "
       "--help)"},
      {{"list", "modles"},
       "list: unknown registry 'modles'; did you mean 'models'? one of: algorithms, models, "
       "formats, "
       "families"},
  };
  for (const WrongUsage& wrong : cases) {
    const Finished finished = run(wrong.arguments);
    EXPECT_EQ(finished.status, 2) << wrong.line;
    EXPECT_EQ(finished.err, "espalier: " + wrong.line + '\n');
    EXPECT_THAT(finished.out, IsEmpty());
  }
}

TEST_F(Usage, AnUnknownOptionSuggestsTheNearest) {
  EXPECT_THAT(refusal_of(run({"plan", "p.json", "--sorce", "a"})),
              StartsWith("espalier: plan: unknown option '--sorce'; did you mean '--source'?"));
}

TEST_F(Usage, RefusalsNameTheOption) {
  write("p.json", kTriangle);
  const auto refusal = [this](const std::string& option, const std::string& value) {
    const Finished finished = run({"plan", "p.json", "--source", "a", option, value});
    EXPECT_EQ(finished.status, 2) << option;
    EXPECT_TRUE(is_one_line(finished.err));
    EXPECT_THAT(finished.out, IsEmpty()) << option;
    return finished.err;
  };
  EXPECT_EQ(refusal("--max-trees", "0"), "espalier: --max-trees: a plan needs at least one tree\n");
  EXPECT_EQ(refusal("--max-trees", "1,,2"), "espalier: --max-trees: '' is not a whole number\n");
  EXPECT_EQ(refusal("--max-trees", "-3"), "espalier: --max-trees: '-3' is not a whole number\n");
  EXPECT_EQ(refusal("--max-depth", "0"),
            "espalier: --max-depth: a plan needs at least a depth of one edge\n");
  EXPECT_EQ(refusal("--max-depth", "x"), "espalier: --max-depth: 'x' is not a whole number\n");
  EXPECT_EQ(refusal("--gap", "1.5"), "espalier: --gap: must be at least 0 and below 1\n");
  EXPECT_EQ(refusal("--gap", "nan"), "espalier: --gap: must be at least 0 and below 1\n");
  EXPECT_EQ(refusal("--segment", "0"), "espalier: --segment: must be at least one byte\n");
  EXPECT_EQ(refusal("--message", "0"), "espalier: --message: must be at least one byte\n");
  EXPECT_THAT(refusal("--message", "much"), StartsWith("espalier: --message: "));
  EXPECT_EQ(refusal("--time-limit", "0 s"), "espalier: --time-limit: must be above zero\n");
  EXPECT_THAT(refusal("--time-limit", "10 parsecs"), StartsWith("espalier: --time-limit: "));
  EXPECT_THAT(refusal("--send-cap", "a=10"), StartsWith("espalier: --send-cap: "));
  EXPECT_EQ(
      refusal("--latency", "ocupies"),
      "espalier: --latency: unknown choice 'ocupies'; did you mean 'occupies'? one of: delays, "
      "occupies\n");
  EXPECT_THAT(refusal("--gap", "small"), StartsWith("espalier: plan: "));
}

TEST_F(Usage, UnknownNamesSuggestTheNearest) {
  write("p.json", kTriangle);
  const auto refusal = [this](const std::vector<std::string>& more) {
    return refusal_of(run(joined({"plan", "p.json"}, more)));
  };
  EXPECT_THAT(refusal({"--source", "a", "--algorithm", "gorw"}),
              StartsWith("espalier: unknown algorithm 'gorw'; did you mean 'grow'?"));
  EXPECT_EQ(refusal({"--source", "a", "--algorithm", "hierarhical:grow"}),
            "espalier: unknown algorithm 'hierarhical'; did you mean 'hierarchical'?\n");
  EXPECT_THAT(refusal({"--source", "a", "--algorithm", "hierarchical:gorw"}),
              StartsWith("espalier: algorithm 'hierarchical:gorw': unknown inner algorithm 'gorw'; "
                         "did you mean 'grow'?"));
  EXPECT_THAT(
      refusal({"--source", "a", "--algorithm", "hierarchical:hierarchical:binomial"}),
      StartsWith("espalier: algorithm 'hierarchical:hierarchical:binomial': 'hierarchical' "
                 "cannot be the inner algorithm, because it takes one itself; use one of: "));
  EXPECT_THAT(
      refusal({"--source", "a", "--algorithm", "reorder:optimal"}),
      HasSubstr(
          "'optimal' cannot be the inner algorithm, because it makes several trees; use one of: "));
  EXPECT_EQ(refusal({"--source", "a", "--algorithm", "grow:chain"}),
            "espalier: algorithm 'grow:chain': 'grow' takes no inner algorithm; these do: "
            "hierarchical, hierarchical-node, hierarchical-group, reorder\n");
  EXPECT_THAT(refusal({"--source", "a", "--model", "oneport"}),
              HasSubstr("unknown model 'oneport'; did you mean 'one-port'?"));
  EXPECT_THAT(refusal({"--source", "d"}), HasSubstr("'d'"));
  EXPECT_THAT(refusal({"--source", "a", "--from", "jsn"}), HasSubstr("did you mean 'json'?"));
}

TEST_F(Usage, CsvAndJsonExcludeEachOther) {
  write("p.json", kTriangle);
  const Finished finished = run({"compare", "p.json", "--json", "--csv"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_TRUE(is_one_line(finished.err));
}

TEST_F(Usage, ListShowsEveryRegistry) {
  const Json list = run_json({"list", "--json"});
  EXPECT_THAT(keys_of(list), ElementsAre("algorithms", "models", "formats", "families"));
  const Finished text = run({"list"});
  EXPECT_EQ(text.status, 0);
  for (const auto& [registry, entries] : list.items()) {
    EXPECT_THAT(text.out, HasSubstr(registry + ":\n"));
    EXPECT_FALSE(entries.empty()) << registry;
    for (const Json& entry : entries) {
      EXPECT_THAT(text.out, HasSubstr('\n' + entry.at("name").get<std::string>() + ' '));
      EXPECT_FALSE(entry.at("summary").get<std::string>().empty());
    }
  }
}

TEST_F(Usage, HelpAndListShowWhichAlgorithmsTakeAnInnerOne) {
  const Json list = run_json({"list", "algorithms", "--json"});
  const Finished table = run({"list", "algorithms"});
  std::string takers;
  for (const Json& entry : list.at("algorithms")) {
    EXPECT_THAT(keys_of(entry), ElementsAre("name", "summary", "source", "complexity", "guarantee",
                                            "operations", "inner"));
    if (entry.at("inner").is_null()) continue;
    EXPECT_EQ(entry.at("inner"), "binomial");
    takers += (takers.empty() ? "" : ", ") + entry.at("name").get<std::string>();
  }
  EXPECT_EQ(takers, "hierarchical, hierarchical-node, hierarchical-group, reorder");
  EXPECT_THAT(table.out, ::testing::ContainsRegex("name +summary +operations +inner\n"));
  EXPECT_THAT(table.out, ::testing::ContainsRegex("reorder .* binomial\n"));
  EXPECT_THAT(table.out, ::testing::ContainsRegex("grow .* -\n"));
  for (const char* command : {"plan", "compare"}) {
    // Joins the lines of help.
    std::string words;
    for (const char letter : run({command, "--help"}).out) {
      const bool space = letter == ' ' || letter == '\n';
      if (!space || (!words.empty() && words.back() != ' ')) words += space ? ' ' : letter;
    }
    EXPECT_THAT(words, HasSubstr("as in hierarchical:grow (default binomial): " + takers))
        << command;
  }
}

TEST_F(Usage, ListOfOneRegistryIsAPlainTable) {
  const Finished models = run({"list", "models"});
  EXPECT_EQ(models.status, 0);
  EXPECT_THAT(models.out, StartsWith("name "));
  EXPECT_THAT(models.out, HasSubstr("bounded-multi-port"));
}

}  // namespace

}  // namespace espalier::cli::usage_test
