#include "engine/operation_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace espalier::engine {

std::string name_of(const Operation& operation, std::optional<std::uint64_t> index, int peer) {
  const std::string segment = index ? fmt::format("segment {} (number {} of tree {})", *index,
                                                  operation.nth, operation.tree)
                                    : fmt::format("the end of tree {}", operation.tree);
  return operation.is_send ? fmt::format("sending {} to rank {}", segment, peer)
                           : fmt::format("receiving {} from rank {}", segment, peer);
}

std::string waiting_for(std::span<const Operation> outstanding,
                        const std::function<std::string(const Operation&)>& describe,
                        const std::string& comparing) {
  constexpr std::size_t kMost = 4;
  const auto edge = [](const Operation& of) { return std::tuple(of.is_send, of.tree, of.edge); };
  std::vector<Operation> oldest(outstanding.begin(), outstanding.end());
  std::ranges::stable_sort(oldest, {}, edge);
  const auto are_of_one_edge = [&](const Operation& a, const Operation& b) {
    return edge(a) == edge(b);
  };
  oldest.erase(std::unique(oldest.begin(), oldest.end(), are_of_one_edge), oldest.end());
  std::vector<std::string> names;
  for (const Operation& operation : oldest) {
    if (names.size() < kMost) names.push_back(describe(operation));
  }
  std::size_t all = outstanding.size();
  if (!comparing.empty()) {
    ++all;
    if (names.size() < kMost) names.push_back(comparing + " (some have not begun)");
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (all > names.size()) text += fmt::format(" ({} more in progress)", all - names.size());
  return text;
}

std::string others_of(std::span<const Operation> outstanding,
                      const std::function<std::string(const Operation&)>& describe) {
  if (outstanding.empty()) return {};
  return fmt::format(" ({} more in progress, first: {})", outstanding.size(),
                     describe(outstanding[0]));
}

}  // namespace espalier::engine
