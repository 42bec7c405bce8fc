#include "cli/espalier/input_kind.hpp"

#include <utility>

namespace espalier::cli {

Recognised recognised(const std::string& text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") != text.find('{')) return {};
  const bool may_be_plan = text.find("\"espalier-plan\"") != std::string::npos;
  const bool may_be_trace = text.find("\"traceEvents\"") != std::string::npos;
  if (!may_be_plan && !may_be_trace) return {};
  Json document = parse_json(text, file);
  const auto format = document.find("format");
  if (format != document.end() && *format == "espalier-plan") {
    return {InputKind::kPlan, std::move(document)};
  }
  const auto events = document.find("traceEvents");
  if (events == document.end() || !events->is_array()) return {};
  return {InputKind::kTrace, std::move(document)};
}

}  // namespace espalier::cli
