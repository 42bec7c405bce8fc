// How many random cases a test draws.
#pragma once

#include <cstdint>

namespace espalier::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// `count`, and a quarter of them, but one at least, under the address sanitizer: there every case
// takes several times as long, and all `count` have been held against the same property without it.
// A sanitizer looks at ways through the code, which the first cases have nearly all taken.
constexpr std::uint64_t draws(std::uint64_t count) {
  return kSanitized ? (count + 3) / 4 : count;
}

}  // namespace espalier::testing
