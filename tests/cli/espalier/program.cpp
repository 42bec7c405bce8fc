#include "tests/cli/espalier/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/files.hpp"

namespace espalier::cli {

namespace {

// Standard input, output and error of a child, as files.
struct Streams {
  std::string in;
  std::string out;
  std::string err;
};

int status_of(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  return 128 + WTERMSIG(wait_status);
}

pid_t start_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    const Streams& streams) {
  std::vector<std::string> words{ESPALIER_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, streams.in.c_str(), O_RDONLY, 0);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, streams.out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, streams.err.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int fault = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) throw std::runtime_error("cannot start " + words[0]);
  return child;
}

// Its exit status.
int await(pid_t child) {
  int wait_status = 0;
  if (waitpid(child, &wait_status, 0) != child) throw std::runtime_error("lost the child");
  return status_of(wait_status);
}

}  // namespace

CliTest::CliTest() {
  std::string pattern = ::testing::TempDir() + "espalier-cli-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder " + pattern);
  folder_ = pattern;
  std::filesystem::create_directory(folder_ / "work");
}

CliTest::~CliTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Finished CliTest::run(const std::vector<std::string>& arguments, const std::string& input) const {
  const Streams streams{folder_ / "stdin", folder_ / "stdout", folder_ / "stderr"};
  write_text(streams.in, input);
  const int status = await(start_program(arguments, folder_ / "work", streams));
  return {status, read_text(streams.out), read_text(streams.err)};
}

Finished CliTest::run_interrupted(const std::vector<std::string>& arguments) const {
  const Streams streams{"/dev/null", folder_ / "stdout", folder_ / "stderr"};
  const pid_t child = start_program(arguments, folder_ / "work", streams);
  while (read_text(streams.err).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(child, SIGINT);
  const int status = await(child);
  return {status, read_text(streams.out), read_text(streams.err)};
}

Finished CliTest::run_into(const std::string& sink,
                           const std::vector<std::string>& arguments) const {
  const Streams streams{"/dev/null", sink, folder_ / "stderr"};
  Finished finished;
  finished.status = await(start_program(arguments, folder_ / "work", streams));
  finished.err = read_text(streams.err);
  return finished;
}

Json CliTest::run_json(const std::vector<std::string>& arguments) const {
  const Finished finished = run(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return parse_json(finished.out, "<stdout>");
}

void CliTest::write(const std::string& name, const std::string& text) const {
  write_text(folder_ / "work" / name, text);
}

std::string CliTest::read(const std::string& name) const {
  return read_text(folder_ / "work" / name);
}

bool CliTest::exists(const std::string& name) const {
  return std::filesystem::exists(folder_ / "work" / name);
}

std::vector<std::string> CliTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "work")) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string sample(const std::string& name) {
  return ESPALIER_SOURCE_DIR "/platforms/data/" + name;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

std::string without_seconds(const std::string& text) {
  return std::regex_replace(text, std::regex("\"seconds\": [-+.e0-9]+"), "\"seconds\": _");
}

::testing::AssertionResult is_one_line(const std::string& text) {
  if (text.rfind("espalier: ", 0) == 0 && std::count(text.begin(), text.end(), '\n') == 1 &&
      text.back() == '\n') {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not one line of espalier's: " << text;
}

std::string refusal_of(const Finished& finished, int status) {
  EXPECT_EQ(finished.status, status);
  EXPECT_TRUE(is_one_line(finished.err)) << finished.err;
  EXPECT_EQ(finished.out, "");
  return finished.err;
}

const std::string kTriangle = R"({
  "format": "espalier-platform", "version": 1, "name": "triangle",
  "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
  "links": [
    {"from": "a", "to": "b", "bandwidth_Bps": 1e9, "both_ways": true},
    {"from": "b", "to": "c", "bandwidth_Bps": 1e9, "both_ways": true},
    {"from": "a", "to": "c", "bandwidth_Bps": 5e8},
    {"from": "c", "to": "a", "bandwidth_Bps": 1e9}
  ]
})";

const std::string kChainPlan = R"({
  "format": "espalier-plan", "version": 1, "operation": "broadcast",
  "platform": "triangle", "source": "a", "model": "one-port", "algorithm": "optimal",
  "nodes": ["a", "b", "c"], "slice_bytes": 1048576,
  "throughput_Bps": 1e9, "optimum_Bps": 1e9,
  "broadcast_trees": [{"rate_Bps": 1e9, "edges": [[0, 1], [1, 2]]}]
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  if (place == std::string::npos) throw std::runtime_error("nothing like " + from);
  return text.replace(place, from.size(), to);
}

}  // namespace espalier::cli
