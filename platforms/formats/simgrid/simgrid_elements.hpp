// What single elements of a SimGrid file say. Not installed.
#pragma once

namespace pugi {  // NOLINT(readability-identifier-naming)
class xml_node;
}

namespace espalier::platforms::simgrid {

// Throws InputError on a <platform> of a version that is not supported.
void require_version(const pugi::xml_node& platform);

// Whether a route element joins zones, and so names gateways.
bool between_zones(const pugi::xml_node& route);

// Whether a route is for both directions. Throws InputError on anything but YES and NO.
bool symmetrical(const pugi::xml_node& route);

}  // namespace espalier::platforms::simgrid
