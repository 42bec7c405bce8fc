#include "cli/espalier/input_kind.hpp"

#include "support/json.hpp"

namespace espalier::cli {

InputKind kind_of(const std::string& text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") != text.find('{')) return InputKind::kPlatform;
  const bool may_be_plan = text.find("\"espalier-plan\"") != std::string::npos;
  const bool may_be_trace = text.find("\"traceEvents\"") != std::string::npos;
  if (!may_be_plan && !may_be_trace) return InputKind::kPlatform;
  const Json document = parse_json(text, file);
  const auto format = document.find("format");
  if (format != document.end() && *format == "espalier-plan") return InputKind::kPlan;
  const auto events = document.find("traceEvents");
  return events != document.end() && events->is_array() ? InputKind::kTrace : InputKind::kPlatform;
}

}  // namespace espalier::cli
