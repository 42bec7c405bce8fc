// Drawing with libgvc, a C library with global state that reports errors through a callback.
#include <fmt/format.h>
#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "render/pictures.hpp"
#include "support/errors.hpp"
#include "support/pinned.hpp"

namespace espalier::render {

namespace {

// The first error that Graphviz reported. It is global because the callback has no context
// argument. Warnings ("node 'x', graph 'y' size too small for label") are ignored.
thread_local std::string first_error;

int remember(char* message) {
  if (first_error.empty()) first_error = message;
  return 0;
}

std::string take_error() {
  std::string error = std::exchange(first_error, {});
  std::replace(error.begin(), error.end(), '\n', ' ');
  error.erase(error.find_last_not_of(' ') + 1);
  return error.empty() ? "Graphviz gives no reason" : printable(error);
}

// One context for the life of the process, never freed: the text plugin of Graphviz 2.42 keeps a
// pointer to the font names of the first context and reads it when a second context draws.
GVC_t* the_context() {
  static GVC_t* const context = gvContext();
  if (context == nullptr) throw InputError("cannot start Graphviz");
  return context;
}

struct Deleter {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};

// The graph drawn last, kept until the next one is drawn: if a new graph has the address of the
// last one, circo (Graphviz 2.42) takes it for the last one and reads that one's freed attributes.
std::unique_ptr<Agraph_t, Deleter>& drawn_last() {
  static std::unique_ptr<Agraph_t, Deleter> graph;
  return graph;
}

// Graphviz's state for one drawing.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Drawing : public Pinned {
 public:
  explicit Drawing(const std::string& dot) {
    agseterr(AGERR);
    agseterrf(&remember);
    first_error.clear();
    graph_.reset(agmemread(dot.c_str()));
    if (!graph_) throw InputError("not a DOT graph: " + take_error());
  }
  ~Drawing() {
    if (!laid_out_) return;
    gvFreeLayout(context_, graph_.get());
    drawn_last() = std::move(graph_);
  }

  std::string as(const std::string& format) {
    lay_out();
    char* bytes = nullptr;
    unsigned length = 0;
    const int fault = gvRenderData(context_, graph_.get(), format.c_str(), &bytes, &length);
    const std::unique_ptr<char, decltype(&gvFreeRenderData)> owner(bytes, &gvFreeRenderData);
    if (fault != 0 || bytes == nullptr) {
      throw InputError(
          fmt::format("Graphviz cannot draw the graph as {}: {}", format, take_error()));
    }
    return {bytes, length};
  }

  std::vector<platforms::Position> places() {
    lay_out();
    std::vector<platforms::Position> places;
    for (Agnode_t* node = agfstnode(graph_.get()); node != nullptr;
         node = agnxtnode(graph_.get(), node)) {
      places.push_back({ND_coord(node).x, ND_coord(node).y});
    }
    return places;
  }

 private:
  void lay_out() {
    std::string layout = "layout";
    const char* engine = agget(graph_.get(), layout.data());
    const std::string by = engine == nullptr || *engine == 0 ? "dot" : engine;
    if (gvLayout(context_, graph_.get(), by.c_str()) != 0) {
      throw InputError(fmt::format("Graphviz cannot lay out the graph: {}", take_error()));
    }
    laid_out_ = true;
  }

  GVC_t* context_ = the_context();
  std::unique_ptr<Agraph_t, Deleter> graph_;
  bool laid_out_ = false;
};

}  // namespace

std::string draw(const std::string& dot, std::string_view format) {
  return Drawing(dot).as(std::string(format));
}

std::vector<platforms::Position> node_places(const std::string& dot) {
  return Drawing(dot).places();
}

}  // namespace espalier::render
