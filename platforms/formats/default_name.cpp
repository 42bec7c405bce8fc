// Separate from the registry, so that the JSON format does not depend on the other formats.
#include <filesystem>
#include <string>

#include "platforms/formats/readers.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

std::string Source::default_name() const {
  if (!options.name.empty()) return options.name;
  if (file == display_name("-")) return "stdin";
  return printable(std::filesystem::path(file).stem().string());
}

}  // namespace espalier::platforms
