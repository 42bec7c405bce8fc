// In place of draw_graphviz.cpp where Graphviz was not there when Espalier was built.
#include "pictures/pictures.hpp"
#include "support/errors.hpp"

namespace espalier::pictures {

bool can_draw() {
  return false;
}

std::string draw(const std::string& /*dot*/, std::string_view format) {
  throw InputError("this Espalier was built without Graphviz and cannot draw " +
                   std::string(format) + "; -o FILE.dot writes what Graphviz's programs draw");
}

}  // namespace espalier::pictures
