// Running `espalier` as a user does.
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

// A test with a folder of its own, removed afterwards, and the program to run.
class CliTest : public testing::Test {
 protected:
  CliTest();
  ~CliTest() override;
  CliTest(const CliTest&) = delete;
  CliTest& operator=(const CliTest&) = delete;
  CliTest(CliTest&&) = delete;
  CliTest& operator=(CliTest&&) = delete;

  // The program with these arguments, in the test's folder, `input` on its standard input.
  Finished run(const std::vector<std::string>& arguments, const std::string& input = {}) const;
  // The same with standard output on `sink` instead of captured.
  Finished run_into(const std::string& sink, const std::vector<std::string>& arguments) const;
  // What it prints on stdout, parsed; a failure of the test when it does not end well.
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

// Keys of an object, in the order they stand.
std::vector<std::string> keys_of(const Json& object);

// `text` with the values of "seconds" (JSON) blanked: all that may differ from run to run.
std::string without_seconds(const std::string& text);

// One line, that begins with "espalier: " and ends in a line end: what every refusal looks like.
testing::AssertionResult is_one_line(const std::string& text);

// A full triangle of hosts a, b, c:
//
//        a
//       / \        every link 8 Gbit/s each way, but a -> c 4 Gbit/s
//      b---c
extern const std::string kTriangle;

// A good plan for it from a: the chain a -> b -> c at 8 Gbit/s, its figures true under one-port.
extern const std::string kChainPlan;

// `text` with its first `from` replaced by `to`; throws when there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace espalier::cli
