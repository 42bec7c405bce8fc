#include "runtime/preload/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "support/choice.hpp"
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

template <class Value, std::size_t kCount>
auto parse_one_of(const std::array<Choice<Value>, kCount>& choices) {
  return [=](const char* variable, std::string_view text) {
    if (const auto* const choice = find_choice(choices, text)) return choice->value;
    std::string names;
    for (const Choice<Value>& choice : choices) {
      names += fmt::format("{}'{}'", names.empty() ? "neither " : " nor ", choice.name);
    }
    refuse(variable, text, names);
  };
}

bool parse_switch(const char* variable, std::string_view text) {
  if (text != "0" && text != "1") refuse(variable, text, "neither 0 nor 1");
  return text == "1";
}

std::string as_it_is(const char* /*variable*/, std::string_view text) {
  return std::string(text);
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
  const auto set = [&](auto& setting, const char* variable, const auto& parse) {
    const char* value = value_of(variable);
    if (value != nullptr && *value != '\0') setting = parse(variable, value);
  };
  set(settings.verbose, "ESPALIER_VERBOSE", parse_switch);
  set(settings.report, "ESPALIER_REPORT", parse_switch);
  set(settings.trials, "ESPALIER_TRIALS", parse_trials);
  set(settings.plan_files, "ESPALIER_PLAN", split_at_colons);
  set(settings.tuned_files, "ESPALIER_TUNED", split_at_colons);
  set(settings.decision_files, "ESPALIER_DECISIONS", split_at_colons);
  set(settings.platform_file, "ESPALIER_PLATFORM", as_it_is);
  set(settings.groups, "ESPALIER_GROUPS", as_it_is);
  if (!settings.groups.empty() && !settings.platform_file.empty()) {
    throw InputError({}, "ESPALIER_GROUPS", "ESPALIER_PLATFORM is given, too; give one of them");
  }
  if (!settings.groups.empty()) settings.algorithm = "hierarchical";
  set(settings.model, "ESPALIER_MODEL", as_it_is);
  set(settings.algorithm, "ESPALIER_ALGORITHM", as_it_is);
  set(settings.max_trees, "ESPALIER_MAX_TREES", parse_trees);
  using runtime::RankMapping;
  set(settings.mapping, "ESPALIER_MAP",
      parse_one_of<RankMapping, 2>(
          {{{"order", RankMapping::kByOrder}, {"host", RankMapping::kByHostName}}}));
  set(settings.local, "ESPALIER_LOCAL",
      parse_one_of<LocalCalls, 2>(
          {{{"hand-on", LocalCalls::kHandOn}, {"take", LocalCalls::kTake}}}));
  set(settings.varying, "ESPALIER_VARYING",
      parse_one_of<VaryingParts, 2>(
          {{{"hand-on", VaryingParts::kHandOn}, {"agree", VaryingParts::kAgree}}}));
  set(settings.learning, "ESPALIER_LEARN",
      parse_one_of<Learning, 3>(
          {{{"keep", Learning::kKept}, {"run", Learning::kForRun}, {"no", Learning::kOff}}}));
  set(settings.threshold, "ESPALIER_THRESHOLD", parse_threshold);
  set(settings.timeout, "ESPALIER_TIMEOUT", parse_timeout);
  return settings;
}

}  // namespace espalier::preload
