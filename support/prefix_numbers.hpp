// Numbers of paths, such as those of groups in groups: "lyon/rack1" is in lyon, and in its rack1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Numbers paths, and every prefix of one, in order of appearance. Empty components ("lyon//rack1")
// are ignored.
class PrefixNumbers {
 public:
  // Of the path's prefixes, the shortest first.
  std::vector<std::uint32_t> of(std::string_view path) {
    std::vector<std::uint32_t> numbers;
    std::string prefix;
    for (std::size_t start = 0; start < path.size();) {
      const std::size_t end = std::min(path.find('/', start), path.size());
      if (end > start) {
        prefix += '/';
        prefix += path.substr(start, end - start);
        const auto next = static_cast<std::uint32_t>(known_.size());
        numbers.push_back(known_.try_emplace(prefix, next).first->second);
      }
      start = end + 1;
    }
    return numbers;
  }
  [[nodiscard]] bool none() const { return known_.empty(); }

 private:
  std::map<std::string, std::uint32_t> known_;
};

}  // namespace espalier
