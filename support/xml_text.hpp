// Escapes text for XML.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// `text` for use between tags or in an attribute in double quotes. Markup becomes entities, as does
// a leading blank, which readers may remove with the indentation.
std::string xml_escaped(std::string_view text);

}  // namespace espalier
