// Reader of Graphviz's DOT language, with libcgraph (docs/formats.md).
#include <fmt/format.h>
#include <graphviz/cgraph.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

// Messages of libcgraph during a parse. Its parser and its errors are global: one parse at a time.
struct ParserMessages {
  std::string error;  // the first
  std::vector<std::string> warnings;
  bool is_error = false;  // the level is reported in a separate message
};

std::mutex& parser_lock() {
  static std::mutex lock;
  return lock;
}

ParserMessages& parser_messages() {
  static ParserMessages messages;
  return messages;
}

int collect_message(char* message) {
  ParserMessages& messages = parser_messages();
  std::string_view text(message);
  if (text == "Error" || text == "Warning") messages.is_error = text == "Error";
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty() || text == ": " || text == "Error" || text == "Warning") return 0;
  if (!messages.is_error) messages.warnings.push_back(printable(text));
  if (messages.is_error && messages.error.empty()) messages.error = text.substr(0, text.find('\n'));
  return 0;
}

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using Graph = std::unique_ptr<Agraph_t, CloseGraph>;

// "syntax error in line 3 near ']'": the line is the place.
[[noreturn]] void refuse_syntax(const std::string& error, const std::string& file) {
  constexpr std::string_view kMark = " in line ";
  const std::size_t mark = error.find(kMark);
  if (mark == std::string::npos) {
    throw InputError(file, {}, error.empty() ? "there is no graph" : error);
  }
  const std::size_t number = mark + kMark.size();
  const std::size_t end = std::min(error.find_first_not_of("0123456789", number), error.size());
  throw InputError(file, "line " + error.substr(number, end - number),
                   error.substr(0, mark) + error.substr(end));
}

// Removes a comment at the start of `text`; false if there is none, or if it has no end.
bool cut_comment(std::string_view& text, bool line_starts) {
  if (text.starts_with("/*")) {
    const std::size_t end = text.find("*/", 2);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 2);
    return true;
  }
  if (!text.starts_with("//") && !(line_starts && text.starts_with('#'))) return false;
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  return true;
}

// `text` from its first word: without leading blanks and comments.
std::string_view skip_comments(std::string_view text) {
  bool line_starts = true;
  while (!text.empty()) {
    if (cut_comment(text, line_starts)) continue;
    const std::size_t blanks = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    if (blanks == 0) break;
    line_starts = text[blanks - 1] == '\n';
    text.remove_prefix(blanks);
  }
  return text;
}

// Whether the scanner is ready for the next text; if not, ends what the last one left open.
bool is_scanner_ready() {
  if (const Graph probe{agmemread("graph {}")}) return true;
  for (const char* const end : {"*/", "\"", ">"}) {
    Graph(agmemread(end)).reset();
    if (const Graph probe{agmemread("graph {}")}) break;
  }
  return false;
}

Graph parse_graph(const std::string& text, Source& source) {
  parser_messages() = {};
  agusererrf const before = agseterrf(&collect_message);
  Graph graph(agmemread(text.c_str()));
  const ParserMessages messages = parser_messages();
  const bool ended = is_scanner_ready();
  agseterrf(before);
  if (!graph || !messages.error.empty()) refuse_syntax(messages.error, source.file);
  if (!ended) source.refuse("there is text after the graph");
  source.notes = messages.warnings;
  return graph;
}

// The attribute of a graph, node or link; empty if it has none.
std::string_view attribute(void* of, std::string_view name) {
  std::string terminated(name);
  const char* const text = agget(of, terminated.data());
  return text == nullptr ? std::string_view{} : std::string_view(text);
}

// "x,y" or "x,y,z", with a final "!" if Graphviz must not move the node.
std::optional<Position> parse_pos(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::string unspaced(text);
  std::erase(unspaced, ' ');
  std::string_view rest = unspaced;
  if (rest.ends_with('!')) rest.remove_suffix(1);
  std::array<std::optional<double>, 3> axes;
  std::size_t count = 0;
  for (bool more = true; more && count < axes.size(); ++count) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    axes[count] = parse_number(rest.substr(0, comma));
    rest.remove_prefix(more ? comma + 1 : rest.size());
  }
  const bool sound = rest.empty() && count >= 2 && axes[0] && axes[1] && (count == 2 || axes[2]);
  if (!sound) throw InputError(fmt::format("pos is 'x,y', not {}", in_quotes(text)));
  return Position{*axes[0], *axes[1]};
}

class DotReader {
 public:
  DotReader(Agraph_t* graph, Source& source)
      : graph_(graph),
        source_(source),
        builder_(source.at({}, [&] { return GraphBuilder(source, name_of(graph, source)); })) {
    source_.at({}, [&] {
      declare(AGNODE, nodes_);
      declare(AGEDGE, links_);
    });
  }

