#include "cli/espalier_mpi/options/running_options.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "runtime/engine/reduce_operation.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {
namespace {

constexpr std::array<std::string_view, 2> kMappings = {"order", "host"};
constexpr std::size_t kLargestWindow = 10'000;

std::optional<Seconds> timeout_of(const std::string& text) {
  if (text == "never") return {};
  try {
    const Seconds timeout = parse_duration(text);
    if (timeout.value > 0) return timeout;
  } catch (const InputError& error) {
    throw InputError(std::string("--timeout: ") + error.what());
  }
  throw InputError("--timeout: " + in_quotes(text) +
                   " is not a time above 0; never disables the timeout");
}

}  // namespace

void add_running_options(CLI::App& command, Windows to, RunningTexts& texts) {
  command.add_option("--map", texts.map,
                     "mapping of ranks to nodes: order (rank i is node i), or host (by host name)");
  command.add_option("--window", to.sends, "outstanding sends per child")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command.add_option("--receives", to.receives, "receives posted ahead per tree")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command
      .add_option("--ports", to.ports,
                  "most sends of a rank in progress at a time; 1 is strictly one-port (default: "
                  "any number)")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow));
  command.add_option("--segment,--slice", texts.segment,
                     "segment size (default: chosen for plan and message, at most the plan's)");
  command
      .add_option("--timeout", texts.timeout,
                  "how long a rank waits without progress (30s), or never")
      ->capture_default_str()
      ->take_last();
}

void add_broadcast_options(CLI::App& command, runtime::BroadcastOptions& to, RunningTexts& texts) {
  add_running_options(command, {to.sends_in_flight, to.receives_in_flight, to.ports}, texts);
  command.add_flag(
      "!--as-planned", to.direct_copies,
      "ranks of one host forward segments along the plan's edges (default: all copy from the "
      "rank of the host that a tree reaches first)");
  command.add_flag("--rounds", to.rounds,
                   "synchronised rounds by the plan's colors (two-tree-sanders makes such plans)");
  command.add_flag("--schedule", to.schedule,
                   "send and receive in the order of the plan's periodic schedule (espalier plan "
                   "--schedule makes such plans)");
}

void add_element_options(CLI::App& command, ElementTexts& texts) {
  command.add_option(
      "--type", texts.type,
      fmt::format("type of the elements: {} (default double)", fmt::join(kElementTypes, ", ")));
  command.add_option("--op", texts.op,
                     fmt::format("operation: {} (default sum)", fmt::join(kElementOps, ", ")));
}

void add_tuned_option(CLI::App& command, std::vector<std::string>& to) {
  command
      .add_option("--tuned", to,
                  "file of espalier-mpi tune with the best segment sizes, for messages of about "
                  "the tuned sizes; read by rank 0 only")
      ->expected(1)
      ->take_all();
}

void check_tuned(const std::vector<std::string>& tuned, const std::optional<Bytes>& segment,
                 const runtime::BroadcastOptions& options) {
  if (tuned.empty()) return;
  if (segment)
    throw InputError("--tuned and --segment both set the segment size; give one of them");
  if (options.rounds)
    throw InputError("--tuned: --rounds needs the plan's segments; give one of them");
  if (options.schedule)
    throw InputError("--tuned: --schedule needs the plan's segments; give one of them");
}

Running check_running(const RunningTexts& texts) {
  Running running;
  if (!texts.segment.empty()) {
    running.segment = size_of("--segment", texts.segment);
    if (running.segment->value == 0) throw InputError("--segment: a segment has at least one byte");
  }
  if (place_of("--map", "mapping", texts.map, kMappings) == 1) {
    running.mapping = runtime::RankMapping::kByHostName;
  }
  running.timeout = timeout_of(texts.timeout);
  return running;
}

Elements check_elements(const ElementTexts& texts) {
  const Elements elements{
      static_cast<ElementType>(place_of("--type", "type", texts.type, kElementTypes)),
      static_cast<ElementOp>(place_of("--op", "operation", texts.op, kElementOps))};
  const std::string fault = runtime::operation_fault(mpi_type(elements.type), mpi_op(elements.op));
  if (!fault.empty()) throw InputError("--op: " + fault);
  return elements;
}

Bytes size_of(const std::string& option, const std::string& text) {
  try {
    return parse_size(text);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

std::vector<Bytes> sizes_of(const std::string& option, const std::string& text) {
  std::vector<Bytes> sizes;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    sizes.push_back(size_of(option, text.substr(start, comma - start)));
    start = comma + 1;
  }
  return sizes;
}

std::size_t place_of(const std::string& option, std::string_view kind, const std::string& name,
                     std::span<const std::string_view> table) {
  const auto found = std::find(table.begin(), table.end(), name);
  if (found == table.end()) throw InputError(option + ": " + unknown_name(kind, name, table));
  return static_cast<std::size_t>(found - table.begin());
}

void require_whole(const std::string& option, Bytes message, Elements elements) {
  const std::size_t element = bytes_of(elements.type);
  if (message.value % element != 0) {
    throw InputError(fmt::format("{}: {} bytes are not a multiple of a {}'s {}", option,
                                 message.value, name_of(elements.type), element));
  }
}

}  // namespace espalier::cli
