#include "simulate/model/sharing.hpp"

#include <algorithm>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::simulate {

std::string_view name_of(Sharing sharing) {
  return std::ranges::find(kSharings, sharing, &SharingEntry::sharing)->name;
}

Sharing parse_sharing(std::string_view name) {
  std::array<std::string_view, kSharings.size()> names;
  std::ranges::transform(kSharings, names.begin(), &SharingEntry::name);
  const auto* const found = std::ranges::find(kSharings, name, &SharingEntry::name);
  if (found == kSharings.end()) throw InputError(unknown_name("sharing", name, names));
  return found->sharing;
}

}  // namespace espalier::simulate
