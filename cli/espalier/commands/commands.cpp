#include "cli/espalier/commands/commands.hpp"

namespace espalier::cli {

std::vector<Command> add_commands(Arguments root) {
  std::vector<Command> commands{add_plan(root),    add_compare(root), add_bound(root),
                                add_explain(root), add_verify(root),  add_simulate(root),
                                add_predict(root), add_decide(root),  add_fit(root),
                                add_show(root),    add_convert(root)};
  for (Command& command : add_generate(root)) commands.push_back(std::move(command));
  for (Command& command : add_study(root)) commands.push_back(std::move(command));
  commands.push_back(add_list(root));
  return commands;
}

}  // namespace espalier::cli
