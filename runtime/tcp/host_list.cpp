#include "runtime/tcp/host_list.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::runtime::tcp {
namespace {

HostEntry entry_of(const std::vector<std::string_view>& words) {
  HostEntry entry{std::string(words[0]), std::string(words[0])};
  if (entry.name.find('=') != std::string::npos || entry.name.starts_with('-')) {
    throw InputError(fmt::format("{} is not the name of a host", in_quotes(words[0])));
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t sign = words[i].find('=');
    const std::string_view key = words[i].substr(0, sign);
    const std::string_view value =
        sign == std::string_view::npos ? std::string_view{} : words[i].substr(sign + 1);
    if (key == "address" && !value.empty()) {
      entry.address = value;
    } else if (key != "slots" && key != "max_slots" && key != "max-slots") {
      throw InputError(fmt::format("{} is not known; a line is NAME, or NAME address=ADDRESS",
                                   in_quotes(words[i])));
    }
  }
  return entry;
}

}  // namespace

std::vector<HostEntry> parse_hosts(std::string_view text, const std::string& file) {
  std::vector<HostEntry> hosts;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    at_place(file, fmt::format("line {}", number), [&] { hosts.push_back(entry_of(words)); });
  }
  if (hosts.empty()) throw InputError(file, {}, "names no host");
  return hosts;
}

bool is_this_host(std::string_view name) {
  std::array<char, 256> mine{};
  ::gethostname(mine.data(), mine.size() - 1);
  return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == mine.data();
}

}  // namespace espalier::runtime::tcp
