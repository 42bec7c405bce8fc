// Studies that take milliseconds, and a temporary folder for them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/experiment.hpp"
#include "experiments/journal.hpp"
#include "experiments/report.hpp"

namespace espalier::testing {

// 6 and 9 hosts, densities 0.3 and 0.6, 2 draws, one-port and multi-port: 16 units.
experiments::Study small_study(std::string_view algorithms = "optimal,grow,chain");

// All its results, computed with `jobs` threads.
experiments::Results results_of(const experiments::Study& study, std::size_t jobs);

// A test with a folder of its own, removed afterwards.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest();
  ~FolderTest() override;
  FolderTest(const FolderTest&) = delete;
  FolderTest& operator=(const FolderTest&) = delete;
  FolderTest(FolderTest&&) = delete;
  FolderTest& operator=(FolderTest&&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace espalier::testing
