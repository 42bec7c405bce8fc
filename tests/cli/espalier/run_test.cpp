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
  [[nodiscard]] fs::path work() const { return fs::canonical(folder() / "work"); }
  // The workers that this test's program has started: they have its folder.
  [[nodiscard]] std::vector<pid_t> workers() const {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const auto process = parse_whole<pid_t>(entry.path().filename().string());
      if (!process || fs::read_symlink(entry.path() / "cwd", ignored) != work()) continue;
      std::ifstream words(entry.path() / "cmdline");
      const std::string text{std::istreambuf_iterator<char>(words), {}};
      if (text.find("--worker") != std::string::npos) found.push_back(*process);
    }
    std::ranges::sort(found);
    return found;
  }
  // Kills one of `count` workers, the first of which is the source's, `later` after their start.
  // Whether one was alive.
  [[nodiscard]] bool kill_one(std::size_t count, std::size_t which,
                              std::chrono::milliseconds later) const {
    for (int looks = 0; looks < 200 && workers().size() < count; ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::this_thread::sleep_for(later);
    const std::vector<pid_t> living = workers();
    return !living.empty() && ::kill(living[which % living.size()], SIGKILL) == 0;
  }
};

const std::string kFive = "localhost,localhost,localhost,localhost,localhost";

TEST_F(RunCommand, EndsWithEveryByteWhoeverIsKilledAndWhenever) {
  const std::string text = message(6'000'001);
  write("in", text);
  int killed = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    // Half of the time it is the source.
    const std::size_t which = seed % 2 == 0 ? 0 : random() % 5;
    const std::chrono::milliseconds later(random() % 150);
    auto finished = std::async(std::launch::async, [&] {
      return run({"run", "--hosts", kFive, "--", "bcast", "--in", "in", "--out", "out{rank}"});
    });
    if (kill_one(5, which, later)) ++killed;
    const Finished end = finished.get();
    ASSERT_EQ(end.status, 0) << "seed " << seed << "\n" << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr("5 of 5 hosts"));
    for (int rank = 0; rank < 5; ++rank) {
      const std::string out = "out" + std::to_string(rank);
      ASSERT_EQ(read(out), text) << "seed " << seed;
      fs::remove(work() / out);
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(work())) {
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
    }
  }
  EXPECT_GT(killed, 0);
}

TEST_F(RunCommand, AFolderIsCopiedWhoeverIsKilled) {
  const std::string text = message(3'000'001);
  fs::create_directories(work() / "in/sub/none");
  write("in/first", text);
  write("in/sub/secret", text + "more");
  write("in/\xff", "");  // a name need not be UTF-8
  fs::create_symlink("sub/secret", work() / "in/link");
  fs::permissions(work() / "in/sub/secret", fs::perms::owner_read);
  const auto expect_copy = [&](const std::string& out) {
    EXPECT_EQ(read(out + "/first"), text) << out;
    EXPECT_EQ(read(out + "/link"), text + "more") << out;
    EXPECT_TRUE(fs::is_symlink(work() / out / "link") && fs::exists(work() / out / "\xff"));
    EXPECT_TRUE(fs::is_directory(work() / out / "sub/none")) << out;
    EXPECT_EQ(fs::last_write_time(work() / out / "sub"), fs::last_write_time(work() / "in/sub"));
  };
  std::vector<std::string> words{"run",  "--hosts", kFive,   "--",       "bcast",
                                 "--in", "in",      "--out", "out{rank}"};
  int killed = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    const std::chrono::milliseconds later(random() % 150);
    auto finished = std::async(std::launch::async, [&] { return run(words); });
    if (kill_one(5, seed % 5, later)) ++killed;
    const Finished end = finished.get();
    ASSERT_EQ(end.status, 0) << "seed " << seed << "\n" << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr("5 of 5 hosts"));
    for (int rank = 0; rank < 5; ++rank) {
      expect_copy("out" + std::to_string(rank));
      if (seed < 5) fs::remove_all(work() / ("out" + std::to_string(rank)));
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(work())) {
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
    }
  }
  EXPECT_GT(killed, 0);
  // Hosts that have it keep it; one that has something else is not overwritten.
  fs::remove_all(work() / "out3");
  write("out4/first", "something else");
  words.emplace_back("--resume");
  const Finished again = run(words);
  EXPECT_EQ(again.status, 6) << again.err;
  expect_copy("out1");
  expect_copy("out3");
  EXPECT_THAT(again.out, HasSubstr("4 of 5 hosts"));
  EXPECT_THAT(again.out, HasSubstr("localhost (rank 4) lacks the file (0 of"));
  EXPECT_THAT(again.out, HasSubstr("out4: cannot write: exists; several files need a new"));
}

