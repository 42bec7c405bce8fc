// One of the files of a format that has several.
#pragma once

#include <string>

namespace espalier::simulate {

struct ExportedFile {
  std::string name;  // in the folder; empty: the only file
  std::string text;
};

}  // namespace espalier::simulate
