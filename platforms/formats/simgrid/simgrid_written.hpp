// Names of links and properties by which Espalier's own SimGrid platforms represent what SimGrid
// does not model. SimGrid itself uses only the links and routes. Not installed.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "platforms/formats/formats.hpp"
#include "platforms/formats/graph/xml.hpp"

namespace espalier::platforms::simgrid {

inline constexpr std::string_view kVersionProperty = "espalier";   // of the zone; value "1"
inline constexpr std::string_view kNameProperty = "name";          // of the zone: the platform's
inline constexpr std::string_view kGroupProperty = "group";        // of a host
inline constexpr std::string_view kRelayGroup = "group:";          // of the zone: + a relay's name
inline constexpr std::string_view kPositionProperty = "position";  // of a host: "x y"
inline constexpr std::string_view kRelayPosition = "position:";    // of the zone: + a relay's name
inline constexpr std::string_view kOverheadProperty = "overhead_s";  // of a link

inline constexpr std::string_view kArcLink = "link:";       // + its number
inline constexpr std::string_view kSharedLink = "shared:";  // + the shared link's name
inline constexpr std::string_view kSendLink = "send:";      // + the name of the node with the cap
inline constexpr std::string_view kReceiveLink = "receive:";
inline constexpr std::string_view kPadLink = "pad:";  // + its number

// The property's value; empty if there is none.
std::string_view property(const pugi::xml_node& of, std::string_view name);

// The platform of `zone`, which has the property "espalier". Throws InputError (file, line,
// reason).
ReadResult read_written(const XmlFile& xml, const pugi::xml_node& zone, const std::string& file,
                        const ReadOptions& options);

}  // namespace espalier::platforms::simgrid
