#include "runtime/preload/settings.hpp"

#include <fmt/format.h>

#include <string_view>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::preload {
namespace {

[[noreturn]] void refuse(const char* variable, std::string_view value, std::string_view wanted) {
  throw InputError({}, variable, fmt::format("{} is {}", in_quotes(value), wanted));
}

std::vector<std::string> split_at_colons(const char* variable, std::string_view list) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(list, ':')) {
    if (!part.empty()) parts.emplace_back(part);
  }
  if (parts.empty()) refuse(variable, list, "not a list of files");
  return parts;
}

std::size_t parse_trees(const char* variable, std::string_view text) {
  const auto trees = parse_whole<std::size_t>(text);
  if (trees.value_or(0) == 0) refuse(variable, text, "not a number of trees");
  return *trees;
}

std::size_t parse_trials(const char* variable, std::string_view text) {
  constexpr std::size_t kMost = 1000;
  const auto trials = parse_whole<std::size_t>(text);
  if (!trials || *trials > kMost) refuse(variable, text, "not a number of trials, 0 to 1000");
  return *trials;
}

runtime::RankMapping parse_mapping(const char* variable, std::string_view text) {
  if (text == "order") return runtime::RankMapping::kByOrder;
  if (text == "host") return runtime::RankMapping::kByHostName;
  refuse(variable, text, "neither 'order' nor 'host'");
}

VaryingParts parse_varying(const char* variable, std::string_view text) {
  if (text == "hand-on") return VaryingParts::kHandOn;
  if (text == "agree") return VaryingParts::kAgree;
  refuse(variable, text, "neither 'hand-on' nor 'agree'");
}

LocalCalls parse_local(const char* variable, std::string_view text) {
  if (text == "hand-on") return LocalCalls::kHandOn;
  if (text == "take") return LocalCalls::kTake;
  refuse(variable, text, "neither 'hand-on' nor 'take'");
}

bool parse_switch(const char* variable, std::string_view text) {
  if (text != "0" && text != "1") refuse(variable, text, "neither 0 nor 1");
  return text == "1";
}

Bytes parse_threshold(const char* variable, std::string_view text) {
  return at_place({}, variable, [&] { return parse_size(text); });
}

Seconds parse_timeout(const char* variable, std::string_view text) {
  const Seconds timeout = at_place({}, variable, [&] { return parse_duration(text); });
  if (!(timeout.value > 0)) refuse(variable, text, "not a positive time");
  return timeout;
}

}  // namespace

Settings settings_from(const std::function<const char*(const char*)>& value_of) {
  Settings settings;
  const auto with = [&](const char* variable, const auto& use) {
    const char* value = value_of(variable);
    if (value != nullptr && *value != '\0') use(variable, value);
  };
  with("ESPALIER_VERBOSE", [&](const char* variable, const char* value) {
    settings.verbose = parse_switch(variable, value);
  });
  with("ESPALIER_REPORT", [&](const char* variable, const char* value) {
    settings.report = parse_switch(variable, value);
  });
  with("ESPALIER_TRIALS", [&](const char* variable, const char* value) {
    settings.trials = parse_trials(variable, value);
  });
  with("ESPALIER_PLAN", [&](const char* variable, const char* value) {
    settings.plan_files = split_at_colons(variable, value);
  });
  with("ESPALIER_TUNED", [&](const char* variable, const char* value) {
    settings.tuned_files = split_at_colons(variable, value);
  });
  with("ESPALIER_DECISIONS", [&](const char* variable, const char* value) {
    settings.decision_files = split_at_colons(variable, value);
  });
  with("ESPALIER_PLATFORM",
       [&](const char*, const char* value) { settings.platform_file = value; });
  with("ESPALIER_MODEL", [&](const char*, const char* value) { settings.model = value; });
  with("ESPALIER_ALGORITHM", [&](const char*, const char* value) { settings.algorithm = value; });
  with("ESPALIER_MAX_TREES", [&](const char* variable, const char* value) {
    settings.max_trees = parse_trees(variable, value);
  });
  with("ESPALIER_MAP", [&](const char* variable, const char* value) {
    settings.mapping = parse_mapping(variable, value);
  });
  with("ESPALIER_LOCAL", [&](const char* variable, const char* value) {
    settings.local = parse_local(variable, value);
  });
  with("ESPALIER_VARYING", [&](const char* variable, const char* value) {
    settings.varying = parse_varying(variable, value);
  });
  with("ESPALIER_THRESHOLD", [&](const char* variable, const char* value) {
    settings.threshold = parse_threshold(variable, value);
  });
  with("ESPALIER_TIMEOUT", [&](const char* variable, const char* value) {
    settings.timeout = parse_timeout(variable, value);
  });
  return settings;
}

}  // namespace espalier::preload
