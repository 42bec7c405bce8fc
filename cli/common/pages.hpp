// Manual pages and completion scripts, from the declaration of a program's options.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/common/command_facts.hpp"

namespace espalier::cli {

// commands: the program, then all its commands, those that a command leads to after it. shell:
// "bash", "zsh" or "fish". Throws InputError for another one.
std::string completion_script(std::span<const CommandFacts> commands, std::string_view shell);

// The manual page of one of them, for man(1). version: "espalier 0.1.0".
std::string manual_page(const CommandFacts& command, const std::string& version);

}  // namespace espalier::cli
