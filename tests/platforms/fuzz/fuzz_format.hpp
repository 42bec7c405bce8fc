// What must hold for any bytes at all given to a platform format: they are refused with InputError,
// or they are a platform that every model can take and that the JSON format gives back unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"

namespace espalier::testing {

// `file` is the name that the bytes are said to have.
inline void check_format(const platforms::ReadOptions& options, const std::uint8_t* data,
                         std::size_t size, const std::string& file = "fuzz") {
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

inline void check_format(std::string_view format, const std::uint8_t* data, std::size_t size) {
  platforms::ReadOptions options;
  options.format = format;
  check_format(options, data, size);
}

}  // namespace espalier::testing
