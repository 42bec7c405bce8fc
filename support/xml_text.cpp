#include "support/xml_text.hpp"

namespace espalier {

std::string xml_escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  if (text.starts_with(' ')) {
    result = "&#32;";
    text.remove_prefix(1);
  }
  for (const char letter : text) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += letter;
    }
  }
  return result;
}

}  // namespace espalier
