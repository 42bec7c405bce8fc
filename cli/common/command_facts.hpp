// What a program's command line declares, for its manual pages and completion scripts.
#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

struct OptionFacts {
  std::vector<std::string> names{};  // "--segment", "--slice"; of a positional argument its name
  std::string value{};               // name of its value, "SIZE"; empty: a flag
  std::string help{};
  std::string shown{};                 // its default; may be empty
  std::vector<std::string> choices{};  // that its help lists after "one of: "
  bool positional = false;
  bool required = false;
};

struct CommandFacts {
  std::vector<std::string> path{};  // from the program on: "espalier", "generate", "star"
  std::string help{};
  std::string footer{};
  std::vector<OptionFacts> options{};   // positional ones first; without those that help hides
  std::vector<std::string> commands{};  // that it leads to
};

}  // namespace espalier::cli
