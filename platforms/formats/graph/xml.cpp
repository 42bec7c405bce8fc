#include "platforms/formats/graph/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace espalier::platforms {

XmlFile::XmlFile(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
  const auto parsed =
      document_.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_doctype);
  if (!parsed) throw InputError(file_, place_of(parsed.offset), parsed.description());
  for (const pugi::xml_node node : document_.children()) {
    at(node, [&] {
      if (node.type() != pugi::node_doctype) return;
      if (std::string_view(node.value()).find('[') == std::string_view::npos) return;
      throw InputError("a DOCTYPE with its own declarations is not supported");
    });
  }
}

std::string XmlFile::place_of(std::ptrdiff_t offset) const {
  if (offset < 0) return {};
  const auto end = text_.begin() + std::min(offset, std::ssize(text_));
  return fmt::format("line {}", 1 + std::count(text_.begin(), end, '\n'));
}

std::string required_attribute(const pugi::xml_node& node, const char* name) {
  const pugi::xml_attribute attribute = node.attribute(name);
  if (attribute) return attribute.value();
  throw InputError(fmt::format("<{}> has no attribute '{}'", printable(node.name()), name));
}

}  // namespace espalier::platforms
