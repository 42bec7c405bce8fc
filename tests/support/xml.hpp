// Checks that a text is well-formed XML, for the subset that Espalier writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::testing {

// Describes the first error; empty: well-formed. Checks for one root element, matching end tags,
// attributes in double quotes and without duplicates, no bare '<' or '&'. Skips comments and
// declarations; does not support CDATA.
inline std::string xml_fault(std::string_view text) {
  const auto bare = [](std::string_view part) {
    for (std::size_t at = part.find_first_of("<&"); at != std::string_view::npos;
         at = part.find_first_of("<&", at + 1)) {
      bool entity = false;
      for (const std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#"}) {
        entity = entity || part.substr(at).starts_with(known);
      }
      if (!entity) return true;
    }
    return false;
  };
  std::vector<std::string> open;
  std::size_t roots = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    const std::string_view between = text.substr(at, tag - at);
    if (bare(between)) return "bare text " + std::string(between);
    if (open.empty() && between.find_first_not_of(" \n") != std::string_view::npos) {
      return "text outside the root";
    }
    if (tag == std::string_view::npos) break;
    const bool comment = text.substr(tag).starts_with("<!--");
    const std::size_t end = comment ? text.find("-->", tag) + 2 : text.find('>', tag);
    if (comment || text.substr(tag).starts_with("<?") || text.substr(tag).starts_with("<!")) {
      if (end >= text.size()) return "open comment at the end";
      at = end + 1;
      continue;
    }
    if (end == std::string_view::npos) return "open tag at the end";
    std::string_view inner = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inner.starts_with('/')) {
      if (open.empty() || open.back() != inner.substr(1)) return "wrong end " + std::string(inner);
      open.pop_back();
      continue;
    }
    const bool closed = inner.ends_with('/');
    if (closed) inner.remove_suffix(1);
    const std::string name(inner.substr(0, inner.find_first_of(" \n")));
    if (name.empty()) return "tag without a name";
    inner.remove_prefix(name.size());
    std::vector<std::string_view> attributes;
    while (inner.find_first_not_of(" \n") != std::string_view::npos) {
      inner.remove_prefix(inner.find_first_not_of(" \n"));
      const std::size_t quote = inner.find("=\"");
      const std::size_t last = quote == std::string_view::npos ? quote : inner.find('"', quote + 2);
      if (last == std::string_view::npos) return "attribute in <" + name;
      const std::string_view attribute = inner.substr(0, quote);
      for (const std::string_view former : attributes) {
        if (former == attribute) return "twice " + std::string(attribute) + " in <" + name;
      }
      attributes.push_back(attribute);
      if (bare(inner.substr(quote + 2, last - quote - 2))) return "bare value in <" + name;
      inner.remove_prefix(last + 1);
    }
    if (open.empty() && ++roots > 1) return "a second root <" + name;
    if (!closed) open.push_back(name);
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "no root";
}

// The number of occurrences of `part`.
inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace espalier::testing
