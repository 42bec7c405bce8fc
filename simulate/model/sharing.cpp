#include "simulate/model/sharing.hpp"

namespace espalier::simulate {

std::string_view name_of(Sharing sharing) {
  return espalier::name_of(kSharings, sharing);
}

Sharing parse_sharing(std::string_view name) {
  return choice_named("sharing", kSharings, name).value;
}

}  // namespace espalier::simulate
