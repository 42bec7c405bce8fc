// What must hold for any bytes at all given to a platform format: they are refused with InputError,
// or they are a platform that every model can take and that the JSON format gives back unchanged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"
#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

namespace espalier::testing {
namespace {

// `file` is the name that the bytes are said to have.
void check_format(const platforms::ReadOptions& options, const std::uint8_t* data, std::size_t size,
                  const std::string& file = "fuzz") {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  platforms::Platform platform;
  try {
    platform = platforms::parse_platform(text, file, options).platform;
  } catch (const InputError&) {
    return;
  }
  for (const auto& model : platforms::models()) {
    const auto occupation = platforms::occupation(platform, model.model);
    if (static_cast<std::size_t>(occupation.seconds_per_byte.cols()) != platform.arcs().size()) {
      std::abort();
    }
  }
  const std::string written = platforms::write_platform(platform, "json");
  const auto again = platforms::parse_platform(written, "written").platform;
  if (platforms::write_platform(again, "json") != written) std::abort();
}

template <std::size_t kLength>
struct Name {
  constexpr Name(const char (&text)[kLength]) { std::copy_n(text, kLength, value); }
  char value[kLength];
};

template <Name kFormat>
void check(const std::uint8_t* data, std::size_t size) {
  platforms::ReadOptions options;
  options.format = kFormat.value;
  check_format(options, data, size);
}

// A file of this format is of one pair of hosts, which its name gives.
void check_osu(const std::uint8_t* data, std::size_t size) {
  platforms::ReadOptions options;
  options.format = "osu";
  check_format(options, data, size, "a__b.bw");
}

// Speeds for one, two and three levels: those that do not fit are refused.
template <Name kFormat>
void check_levels(const std::uint8_t* data, std::size_t size) {
  for (const char* levels : {"1Gbit/s", "1Gbit/s,2Gbit/s", "1Gbit/s,2Gbit/s,4Gbit/s"}) {
    platforms::ReadOptions options;
    options.format = kFormat.value;
    options.level_bandwidth = levels;
    check_format(options, data, size);
  }
}

constexpr FuzzTarget kTargets[] = {
    {"json", "platforms/corpus/json", check<"json">},
    {"edges", "platforms/corpus/edges", check<"edges">},
    {"matrix", "platforms/corpus/matrix", check<"matrix">},
    {"skyplane", "platforms/corpus/skyplane", check<"skyplane">},
    {"tiers", "platforms/corpus/tiers", check<"tiers">},
    {"simgrid", "platforms/corpus/simgrid", check<"simgrid">},
    {"graphml", "platforms/corpus/graphml", check<"graphml">},
    {"dot", "platforms/corpus/dot", check<"dot">},
    {"ibnetdiscover", "platforms/corpus/ibnetdiscover", check<"ibnetdiscover">},
    {"ibstat", "platforms/corpus/ibstat", check<"ibstat">},
    {"mpigraph", "platforms/corpus/mpigraph", check<"mpigraph">},
    {"nvbandwidth", "platforms/corpus/nvbandwidth", check<"nvbandwidth">},
    {"p2pbandwidth", "platforms/corpus/p2pbandwidth", check<"p2pbandwidth">},
    {"nvidiatopo", "platforms/corpus/nvidiatopo", check<"nvidiatopo">},
    {"nccltopo", "platforms/corpus/nccltopo", check<"nccltopo">},
    {"ncclgraph", "platforms/corpus/ncclgraph", check<"ncclgraph">},
    {"starpu", "platforms/corpus/starpu", check<"starpu">},
    {"gpufabric", "platforms/corpus/gpufabric", check<"gpufabric">},
    {"iperf3", "platforms/corpus/iperf3", check<"iperf3">},
    {"osu", "platforms/corpus/osu", check_osu},
    {"slurm_conf", "platforms/corpus/slurm_conf", check_levels<"slurm-conf">},
    {"slurm_yaml", "platforms/corpus/slurm_yaml", check_levels<"slurm-yaml">},
};

}  // namespace

std::span<const FuzzTarget> platform_formats() {
  return kTargets;
}

}  // namespace espalier::testing
