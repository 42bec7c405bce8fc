// Options that several commands of espalier-mpi share, and their checks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier_mpi/run/elements.hpp"
#include "runtime/api/broadcast.hpp"
#include "support/quantities.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace espalier::cli {

inline constexpr std::size_t kMostRepeats = 1'000'000;

// The unchecked texts that CLI11 stores.
struct RunningTexts {
  std::string segment;
  std::string map = "order";
  std::string timeout = "1 min";
};
struct ElementTexts {
  std::string type{kElementTypes[0]};
  std::string op{kElementOps[0]};
};

// References to the fields of BroadcastOptions or ReductionOptions that options set.
struct Windows {
  std::size_t& sends;
  std::size_t& receives;
  std::size_t& ports;
};

// Options for running any plan.
void add_running_options(CLI::App& command, Windows to, RunningTexts& texts);
// The same, and those that only broadcasts have.
void add_broadcast_options(CLI::App& command, runtime::BroadcastOptions& to, RunningTexts& texts);
// --type and --op.
void add_element_options(CLI::App& command, ElementTexts& texts);

// --tuned.
void add_tuned_option(CLI::App& command, std::vector<std::string>& to);
// Throws InputError when it cannot be combined with the other options.
void check_tuned(const std::vector<std::string>& tuned, const std::optional<Bytes>& segment,
                 const runtime::BroadcastOptions& options);

// The parsed texts of add_running_options.
struct Running {
  runtime::RankMapping mapping = runtime::RankMapping::kByOrder;
  std::optional<Seconds> timeout;  // unset: none
  std::optional<Bytes> segment;    // unset: not given
};
// All of these throw InputError that names the option.
Running check_running(const RunningTexts& texts);
Elements check_elements(const ElementTexts& texts);
Bytes size_of(const std::string& option, const std::string& text);
// Sizes separated by commas, at least one.
std::vector<Bytes> sizes_of(const std::string& option, const std::string& text);
// The index of a name in its table. kind: the noun for it in messages.
std::size_t place_of(const std::string& option, std::string_view kind, const std::string& name,
                     std::span<const std::string_view> table);
// Throws InputError unless `message` is a whole number of elements.
void require_whole(const std::string& option, Bytes message, Elements elements);

}  // namespace espalier::cli
