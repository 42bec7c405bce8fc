// A study's folder: resuming, and refusals.
#include "experiments/journal.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/files.hpp"
#include "tests/experiments/small_study.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::experiments::journal_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

class JournalTest : public FolderTest {
 protected:
  // Runs the units that the folder does not have yet; returns instances.csv.
  std::string finish(const Study& study) const {
    Journal journal(study, path("s"), false);
    std::vector<std::size_t> units;
    for (std::size_t unit = 0; unit < study.unit_count(); ++unit) {
      if (!journal.done().contains(unit)) units.push_back(unit);
    }
    run_units(study, units, 2,
              [&](std::size_t unit, Result&& result) { journal.append(unit, std::move(result)); });
    return instances_csv(study, journal.done());
  }
  [[nodiscard]] std::string done() const { return read_text(path("s/done.jsonl")); }
  [[nodiscard]] std::string refused(const Study& study) const {
    return refusal([&] { const Journal journal(study, path("s"), false); });
  }
};

TEST_F(JournalTest, ReadsBackWhatWasWritten) {
  const Study study = small_study("all");
  const std::string computed = instances_csv(study, results_of(study, 1));
  EXPECT_EQ(finish(study), computed);
  const Journal journal(study, path("s"), false);
  ASSERT_EQ(journal.done().size(), study.unit_count());
  EXPECT_EQ(instances_csv(study, journal.done()), computed);
}

TEST_F(JournalTest, AnInterruptedRunResumesToTheSameBytes) {
  const Study study = small_study();
  const std::string whole = finish(study);
  const std::string lines = done();
  for (const double share : {0.0, 0.03, 0.37, 0.5, 0.99}) {
    const auto size = static_cast<std::size_t>(share * static_cast<double>(lines.size()));
    write_text(path("s/done.jsonl"), lines.substr(0, size));
    EXPECT_EQ(finish(study), whole) << "cut to " << size;
    // The incomplete line has been dropped, so every line is one result.
    const Journal journal(study, path("s"), false);
    EXPECT_EQ(journal.done().size(), study.unit_count());
  }
}

TEST_F(JournalTest, DoneUnitsAreNotDoneAgain) {
  Study study = small_study();
  const std::string whole = finish(study);
  const std::string lines = done();
  for (Case& drawn : study.cases) {
    drawn.make = []() -> std::shared_ptr<const platforms::Platform> {
      throw std::runtime_error("done before");
    };
  }
  EXPECT_EQ(finish(study), whole);
  EXPECT_EQ(done(), lines);
}

TEST_F(JournalTest, OtherSettingsAreRefusedByName) {
  finish(small_study());
  const std::string before = done();
  const std::string file = path("s/study.json");
  EXPECT_THAT(refused(small_study("optimal,grow")), StartsWith(file + ": /algorithms: "));
  Study other = small_study();
  other.models.pop_back();
  EXPECT_EQ(refused(other),
            file +
                ": /models: the folder contains a study with other settings "
                "('[\"one-port\",\"multi-port\"]' there, '[\"one-port\"]' here); use another "
                "folder, or start over with --restart");
  other = small_study();
  other.origin["seed"] = 8;
  EXPECT_THAT(refused(other), StartsWith(file + ": /seed: "));
  other = small_study();
  other.limits.deadline = Deadline(Seconds{1});
  EXPECT_THAT(refused(other), StartsWith(file + ": /time_limit_s: "));
  other = small_study();
  other.operation = planner::Operation::kReduce;
  EXPECT_THAT(refused(other), StartsWith(file + ": /operation: "));
  other = small_study();
  other.any_root = true;
  EXPECT_THAT(refused(other), StartsWith(file + ": /any_root: "));
  other = small_study();
  other.limits.guided_by = platforms::Model::kOnePort;
  EXPECT_THAT(refused(other), StartsWith(file + ": /guided_by: "));
  other = small_study();
  other.relative_to = platforms::Model::kOnePort;
  EXPECT_THAT(refused(other), StartsWith(file + ": /relative_to: "));
  EXPECT_EQ(done(), before);
}

TEST_F(JournalTest, AnOlderStudyHasTheDefaultsOfNewerSettings) {
  const Study study = small_study();
  const std::string whole = finish(study);
  Json settings = parse_json(read_text(path("s/study.json")), "study.json");
  for (const char* newer : {"operation", "any_root", "guided_by", "relative_to"})
    settings.erase(newer);
  write_text(path("s/study.json"), settings.dump());
  EXPECT_EQ(finish(study), whole);
}

TEST_F(JournalTest, RestartStartsOverAndKeepsOtherFiles) {
  finish(small_study());
  write_text(path("s/relative-vs-nodes-one-port.svg"), "old");
  write_text(path("s/instances.csv"), "old");
  write_text(path("s/notes.txt"), "mine");
  const Study other = small_study("chain");
  const Journal journal(other, path("s"), true);
  EXPECT_TRUE(journal.done().empty());
  EXPECT_EQ(done(), "");
  EXPECT_FALSE(std::filesystem::exists(path("s/relative-vs-nodes-one-port.svg")));
  EXPECT_FALSE(std::filesystem::exists(path("s/instances.csv")));
  EXPECT_EQ(read_text(path("s/notes.txt")), "mine");
}

TEST_F(JournalTest, OneRunAtATime) {
  const Study study = small_study();
  const Journal journal(study, path("s"), false);
  EXPECT_EQ(refused(study), path("s/done.jsonl") + ": another study is running in this folder");
}

TEST_F(JournalTest, AnInvalidJournalIsRefused) {
  const Study study = small_study();
  finish(study);
  const std::string file = path("s/done.jsonl");
  const std::string first = done().substr(0, done().find('\n') + 1);
  write_text(file, first + "garbage\n");
  EXPECT_THAT(refused(study), StartsWith(file + ":2: line 1, column"));
  write_text(file, "{\"unit\": 1}\n");
  EXPECT_THAT(refused(study), StartsWith(file + ":1: "));
  std::string out_of_range = first;
  const std::size_t at = first.find("\"unit\":") + 7;
  out_of_range.replace(at, first.find(',') - at, "16");
  write_text(file, out_of_range);
  EXPECT_EQ(refused(study), file + ":1: /unit: the study has no such unit");
  std::filesystem::remove(path("s/study.json"));
  EXPECT_THAT(refused(study), HasSubstr("study.json: missing"));
}

TEST_F(JournalTest, AFolderThatCannotBeCreatedIsRefused) {
  write_text(path("s"), "a file");
  EXPECT_THAT(refused(small_study()), StartsWith(path("s") + ": cannot write: "));
}

}  // namespace
}  // namespace espalier::experiments::journal_test
