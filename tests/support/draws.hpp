// The number of random cases that a test draws.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace espalier::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Returns `count`; under the address sanitizer a quarter of it, but at least one. There every case
// takes several times as long, and the build without it checks the same property for all `count`
// cases. The sanitizer checks code paths, nearly all of which are covered by the first cases.
constexpr std::uint64_t draws(std::uint64_t count) {
  return kSanitized ? (count + 3) / 4 : count;
}

// Whether the nth case is drawn: under the address sanitizer one of `of`. A test of many parameters
// that adds the parameter's number to `nth` draws every case under some of them.
constexpr bool is_drawn(std::uint64_t nth, std::uint64_t of) {
  return !kSanitized || nth % of == 0;
}

// The number in an environment variable, such as how many cases an adversary draws; `otherwise` if
// it is not set.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace espalier::testing
