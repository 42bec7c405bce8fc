#include "runtime/memory/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace espalier::runtime {

#ifdef __SSE2__

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kWord = sizeof(__m128i);
  constexpr std::size_t kLine = 4 * kWord;
  const std::size_t odd = reinterpret_cast<std::uintptr_t>(to) % kWord;
  const std::size_t ahead = std::min(bytes, (kWord - odd) % kWord);
  std::memcpy(to, from, ahead);
  to += ahead;
  from += ahead;
  bytes -= ahead;
  for (; bytes >= kLine; to += kLine, from += kLine, bytes -= kLine) {
    const auto* const source = reinterpret_cast<const __m128i*>(from);
    auto* const target = reinterpret_cast<__m128i*>(to);
    const __m128i words[] = {_mm_loadu_si128(source), _mm_loadu_si128(source + 1),
                             _mm_loadu_si128(source + 2), _mm_loadu_si128(source + 3)};
    _mm_stream_si128(target, words[0]);
    _mm_stream_si128(target + 1, words[1]);
    _mm_stream_si128(target + 2, words[2]);
    _mm_stream_si128(target + 3, words[3]);
  }
  std::memcpy(to, from, bytes);
  _mm_sfence();  // orders the copy before the store that announces it
}

#else

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#endif

}  // namespace espalier::runtime
