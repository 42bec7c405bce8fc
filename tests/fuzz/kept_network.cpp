// Any bytes at all given as a learnt network are refused with InputError, or they are one that
// comes back from its own file and gives a sound platform.
#include "runtime/pull/kept_network.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

namespace {

void require_sound(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

void espalier::testing::check_kept_network(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> names{"a", "b", "c"};
  runtime::KeptNetwork kept;
  try {
    kept = runtime::parse_kept_network(text, "fuzz", names);
  } catch (const InputError&) {
    return;
  }
  const std::string written = to_json(kept);
  require_sound(to_json(runtime::parse_kept_network(written, "written", names)) == written);
  for (const auto& link : estimate_of(kept.network, names).links) {
    require_sound(link.bandwidth_Bps > 0);
  }
}
