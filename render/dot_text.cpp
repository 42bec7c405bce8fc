#include "render/dot_text.hpp"

namespace espalier::render {

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    switch (letter) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '&':
        result += "&amp;";
        break;
      case '\n':
        result += "\\n";
        break;
      default:
        result += letter;
    }
  }
  return result + '"';
}

DotText::DotText(std::string_view name) : text_("digraph " + dot_quoted(name) + " {\n") {}

void DotText::defaults(std::string_view what, const DotAttributes& attributes) {
  text_ += what;
  write(attributes);
}

void DotText::node(std::string_view name, const DotAttributes& attributes) {
  text_ += dot_quoted(name);
  write(attributes);
}

void DotText::edge(std::string_view from, std::string_view to, const DotAttributes& attributes) {
  text_ += dot_quoted(from) + " -> " + dot_quoted(to);
  write(attributes);
}

void DotText::write(const DotAttributes& attributes) {
  text_ += " [";
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const DotAttribute& attribute = attributes[i];
    if (i > 0) text_ += ", ";
    text_ += attribute.name;
    text_ += '=';
    text_ += attribute.html ? '<' + attribute.value + '>' : dot_quoted(attribute.value);
  }
  text_ += "];\n";
}

std::string DotText::finish() && {
  return std::move(text_) + "}\n";
}

}  // namespace espalier::render
