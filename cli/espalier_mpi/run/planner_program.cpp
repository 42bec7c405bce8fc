#include "cli/espalier_mpi/run/planner_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/pinned.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanningTime = "3s";

// A new folder that is removed at the end. Throws InputError.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class ScratchFolder : public Pinned {
 public:
  ScratchFolder() {
    std::error_code fault;
    std::string name = (fs::temp_directory_path(fault) / "espalier-XXXXXX").string();
    if (fault || ::mkdtemp(name.data()) == nullptr) {
      throw InputError("a folder for temporary files cannot be created");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Beside this program, or where PATH says.
std::string planner() {
  std::error_code fault;
  const fs::path beside = fs::read_symlink("/proc/self/exe", fault).parent_path() / "espalier";
  return !fault && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "espalier";
}

// Its exit status, with its output discarded; -1 and errno if it could not be run. errors: file
// for what it prints on stderr.
int run_quietly(std::vector<std::string> words, const std::string& errors = "/dev/null") {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  constexpr ::mode_t kOwn = 0600;
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT,
                                     kOwn);
  ::pid_t process = 0;
  const int code =
      ::posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  errno = code;
  if (code != 0) return -1;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Why a command has failed: the first line that it has written to this file.
std::string complaint(std::string_view command, int status, const std::string& errors) {
  const std::string text = status < 0 ? "" : read_text(errors);
  return fmt::format("{} ended with status {}: {}", command, status,
                     text.substr(0, text.find('\n')));
}

}  // namespace

ProgramPlan plan_by_program(const std::string& platform, const PlanQuestion& question) {
  try {
    const ScratchFolder folder;
    const std::string network = folder.path() / "network.json";
    const std::string plan = folder.path() / "plan.json";
    const std::string errors = folder.path() / "errors";
    write_text(network, platform);
    std::vector<std::string> words{planner(),
                                   "plan",
                                   network,
                                   "--operation",
                                   std::string(name_of(question.operation)),
                                   "--model",
                                   question.model,
                                   "--time-limit",
                                   kPlanningTime,
                                   "--quiet",
                                   "-o",
                                   plan};
    if (!question.algorithm.empty()) {
      words.insert(words.end(), {"--algorithm", question.algorithm});
    }
    if (!question.source.empty()) words.insert(words.end(), {"--source", question.source});
    const int status = run_quietly(std::move(words), errors);
    if (status < 0) return {{}, fmt::format("espalier: {}", std::strerror(errno))};
    if (!fs::exists(plan)) return {{}, complaint("espalier plan", status, errors)};
    return {read_text(plan), {}};
  } catch (const InputError& error) {
    return {{}, error.what()};
  }
}

void require_planner(std::string_view option) {
  const int status = run_quietly({planner(), "--version"});
  if (status == 0) return;
  throw InputError(fmt::format(
      "{}: cannot run the program espalier{}; install it beside espalier-mpi, or in PATH", option,
      status < 0 ? fmt::format(": {}", std::strerror(errno)) : ""));
}

void page_by_program(const PageInputs& inputs, const std::string& page) {
  const ScratchFolder folder;
  const std::string trace = folder.path() / "trace.json";
  const std::string network = folder.path() / "network.json";
  write_text(trace, inputs.trace);
  std::vector<std::string> words{planner(), "report",  trace, "--algorithm",
                                 "none",    "--quiet", "-o",  page};
  if (!inputs.plan.empty()) words.push_back(inputs.plan);
  if (!inputs.platform_file.empty()) words.push_back(inputs.platform_file);
  if (!inputs.platform.empty()) {
    write_text(network, inputs.platform);
    words.push_back(network);
  }
  const std::string errors = folder.path() / "errors";
  const int status = run_quietly(words, errors);
  // A network that has not shown links to all hosts gets a page without bottlenecks.
  if (status == 0 || status == static_cast<int>(ExitStatus::kInfeasible)) return;
  throw InputError(page, {}, complaint("espalier report", status, errors));
}

}  // namespace espalier::cli
