#include "platforms/formats/simgrid/simgrid_elements.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/errors.hpp"

namespace espalier::platforms::simgrid {

void require_version(const pugi::xml_node& platform) {
  const std::string text = required_attribute(platform, "version");
  const auto version = parse_number(text);
  if (version && *version >= 3 && *version < 5) return;
  throw InputError(fmt::format(
      "version {} is not supported, only 3 to 4.1; upgrade the file with simgrid_update_xml",
      in_quotes(text)));
}

bool between_zones(const pugi::xml_node& route) {
  const std::string_view name = route.name();
  return name != "route" && name != "bypassRoute";
}

bool symmetrical(const pugi::xml_node& route) {
  const std::string_view text = route.attribute("symmetrical").as_string("YES");
  if (text == "YES" || text == "yes") return true;
  if (text == "NO" || text == "no") return false;
  throw InputError(fmt::format("symmetrical is YES or NO, not {}", in_quotes(text)));
}

}  // namespace espalier::platforms::simgrid
