// Runs every file of each kept corpus through its fuzz target, so that what a fuzzer once found
// stays found under every compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "support/files.hpp"
#include "tests/fuzz/target.hpp"

namespace espalier::testing {
namespace {

class Corpus : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  static std::filesystem::directory_iterator files() {
    return std::filesystem::directory_iterator(std::string(ESPALIER_SOURCE_DIR) + "/tests/" +
                                               std::string(GetParam().corpus));
  }

  static void run(const std::string& text) {
    // libFuzzer hands out exact buffers, so reading past the end shows under a sanitizer.
    const std::vector<std::uint8_t> exact(text.begin(), text.end());
    GetParam().run(exact.data(), exact.size());
  }
};

TEST_P(Corpus, ReplaysWithoutAFault) {
  std::size_t count = 0;
  for (const auto& entry : files()) {
    SCOPED_TRACE(entry.path().string());
    ++count;
    const std::string text = read_text(entry.path().string());
    EXPECT_NO_THROW(run(text));
  }
  EXPECT_GT(count, 0U);
}

// Every length at first; later ones end within tokens, objects and lists that others have as well.
TEST_P(Corpus, PrefixesAreHandled) {
  constexpr std::size_t kLongest = 2000;
  constexpr std::size_t kEvery = 500;
  for (const auto& entry : files()) {
    SCOPED_TRACE(entry.path().string());
    const std::string text = read_text(entry.path().string());
    for (std::size_t length = 0; length < std::min(text.size(), kLongest);
         length += length < kEvery ? 1 : 7) {
      EXPECT_NO_THROW(run(text.substr(0, length))) << length << " bytes of it";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(fuzz_targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace espalier::testing