TEST_F(RunCommand, Encrypts) {
  const std::string text = message(1'000'000);
  write("in", text);
  const Finished end = run(
      {"run", "--encrypt", "--hosts", kFive, "--", "bcast", "--in", "in", "--out", "out{rank}"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(read("out4"), text);
}

TEST_F(RunCommand, SeveralNamesBecomeSiblings) {
  write("b", "text of b");
  write("a", "text of a");
  const Finished end = run({"run", "--hosts", "localhost,localhost", "--", "bcast", "--in", "b",
                            "--in", "a", "--out", "out{rank}"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(read("out1/a"), "text of a");
  EXPECT_EQ(read("out0/b"), "text of b");
}

TEST_F(RunCommand, ListsTheHostsThatLackTheFile) {
  write("in", "text");
  std::vector<std::string> words{"run",   "--hosts", "localhost,gone", "--launch",
                                 "false", "--",      "bcast",          "--in",
                                 "in",    "--out",   "{host}"};
  const Finished some = run(words);
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(some.out,
              HasSubstr("gone lacks the file (0 of 1 segments): it ended with status 1\n"));
  EXPECT_EQ(read("localhost"), "text");
  words.emplace_back("--all");
  EXPECT_EQ(run(words).status, 6);
  words.back() = "--json";
  const Json json = run_json(words);
  EXPECT_EQ(json.at("hosts_with_all"), 1);
  EXPECT_EQ(json.at("lacking").at(0).at("host"), "gone");
}

TEST_F(RunCommand, AHostThatRefusesIsNotStartedAgain) {
  write("in", "text");
  fs::create_directory(work() / "localhost");
  const Finished end = run({"run", "--hosts", "localhost,b", "--launch", "env", "--", "bcast",
                            "--in", "in", "--out", "{host}/out"});
  EXPECT_EQ(end.status, 6);
  EXPECT_THAT(end.out, HasSubstr("b lacks the file (0 of 1 segments): b/out: cannot write: No such "
                                 "file or directory\n"));
  EXPECT_EQ(end.err.find("once more"), std::string::npos) << end.err;
  EXPECT_EQ(read("localhost/out"), "text");
}

// Sets a variable of the environment as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;

 private:
  const char* name_;
};

TEST_F(RunCommand, AJobOfSlurmOrPbsNamesItsHosts) {
  write("in", "text");
  // It stands for Slurm's: --overlap -N1 -n1 -w HOST, and a command.
  write("srun", "#!/bin/sh\necho \"$*\" >>asked\nshift 5\nexec \"$@\"\n");
  fs::permissions(work() / "srun", fs::perms::owner_all);
  const std::vector<std::string> words{"run", "--program", fs::path(ESPALIER_PROGRAM).filename(),
                                       "--",  "bcast",     "--in",
                                       "in",  "--out",     "out.{host}"};
  const std::string path = std::getenv("PATH");
  {
    const Variable job("SLURM_JOB_NODELIST", "127.0.0.[2-3],127.0.0.9");
    ::setenv(
        "PATH",
        (work().string() + ":" + fs::path(ESPALIER_PROGRAM).parent_path().string() + ":" + path)
            .c_str(),
        1);
    const Finished end = run(words);
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("from 127.0.0.2 to 3 of 3 hosts"));
    EXPECT_EQ(read("out.127.0.0.3"), "text");
    EXPECT_THAT(read("asked"), HasSubstr("--overlap -N1 -n1 -w 127.0.0.9 espalier run --worker"));
    ::setenv("PATH", path.c_str(), 1);
  }
  write("nodes", "localhost\nlocalhost\n");
  const Variable job("PBS_NODEFILE", "nodes");
  EXPECT_THAT(run({"run", "--", "bcast", "--in", "in", "--out", "pbs"}).out,
              HasSubstr("from localhost to 1 of 1 hosts"));
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
            "espalier: --hosts is missing: a file, or names separated by commas; only in a job of "
            "Slurm or PBS its hosts are known\n");
  EXPECT_EQ(refused({"run", "--hosts", "a[1-", "--", "bcast", "--in", "in", "--out", "out"}),
            "espalier: --hosts: unbalanced brackets in 'a[1-'\n");
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
