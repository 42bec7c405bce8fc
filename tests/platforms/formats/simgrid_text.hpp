// SimGrid files in memory.
#pragma once

#include <string>

#include "platforms/formats/formats.hpp"

namespace espalier::testing {

// A platform with this content.
inline platforms::ReadResult read_simgrid(const std::string& inside) {
  return platforms::parse_platform("<platform version=\"4.1\">\n" + inside + "\n</platform>",
                                   "s.xml");
}

inline std::string cluster(const std::string& attributes) {
  return R"(<cluster id="c" prefix="n" suffix="" speed="1Gf" bw="100MBps" lat="50us" )" +
         attributes + "/>";
}

// A zone of two hosts, without its end.
inline const std::string kPair =
    R"(<zone id="z" routing="Full"><host id="a" speed="1f"/><host id="b" speed="1f"/>)";

}  // namespace espalier::testing
