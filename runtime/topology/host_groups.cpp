#include "runtime/topology/host_groups.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "runtime/api/rank_mapping.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::runtime {
namespace {

void add_host_line(HostGroups& groups, const std::vector<std::string_view>& words) {
  if (words.size() != 2) {
    throw InputError(fmt::format("has {}; a line is HOST GROUP", counted(words.size(), "word")));
  }
  const auto [host, is_new] = groups.emplace(words[0], words[1]);
  if (is_new || host->second == words[1]) return;
  throw InputError(fmt::format("host {} has two groups, {} and {}", in_quotes(words[0]),
                               in_quotes(host->second), in_quotes(words[1])));
}

}  // namespace

HostGroups parse_host_groups(std::string_view text, const std::string& file) {
  HostGroups groups;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    at_place(
        file, [&] { return fmt::format("line {}", number); },
        [&] { add_host_line(groups, words); });
  }
  if (groups.empty()) throw InputError(file, {}, "names no host; a line is HOST GROUP");
  return groups;
}

std::vector<std::string> groups_of_hosts(const HostGroups& groups,
                                         std::span<const std::string> hosts,
                                         const std::string& file) {
  HostGroups by_cut_name;
  for (const auto& [host, group] : groups) by_cut_name.emplace(up_to_dot(host), group);
  std::vector<std::string> found;
  for (const std::string& host : hosts) {
    auto entry = groups.find(host);
    if (entry == groups.end()) {
      entry = by_cut_name.find(up_to_dot(host));
      if (entry == by_cut_name.end()) {
        throw InputError(
            file, {},
            fmt::format("does not say the group of host {}, on which ranks run", in_quotes(host)));
      }
    }
    found.push_back(entry->second);
  }
  return found;
}

}  // namespace espalier::runtime
