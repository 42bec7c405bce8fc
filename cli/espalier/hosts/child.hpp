// A program that was started with pipes to its standard input and output, over which lines of JSON
// go both ways.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/tcp/stream.hpp"
#include "support/json.hpp"
#include "support/pinned.hpp"

namespace espalier::cli {

// Lines out of bytes that come piecemeal.
class Lines {
 public:
  // Reads what there is. False: the end, or an error.
  bool read(int descriptor);
  // The complete lines that came since the last call.
  std::vector<std::string> take();

 private:
  std::string text_{};
};

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Child : public Pinned {
 public:
  // command: of the shell. Its group of processes is its own, so that kill() ends them all. Throws
  // std::system_error.
  explicit Child(const std::string& command);
  ~Child();

  [[nodiscard]] int output() const { return output_.get(); }
  // Whether its output has not ended.
  [[nodiscard]] bool is_open() const { return output_.is_open(); }
  // Without waiting: what the pipe does not take is sent later.
  void send(const Json& line);
  // What it has said; sends what waits to be sent.
  std::vector<std::string> receive();
  // It gets the end of its input, so that it can end by itself.
  void dismiss() { input_.close(); }
  void kill();
  // How it ended, for messages, after its output has. What is left of its group is killed.
  std::string end();

 private:
  void flush();

  pid_t process_ = -1;
  runtime::tcp::Descriptor input_{};
  runtime::tcp::Descriptor output_{};
  std::string unsent_{};
  Lines lines_{};
};

}  // namespace espalier::cli
