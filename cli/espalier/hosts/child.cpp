#include "cli/espalier/hosts/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace espalier::cli {

using runtime::tcp::Descriptor;

bool Lines::read(int descriptor) {
  std::array<char, 1 << 16> some{};
  while (true) {
    const ssize_t got = ::read(descriptor, some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    text_.append(some.data(), static_cast<std::size_t>(got));
  }
}

std::vector<std::string> Lines::take() {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text_.find('\n'); end != std::string::npos;
       end = text_.find('\n', begin)) {
    lines.push_back(text_.substr(begin, end - begin));
    begin = end + 1;
  }
  text_.erase(0, begin);
  return lines;
}

Child::Child(const std::string& command) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  const auto refuse = [] { throw std::system_error(errno, std::generic_category(), "a pipe"); };
  if (::pipe2(in.data(), O_CLOEXEC) != 0) refuse();
  Descriptor theirs_in(in[0]);
  input_ = Descriptor(in[1]);
  if (::pipe2(out.data(), O_CLOEXEC) != 0) refuse();
  output_ = Descriptor(out[0]);
  Descriptor theirs_out(out[1]);
  process_ = ::fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process_ == 0) {
    ::setpgid(0, 0);
    ::dup2(theirs_in.get(), STDIN_FILENO);
    ::dup2(theirs_out.get(), STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::setpgid(process_, process_);
  ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  kill();
}

void Child::send(const Json& line) {
  if (!input_.is_open()) return;
  unsent_ += line.dump();
  unsent_ += '\n';
  flush();
}

void Child::flush() {
  while (input_.is_open() && !unsent_.empty()) {
    const ssize_t put = ::write(input_.get(), unsent_.data(), unsent_.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) {
      input_.close();
      return;
    }
    unsent_.erase(0, static_cast<std::size_t>(put));
  }
}

std::vector<std::string> Child::receive() {
  flush();
  if (output_.is_open() && !lines_.read(output_.get())) output_.close();
  return lines_.take();
}

std::string Child::end() {
  int status = 0;
  for (int looks = 0; looks < 40; ++looks) {
    const pid_t found = ::waitpid(process_, &status, WNOHANG);
    if (found == process_) {
      ::kill(-process_, SIGKILL);
      process_ = -1;
      return WIFSIGNALED(status) ? fmt::format("signal {} ended it", WTERMSIG(status))
                                 : fmt::format("it ended with status {}", WEXITSTATUS(status));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "it ended";
}

void Child::kill() {
  if (process_ < 0) return;
  input_.close();
  output_.close();
  ::kill(-process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace espalier::cli
