#include "cli/espalier_mpi/options/simulated.hpp"

#include "platforms/formats/readers.hpp"
#include "simulate/search/best_slice.hpp"
#include "simulate/model/overhead.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

platforms::Platform read(const std::string& file) {
  const std::string name = display_name(file);
  const std::string text = read_text(file);
  if (!platforms::detects_json(text)) {
    throw InputError(name, {}, "is no platform in Espalier's JSON, which espalier convert writes");
  }
  return platforms::parse_json_format(text, name, {}).platform;
}

}  // namespace

std::vector<std::uint64_t> simulated_slices(const std::string& file, const planner::Plan& plan,
                                            std::span<const Bytes> messages) {
  const platforms::Platform named = read(file);
  const platforms::Platform platform =
      simulate::with_overhead(named, simulate::overhead_for(named));
  std::vector<std::uint64_t> slices;
  try {
    for (const Bytes message : messages) {
      slices.push_back(simulate::best_slice(plan, platform, message).slice.value);
    }
  } catch (const InputError& fault) {  // the plan's place and reason
    throw InputError(display_name(file), {},
                     std::string("does not suit the plan: ") + fault.what());
  }
  return slices;
}

}  // namespace espalier::cli
