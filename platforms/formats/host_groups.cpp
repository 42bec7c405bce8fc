#include "platforms/formats/host_groups.hpp"

#include "platforms/core/platform.hpp"
#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

std::optional<std::map<std::string, std::string, std::less<>>> groups_by_host(
    std::string_view text, const std::string& file) {
  const bool is_json = detects_json(text);
  if (!is_json && !kSlurmConfFormat.detects(text)) return std::nullopt;
  ReadOptions options;
  options.any_speed = true;
  Source source{text, file, options};
  const Platform platform =
      is_json ? parse_json_format(text, file, options).platform : kSlurmConfFormat.parse(source);
  std::map<std::string, std::string, std::less<>> groups;
  for (const NodeId host : platform.hosts()) {
    groups.emplace(platform.node(host).name, platform.node(host).group);
  }
  return groups;
}

}  // namespace espalier::platforms
