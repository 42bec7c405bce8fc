// Tables of named choices: arrays of entries with a member `name`.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier {

// The simplest entry: constexpr std::array<Choice<Sharing>, 2> kSharings{{{"turns", ...}, ...}}.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Of its entries, or of enumerators.
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& entry : table) {
    if constexpr (requires { entry.name; }) {
      names.push_back(entry.name);
    } else {
      names.push_back(name_of(entry));
    }
  }
  return names;
}

// The entry of that name; null if there is none.
template <class Table>
auto find_choice(const Table& table, std::string_view name) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == std::end(table) ? nullptr : &*found;
}

// The entry of that name. Throws InputError (reason only) that suggests the nearest name; `kind` is
// a noun ("model").
template <class Table>
const auto& choice_named(std::string_view kind, const Table& table, std::string_view name) {
  if (const auto* const found = find_choice(table, name)) return *found;
  throw InputError(unknown_name(kind, name, names_of(table)));
}

// The name of the choice `value`, which the table has.
template <class Table, class Value>
std::string_view name_of(const Table& table, const Value& value) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& choice) { return choice.value == value; })
      ->name;
}

}  // namespace espalier
