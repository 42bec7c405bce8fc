// Any bytes at all given as tuned segments are refused with InputError, or they come back from
// their own file, and every message has a segment that can be sent, or none.
#include "runtime/api/tuned_segments.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

void espalier::testing::check_tuned_segments(const std::uint8_t* data, std::size_t size) {
  namespace runtime = espalier::runtime;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  runtime::TunedSegments tuned;
  try {
    tuned = runtime::parse_tuned(text, "fuzz");
  } catch (const espalier::InputError&) {
    return;
  }
  const std::string written = runtime::tuned_json(tuned);
  if (runtime::tuned_json(runtime::parse_tuned(written, "written")) != written) std::abort();
  for (std::uint64_t bytes = 0; bytes < (std::uint64_t{1} << 62); bytes = 3 * bytes + 1) {
    const auto segment = runtime::segment_tuned_for(tuned.segments, bytes);
    if (segment && (*segment == 0 || *segment > (std::uint64_t{1} << 30))) std::abort();
  }
  for (const runtime::TunedSegment& segment : tuned.segments) {
    if (runtime::segment_tuned_for(tuned.segments, segment.message_bytes) != segment.segment_bytes)
      std::abort();
  }
}
