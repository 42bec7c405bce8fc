#include "cli/espalier_mpi/options/simulated.hpp"

#include "platforms/formats/readers.hpp"
#include "simulate/model/overhead.hpp"
#include "simulate/search/best_segment.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

platforms::Platform read(const std::string& file) {
  const std::string name = display_name(file);
  const std::string text = read_text(file);
  if (!platforms::detects_json(text)) {
    throw InputError(name, {},
                     "is not a platform in Espalier's JSON; make one with espalier convert");
  }
  return platforms::parse_json_format(text, name, {}).platform;
}

}  // namespace

std::vector<std::uint64_t> simulated_segments(const std::string& file, const planner::Plan& plan,
                                              std::span<const Bytes> messages) {
  const platforms::Platform named = read(file);
  const platforms::Platform platform =
      simulate::with_overhead(named, simulate::overhead_for(named));
  std::vector<std::uint64_t> segments;
  try {
    for (const Bytes message : messages) {
      segments.push_back(simulate::best_segment(plan, platform, message).segment.value);
    }
  } catch (const InputError& fault) {  // with the place in the plan and the reason
    throw InputError(display_name(file), {}, std::string("does not fit the plan: ") + fault.what());
  }
  return segments;
}

}  // namespace espalier::cli
