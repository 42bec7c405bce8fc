// Writes DOT, Graphviz's language, with any names escaped. Not installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::render {

struct DotAttribute {
  std::string_view name;
  std::string value;
  bool html = false;  // value is an HTML-like label whose texts are already escaped
};
using DotAttributes = std::vector<DotAttribute>;

// A directed graph, written statement by statement.
class DotText {
 public:
  explicit DotText(std::string_view name);
  // Attributes of the graph (what = "graph"), or defaults of later nodes ("node") or edges
  // ("edge").
  void defaults(std::string_view what, const DotAttributes& attributes);
  void node(std::string_view name, const DotAttributes& attributes);
  void edge(std::string_view from, std::string_view to, const DotAttributes& attributes);
  // The whole text. Call once.
  [[nodiscard]] std::string finish() &&;

 private:
  void write(const DotAttributes& attributes);
  std::string text_;
};

// `text` as a name or label in double quotes; quotes, backslashes and entities in it are escaped.
std::string dot_quoted(std::string_view text);

}  // namespace espalier::render
