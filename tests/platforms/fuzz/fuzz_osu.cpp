#include "tests/platforms/fuzz/fuzz_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::platforms::ReadOptions options;
  options.format = "osu";
  espalier::testing::check_format(options, data, size, "a__b.bw");
  return 0;
}
