// The libFuzzer program: `fuzz --target=NAME NEW_FOLDER CORPUS`. Keep what it finds in CORPUS.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/target.hpp"

namespace {

constexpr std::string_view kOption = "--target=";

const espalier::testing::FuzzTarget& target_named(std::string_view name) {
  static const auto targets = espalier::testing::fuzz_targets();
  const auto found = std::ranges::find(targets, name, &espalier::testing::FuzzTarget::name);
  if (found != targets.end()) return *found;
  std::fputs("usage: fuzz --target=NAME NEW_FOLDER CORPUS; NAME is one of:\n", stderr);
  for (const auto& target : targets) {
    std::fprintf(stderr, "  %-16s (tests/%s)\n", target.name.data(), target.corpus.data());
  }
  std::exit(2);
}

// libFuzzer gives its target no argument of ours.
const espalier::testing::FuzzTarget* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string_view name;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kOption)) name = argument.substr(kOption.size());
  }
  chosen = &target_named(name);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run(data, size);
  return 0;
}
