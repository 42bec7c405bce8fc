#include "tests/platforms/fuzz/fuzz_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Speeds for one, two and three levels: those that do not fit are refused.
  for (const char* levels : {"1Gbit/s", "1Gbit/s,2Gbit/s", "1Gbit/s,2Gbit/s,4Gbit/s"}) {
    espalier::platforms::ReadOptions options;
    options.format = "slurm-yaml";
    options.level_bandwidth = levels;
    espalier::testing::check_format(options, data, size);
  }
  return 0;
}
