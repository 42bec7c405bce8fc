#include "tests/platforms/fuzz/fuzz_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::testing::check_format("p2pbandwidth", data, size);
  return 0;
}
