// What a fuzzer calls: one parser, by name, with the corpus kept for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace espalier::testing {

struct FuzzTarget {
  std::string_view name;
  std::string_view corpus;  // folder under tests/
  // Aborts where the parser breaks its promise; throws nothing.
  void (*run)(const std::uint8_t* data, std::size_t size);
};

// One for each platform format.
std::span<const FuzzTarget> platform_formats();

void check_plan(const std::uint8_t* data, std::size_t size);
void check_parameters(const std::uint8_t* data, std::size_t size);
void check_measured_times(const std::uint8_t* data, std::size_t size);
void check_decisions(const std::uint8_t* data, std::size_t size);
void check_tuned_segments(const std::uint8_t* data, std::size_t size);
void check_measurements(const std::uint8_t* data, std::size_t size);
void check_kept_network(const std::uint8_t* data, std::size_t size);

// All targets of the parts that are built.
std::vector<FuzzTarget> fuzz_targets();

}  // namespace espalier::testing
