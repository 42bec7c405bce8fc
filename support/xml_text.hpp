// Text as XML holds it.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// `text` for between tags or for an attribute in double quotes: markup becomes entities, and so
// does a blank at the front, which readers may drop with the indentation.
std::string xml_escaped(std::string_view text);

}  // namespace espalier
