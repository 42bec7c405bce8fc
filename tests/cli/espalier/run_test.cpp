// espalier run: copies to processes of this host, of which some are killed.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/text.hpp"
#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::run_test {

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunCommand : public CliTest {
 protected:
  static std::string message(std::size_t bytes) {
    std::mt19937_64 random(bytes);
    std::string text(bytes, '\0');
    for (char& one : text) one = static_cast<char>(random());
    return text;
  }
  // The workers that this test's program has started: they have its folder.
  [[nodiscard]] std::vector<pid_t> workers() const {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const auto process = parse_whole<pid_t>(entry.path().filename().string());
      if (!process || fs::read_symlink(entry.path() / "cwd", ignored) != folder()) continue;
      std::ifstream words(entry.path() / "cmdline");
      const std::string text{std::istreambuf_iterator<char>(words), {}};
      if (text.find("--worker") != std::string::npos) found.push_back(*process);
    }
    std::ranges::sort(found);
    return found;
  }
  // Kills one of `count` workers, the first of which is the source's, `later` after their start.
  void kill_one(std::size_t count, std::size_t which, std::chrono::milliseconds later) const {
    for (int looks = 0; looks < 200 && workers().size() < count; ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::this_thread::sleep_for(later);
    const std::vector<pid_t> living = workers();
    if (!living.empty()) ::kill(living[which % living.size()], SIGKILL);
  }
};

const std::string kFive = "localhost,localhost,localhost,localhost,localhost";

TEST_F(RunCommand, EndsWithEveryByteWhoeverIsKilledAndWhenever) {
  const std::string text = message(6'000'001);
  write("in", text);
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    // Half of the time it is the source.
    const std::size_t which = seed % 2 == 0 ? 0 : random() % 5;
    const std::chrono::milliseconds later(random() % 150);
    auto finished = std::async(std::launch::async, [&] {
      return run({"run", "--hosts", kFive, "--", "bcast", "--in", "in", "--out", "out{rank}"});
    });
    kill_one(5, which, later);
    const Finished end = finished.get();
    ASSERT_EQ(end.status, 0) << "seed " << seed << "\n" << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr("5 of 5 hosts"));
    for (int rank = 0; rank < 5; ++rank) {
      const std::string out = "out" + std::to_string(rank);
      ASSERT_EQ(read(out), text) << "seed " << seed;
      fs::remove(folder() / out);
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder())) {
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
    }
  }
}

TEST_F(RunCommand, ListsTheHostsThatLackTheFile) {
  write("in", "text");
  std::vector<std::string> words{"run",   "--hosts", "localhost,gone", "--launch",
                                 "false", "--",      "bcast",          "--in",
                                 "in",    "--out",   "{host}"};
  const Finished some = run(words);
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(some.out, HasSubstr("gone lacks the file (0 of 1 segments): it ended\n"));
  EXPECT_EQ(read("localhost"), "text");
  words.emplace_back("--all");
  EXPECT_EQ(run(words).status, 6);
  words.back() = "--json";
  const Json json = run_json(words);
  EXPECT_EQ(json.at("hosts_with_all"), 1);
  EXPECT_EQ(json.at("lacking").at(0).at("host"), "gone");
}

TEST_F(RunCommand, ResumesFromPartsAndChecksThem) {
  const std::string text = message(1'000'000);
  write("in", text);
  // A part of the right size whose map is of no message: nothing of it may be used.
  write(".espalier-out1.part", std::string(text.size(), 'x'));
  write(".espalier-out1.part.segments", "damaged");
  const Finished end = run({"run", "--hosts", "localhost,localhost", "--", "bcast", "--in", "in",
                            "--out", "out{rank}", "--resume"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(read("out1"), text);
  EXPECT_THAT(files(), ElementsAre("in", "out0", "out1"));
}

TEST_F(RunCommand, Refusals) {
  const auto refused = [&](const std::vector<std::string>& words) {
    const Finished end = run(words);
    EXPECT_EQ(end.status, 2);
    return end.err.substr(end.err.rfind("espalier: "));
  };
  write("in", "text");
  EXPECT_EQ(refused({"run", "--", "bcast", "--in", "in", "--out", "out"}),
            "espalier: --hosts is missing: a file, or names separated by commas\n");
  EXPECT_EQ(refused({"run", "--hosts", kFive, "--", "bcast", "--in", "in", "--out", "out"}),
            "espalier: localhost would write 'out' twice; put {rank} into --out\n");
  EXPECT_EQ(refused({"run", "--hosts", "a", "--", "bcast", "--in", "in", "--out", "out", "--source",
                     "b"}),
            "espalier: --source: 'b' is not among the hosts\n");
  EXPECT_EQ(refused({"run", "--hosts", "localhost", "--", "bcast", "--in", "no", "--out", "out"}),
            "espalier: localhost: no: cannot open: No such file or directory\n");
  EXPECT_THAT(files(), ElementsAre("in"));
}

}  // namespace

}  // namespace espalier::cli::run_test