  Platform platform() {
    for (Agnode_t* node = agfstnode(graph_); node != nullptr; node = agnxtnode(graph_, node)) {
      source_.at(fmt::format("node {}", agnameof(node)), [&] { add_node(node); });
    }
    if (ids_.empty()) source_.refuse("the graph has no nodes");
    for (Agnode_t* node = agfstnode(graph_); node != nullptr; node = agnxtnode(graph_, node)) {
      for (Agedge_t* edge = agfstout(graph_, node); edge != nullptr;
           edge = agnxtout(graph_, edge)) {
        const auto place = [&] {
          return fmt::format("{} {} {}", agnameof(agtail(edge)),
                             agisdirected(graph_) != 0 ? "->" : "--", agnameof(aghead(edge)));
        };
        at_place(source_.file, place, [&] { add_link(edge); });
      }
    }
    builder_.add_notes(/*note_latencies=*/false);
    return builder_.platform();
  }

 private:
  static std::string name_of(Agraph_t* graph, const Source& source) {
    const char* const name = agnameof(graph);
    // libcgraph gives odd ids to graphs without a name, or with one that starts with %.
    const bool named = source.options.name.empty() && name != nullptr && (AGID(graph) & 1U) == 0;
    return named ? printable(name) : source.default_name();
  }

  template <typename Attributes>
  void declare(int kind, Attributes& attributes) {
    for (Agsym_t* symbol = agnxtattr(graph_, kind, nullptr); symbol != nullptr;
         symbol = agnxtattr(graph_, kind, symbol)) {
      attributes.declare(symbol->name);
    }
  }

  static std::string_view either(void* of, std::string_view name, std::string_view other) {
    const std::string_view text = attribute(of, name);
    return text.empty() ? attribute(of, other) : text;
  }

  void add_node(Agnode_t* element) {
    if ((AGID(element) & 1U) != 0) throw InputError("a node's name must not start with '%'");
    Node node = nodes_.read([&](std::string_view name) { return attribute(element, name); });
    node.name = printable(agnameof(element));
    node.group = printable(node.group);
    const auto place = parse_place(either(element, "Latitude", "latitude"),
                                   either(element, "Longitude", "longitude"));
    if (!place && !node.position) node.position = parse_pos(attribute(element, "pos"));
    ids_.emplace(element, builder_.add_node(std::move(node), place));
  }

  // The label if all of it is a rate: "10 Gbit/s".
  static std::optional<BytesPerSecond> rate_of_label(Agedge_t* edge) {
    try {
      return parse_rate(attribute(edge, "label"));
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void add_link(Agedge_t* edge) {
    NodeId from = ids_.at(agtail(edge));
    NodeId to = ids_.at(aghead(edge));
    const std::string_view direction = attribute(edge, "dir");
    const bool both =
        direction.empty() ? agisdirected(graph_) == 0 : direction == "both" || direction == "none";
    if (direction == "back") std::swap(from, to);
    builder_.add_link(
        from, to, both, links_, [&](std::string_view name) { return attribute(edge, name); },
        [&] { return rate_of_label(edge); });
  }

  Agraph_t* graph_;
  Source& source_;
  GraphBuilder builder_;
  NodeAttributes nodes_;
  LinkAttributes links_;
  std::unordered_map<const Agnode_t*, NodeId> ids_;
};

bool detects_dot(std::string_view text) {
  text = skip_comments(without_mark(text));
  const auto take = [&](std::string_view word) {
    if (lower_case(text.substr(0, word.size())) != word) return false;
    const std::string_view rest = text.substr(word.size());
    if (!rest.empty() && std::string_view(" \t\r\n{\"</").find(rest[0]) == std::string_view::npos) {
      return false;
    }
    text = skip_comments(rest);
    return true;
  };
  take("strict");
  return (take("digraph") || take("graph")) && !text.empty() && text.find('{') < text.size();
}

Platform read_dot(Source& source) {
  const std::scoped_lock lock(parser_lock());
  const Graph graph = parse_graph(std::string(without_mark(source.text)), source);
  return DotReader(graph.get(), source).platform();
}

}  // namespace

constinit const FormatEntry kDotFormat{"dot",
                                       "Graphviz's language: links with bandwidths",
                                       detects_dot,
                                       read_dot,
                                       16,
                                       ".dot,.gv",
                                       write_dot,
                                       nullptr,
                                       /*leaves_out_shared_links=*/true};

}  // namespace espalier::platforms
