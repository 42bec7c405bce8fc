// What tests look up in a platform that was read or generated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing {

// Hosts, relays, arcs, shared links.
inline std::vector<std::size_t> counts(const platforms::Platform& platform) {
  const std::size_t hosts = platform.hosts().size();
  return {hosts, platform.nodes().size() - hosts, platform.arcs().size(),
          platform.shared_links().size()};
}

inline const platforms::Arc& arc(const platforms::Platform& platform, std::uint32_t from,
                                 std::uint32_t to) {
  return platform.arc(platform.find_arc(platforms::NodeId{from}, platforms::NodeId{to}).value());
}
inline const platforms::Arc& arc(const platforms::Platform& platform, std::string_view from,
                                 std::string_view to) {
  return platform.arc(
      platform.find_arc(platform.find_node(from).value(), platform.find_node(to).value()).value());
}

// The message with which `text`, read as `format`, is refused.
inline std::string refusal_as(const std::string& format, std::string_view text,
                              const std::string& file) {
  platforms::ReadOptions options;
  options.format = format;
  return refusal([&] { return platforms::parse_platform(text, file, options); });
}

}  // namespace espalier::testing
