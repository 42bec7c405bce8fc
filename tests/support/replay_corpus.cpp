// Runs every file of a kept corpus through the fuzz target that this is linked with.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "support/files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& text) {
  // libFuzzer hands out exact buffers, so reading past the end shows under a sanitizer.
  const std::vector<std::uint8_t> exact(text.begin(), text.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

TEST(Corpus, ReplaysWithoutAFault) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ESPALIER_CORPUS)) {
    SCOPED_TRACE(entry.path().string());
    ++files;
    const std::string text = espalier::read_text(entry.path().string());
    EXPECT_NO_THROW(run(text));
  }
  EXPECT_GT(files, 0U);
}

TEST(Corpus, EveryPrefixIsHandled) {
  constexpr std::size_t kLongest = 2000;
  for (const auto& entry : std::filesystem::directory_iterator(ESPALIER_CORPUS)) {
    SCOPED_TRACE(entry.path().string());
    const std::string text = espalier::read_text(entry.path().string());
    for (std::size_t length = 0; length < std::min(text.size(), kLongest); ++length) {
      EXPECT_NO_THROW(run(text.substr(0, length))) << length << " bytes of it";
    }
  }
}

}  // namespace
