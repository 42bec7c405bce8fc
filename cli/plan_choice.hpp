// The plan that suits one message best (`plan --message`): chosen with its progress shown, and told
// to people and to programs.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "planner/instance.hpp"
#include "simulate/choose_plan.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// As simulate::choose_plan for the instance's platform, source and model.
simulate::Choice choose_for(const planner::Instance& instance, Bytes message,
                            simulate::ChoiceOptions options, const Console& console);

// What was chosen and why, a line or two with line ends.
std::string choice_text(const simulate::Choice& choice, Bytes message);
Json choice_json(const simulate::Choice& choice, Bytes message);

// "--overhead TIME": finite, not negative. Throws InputError that names the option.
Seconds parse_overhead(const std::string& text);

}  // namespace espalier::cli
