#include "support/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "support/errors.hpp"

namespace espalier {

namespace {

constexpr std::size_t kMaxListed = 12;

// Damerau-Levenshtein distance in which no letter is edited twice ("optimal string alignment").
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> choices) {
  std::string_view nearest;
  std::size_t least = 0;
  for (const std::string_view choice : choices) {
    const std::size_t shorter = std::min(name.size(), choice.size());
    const std::size_t longer = std::max(name.size(), choice.size());
    const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
    // Also avoids comparing very long names letter by letter.
    if (longer - shorter > allowed) continue;
    const std::size_t apart = distance(name, choice);
    if (apart <= allowed && (nearest.empty() || apart < least)) {
      nearest = choice;
      least = apart;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> choices) {
  std::string reason = "unknown " + std::string(kind) + " " + in_quotes(name);
  const std::string_view nearest = nearest_name(name, choices);
  if (!nearest.empty()) reason += "; did you mean " + in_quotes(nearest) + "?";
  if (choices.empty() || choices.size() > kMaxListed) return reason;
  reason += nearest.empty() ? "; one of: " : " one of: ";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) reason += ", ";
    reason += choices[i];
  }
  return reason;
}

}  // namespace espalier
