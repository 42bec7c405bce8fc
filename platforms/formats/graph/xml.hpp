// Reading XML, with the line in every error. Not installed.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "support/errors.hpp"

namespace espalier::platforms {

class XmlFile {
 public:
  // Parses `text`, which must outlive this object. Throws InputError on malformed text, and on a
  // DOCTYPE with its own declarations (entities are never expanded).
  XmlFile(std::string_view text, std::string file);

  [[nodiscard]] const pugi::xml_document& document() const { return document_; }

  // Runs `step`, whose errors have a reason only, and adds the place of `node`. Calls may be
  // nested: the innermost place is used.
  template <typename Step>
  void at(const pugi::xml_node& node, Step&& step) const {
    try {
      step();
    } catch (const PlacedError&) {
      throw;
    } catch (const InputError& fault) {
      throw PlacedError(file_, place_of(node.offset_debug()), fault.what());
    }
  }

 private:
  // An error that already has its place.
  class PlacedError : public InputError {
    using InputError::InputError;
  };
  [[nodiscard]] std::string place_of(std::ptrdiff_t offset) const;

  std::string_view text_;
  std::string file_;
  pugi::xml_document document_;
};

// The attribute's text. Throws InputError (reason only) if there is none.
std::string required_attribute(const pugi::xml_node& node, const char* name);

}  // namespace espalier::platforms
