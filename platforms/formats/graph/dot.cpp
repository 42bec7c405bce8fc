// Reader of Graphviz's DOT language, with libcgraph (docs/formats.md).
#include <fmt/format.h>
#include <graphviz/cgraph.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/graph/dot_limits.hpp"
#include "platforms/formats/readers.hpp"
#include "support/quantities.hpp"

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
  if (messages.is_error && messages.error.empty()) messages.error = text;
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

Graph parse_graph(const std::string& text, const std::string& file,
                  std::vector<std::string>& notes) {
  parser_messages() = {};
  // The C API has no const; these calls do not modify the arguments.
  agusererrf const before = agseterrf(&collect_message);
  Graph graph(agmemread(text.c_str()));
  agseterrf(before);
  ParserMessages messages = std::move(parser_messages());
  if (!graph || !messages.error.empty()) refuse_syntax(messages.error, file);
  notes = std::move(messages.warnings);
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
  DotReader(Agraph_t* graph, const std::string& file, const ReadOptions& options,
            std::vector<std::string> notes)
      : graph_(graph), file_(file), builder_(name_of(graph, file, options)) {
    result_.format = "dot";
    result_.notes = std::move(notes);
    at({}, [&] {
      declare(AGNODE, nodes_);
      declare(AGEDGE, links_);
      if (options.missing_bandwidth.empty()) return;
      missing_ = parse_rate(options.missing_bandwidth);
      require_rate(*missing_, "the missing bandwidth");
    });
  }

  ReadResult result() && {
    for (Agnode_t* node = agfstnode(graph_); node != nullptr; node = agnxtnode(graph_, node)) {
      at(fmt::format("node {}", agnameof(node)), [&] { add_node(node); });
    }
    if (ids_.empty()) throw InputError(file_, {}, "the graph has no nodes");
    for (Agnode_t* node = agfstnode(graph_); node != nullptr; node = agnxtnode(graph_, node)) {
      for (Agedge_t* edge = agfstout(graph_, node); edge != nullptr;
           edge = agnxtout(graph_, edge)) {
        at_link(edge, [&] { add_link(edge); });
      }
    }
    at("shared", [&] {
      const std::string_view shared = attribute(graph_, "shared");
      if (!shared.empty()) read_shared_links(shared, builder_);
    });
    add_notes();
    at({}, [&] { result_.platform = std::move(builder_).build(&result_.notes); });
    return std::move(result_);
  }

 private:
  static std::string name_of(Agraph_t* graph, const std::string& file, const ReadOptions& options) {
    const char* const name = agnameof(graph);
    // libcgraph gives odd ids to graphs without a name, or with one that starts with %.
    const bool named = options.name.empty() && name != nullptr && (AGID(graph) & 1U) == 0;
    return named ? printable(name) : default_name(file, options);
  }

  template <typename Attributes>
  void declare(int kind, Attributes& attributes) {
    for (Agsym_t* symbol = agnxtattr(graph_, kind, nullptr); symbol != nullptr;
         symbol = agnxtattr(graph_, kind, symbol)) {
      attributes.declare(symbol->name);
    }
  }

  template <typename Step>
  void at(const std::string& place, Step&& step) const {
    try {
      step();
    } catch (const InputError& fault) {
      throw InputError(file_, place, fault.what());
    }
  }
  // Composes the place of a link only if `step` fails.
  template <typename Step>
  void at_link(Agedge_t* edge, Step&& step) const {
    try {
      step();
    } catch (const InputError& fault) {
      throw InputError(file_,
                       fmt::format("{} {} {}", agnameof(agtail(edge)),
                                   agisdirected(graph_) != 0 ? "->" : "--", agnameof(aghead(edge))),
                       fault.what());
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
    if (place && !node.position) node.position = position_of(*place);
    if (!node.position) node.position = parse_pos(attribute(element, "pos"));
    const NodeId id = builder_.add_node(std::move(node));
    ids_.emplace(element, id);
    places_.push_back(place);
  }

  // From the bandwidth attribute, otherwise from the label if all of it is a rate: "10 Gbit/s".
  std::optional<BytesPerSecond> bandwidth_of(Agedge_t* edge) const {
    const auto text = [&](std::string_view name) { return attribute(edge, name); };
    if (const auto rate = links_.bandwidth.read(text)) return rate;
    try {
      return parse_rate(text("label"));
    } catch (const InputError&) {
      return missing_;
    }
  }

  void add_link(Agedge_t* edge) {
    Arc arc;
    arc.from = ids_.at(agtail(edge));
    arc.to = ids_.at(aghead(edge));
    if (arc.from == arc.to) {
      ++loops_;
      return;
    }
    const auto bandwidth = bandwidth_of(edge);
    if (!bandwidth) {
      ++unknown_;
      return;
    }
    arc.bandwidth = *bandwidth;
    set_times(edge, arc);
    const std::string_view direction = attribute(edge, "dir");
    const bool both =
        direction.empty() ? agisdirected(graph_) == 0 : direction == "both" || direction == "none";
    if (direction != "back") builder_.add_arc(arc);
    std::swap(arc.from, arc.to);
    if (both || direction == "back") builder_.add_arc(arc);
  }

  void set_times(Agedge_t* edge, Arc& arc) const {
    const auto text = [&](std::string_view name) { return attribute(edge, name); };
    arc.overhead = links_.overhead.read(text).value_or(Seconds{});
    const auto& from = places_[index_of(arc.from)];
    const auto& to = places_[index_of(arc.to)];
    const Seconds distance = from && to ? latency_between(*from, *to) : Seconds{};
    arc.latency = links_.latency.read(text).value_or(distance);
  }

  void add_notes() {
    auto& notes = result_.notes;
    if (unknown_ > 0) {
      notes.push_back(
          fmt::format("left out {} without a speed; give them one with --missing-bandwidth",
                      counted(unknown_, "link")));
    }
    if (loops_ > 0)
      notes.push_back(fmt::format("left out {} from a node to itself", counted(loops_, "link")));
  }

  Agraph_t* graph_;
  const std::string& file_;
  PlatformBuilder builder_;
  NodeAttributes nodes_;
  LinkAttributes links_;
  std::optional<BytesPerSecond> missing_;
  std::unordered_map<const Agnode_t*, NodeId> ids_;
  std::vector<std::optional<Place>> places_;  // by node
  std::size_t unknown_ = 0;
  std::size_t loops_ = 0;
  ReadResult result_;
};

}  // namespace

bool detects_dot(std::string_view text) {
  text = skip_dot_comments(text);
  const auto take = [&](std::string_view word) {
    const bool same = std::ranges::equal(text.substr(0, word.size()), word, [](char a, char b) {
      return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
    });
    if (!same) return false;
    const std::string_view rest = text.substr(word.size());
    if (!rest.empty() && std::string_view(" \t\r\n{\"</").find(rest[0]) == std::string_view::npos) {
      return false;
    }
    text = skip_dot_comments(rest);
    return true;
  };
  take("strict");
  return (take("digraph") || take("graph")) && !text.empty() && text.find('{') < text.size();
}

ReadResult parse_dot(std::string_view text, const std::string& file, const ReadOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  require_bounded_dot(text, file);
  const std::scoped_lock lock(parser_lock());
  std::vector<std::string> notes;
  const Graph graph = parse_graph(std::string(text), file, notes);
  return DotReader(graph.get(), file, options, std::move(notes)).result();
}

}  // namespace espalier::platforms
