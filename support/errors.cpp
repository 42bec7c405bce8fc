#include "support/errors.hpp"

namespace espalier {

namespace {
std::string joined(const std::string& file, const std::string& place, const std::string& reason) {
  std::string line = file;
  for (const std::string& part : {place, reason}) {
    if (part.empty()) continue;
    if (!line.empty()) line += ": ";
    line += part;
  }
  return line;
}
}  // namespace

InputError::InputError(const std::string& file, const std::string& place, const std::string& reason)
    : Error(ExitStatus::kBadInput, joined(file, place, reason)) {}

}  // namespace espalier
