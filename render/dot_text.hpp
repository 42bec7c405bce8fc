// Text of DOT, the language of Graphviz, that any name can be put into. Not installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::render {

struct DotAttribute {
  std::string_view name;
  std::string value;
  bool html = false;  // value is an HTML-like label, its texts escaped already
};
using DotAttributes = std::vector<DotAttribute>;

// A directed graph, written statement by statement.
class DotText {
 public:
  explicit DotText(std::string_view name);
  // Of the graph ("graph"), or what later nodes ("node") and edges ("edge") have unless they say
  // otherwise.
  void defaults(std::string_view what, const DotAttributes& attributes);
  void node(std::string_view name, const DotAttributes& attributes);
  void edge(std::string_view from, std::string_view to, const DotAttributes& attributes);
  // The whole text. Call once.
  [[nodiscard]] std::string finish() &&;

 private:
  void write(const DotAttributes& attributes);
  std::string text_;
};

// `text` in double quotes, as a name or a label: no quote, backslash or entity in it means
// anything.
std::string dot_quoted(std::string_view text);

}  // namespace espalier::render
