// Runs `espalier` as a user does.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/json.hpp"

namespace espalier::cli {

struct Finished {
  int status = -1;  // exit status; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

// A test with its own folder, removed afterwards, and the program to run.
class CliTest : public ::testing::Test {
 protected:
  CliTest();
  ~CliTest() override;
  CliTest(const CliTest&) = delete;
  CliTest& operator=(const CliTest&) = delete;
  CliTest(CliTest&&) = delete;
  CliTest& operator=(CliTest&&) = delete;

  // Runs the program with these arguments in the test's folder, with `input` on standard input.
  Finished run(const std::vector<std::string>& arguments, const std::string& input = {}) const;
  // Presses Ctrl-C once the program shows that it takes long. A program that never does is never
  // interrupted.
  Finished run_interrupted(const std::vector<std::string>& arguments) const;
  // The same as run(), with standard output to the file `sink` instead of captured.
  Finished run_into(const std::string& sink, const std::vector<std::string>& arguments) const;
  // Its standard output, parsed; a failure of the test if the status is not 0.
  Json run_json(const std::vector<std::string>& arguments) const;

  // Files in the test's folder, by name.
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> files() const;  // names, sorted
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// A sample platform of platforms/data/.
std::string sample(const std::string& name);

// `words`, and then `more`.
std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more);

// Keys of an object, in their order.
std::vector<std::string> keys_of(const Json& object);

// `text` with the values of "seconds" (JSON) blanked: they are all that differs from run to run.
std::string without_seconds(const std::string& text);

// A single line that begins with "espalier: " and ends with a newline, as every refusal does.
::testing::AssertionResult is_one_line(const std::string& text);
// What it says: one line on stderr, and no output.
std::string refusal_of(const Finished& finished, int status = 2);

// A full triangle of hosts a, b, c:
//
//        a
//       / \        every link 8 Gbit/s in both directions, except a -> c 4 Gbit/s
//      b---c
extern const std::string kTriangle;

// A valid plan for it from a: the chain a -> b -> c at 8 Gbit/s, with correct figures under
// one-port.
extern const std::string kChainPlan;

// `text` with its first `from` replaced by `to`; throws if there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace espalier::cli
