#include "cli/espalier_mpi/options/running_options.hpp"

#include <fmt/format.h>

#include <array>

#include "runtime/memory/reduce_operation.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

constexpr std::array<std::string_view, 2> kMappings = {"order", "host"};
constexpr std::size_t kLargestWindow = 10'000;

std::optional<Seconds> read_timeout(const std::string& text) {
  if (text == "never") return {};
  const Seconds timeout = read_duration(text);
  if (timeout.value > 0) return timeout;
  throw InputError(in_quotes(text) + " is not a time above 0; never disables the timeout");
}

}  // namespace

void RunningOptions::add_to(Arguments& app, std::size_t default_sends,
                            std::size_t default_receives) {
  const Range window{1, kLargestWindow};
  add_mapping(app, mapping);
  app.add("--window", sends, "outstanding sends per child",
          {.shown = shown(default_sends), .range = window});
  app.add("--receives", receives, "receives posted ahead per tree",
          {.shown = shown(default_receives), .range = window});
  app.add(
      "--ports", ports,
      "most sends of a rank in progress at a time; 1 is strictly one-port (default: any number)",
      {.range = window});
  add_timeout(app, timeout);
  app.add("!--as-planned", direct_copies,
          "ranks of one host pass segments along the plan's edges by MPI (default: through shared "
          "memory; copies all come from the rank of the host that a tree reaches first)");
  app.add("--rounds", rounds,
          "synchronised rounds by the plan's colors (two-tree-sanders makes such plans)");
}

void add_mapping(Arguments& app, runtime::RankMapping& to) {
  app.add("--map", to, one_named<runtime::RankMapping>("mapping", kMappings),
          "mapping of ranks to nodes: order (rank i is node i), or host (by host name)",
          {.shown = "order"});
}

void add_timeout(Arguments& app, std::optional<Seconds>& to) {
  app.add("--timeout", to, read_timeout, "how long a rank waits without progress (30s), or never",
          {.shown = "1 min", .last_counts = true});
}

void RunningOptions::write_to(runtime::CollectiveOptions& options) const {
  options.mapping = mapping;
  options.timeout = timeout;
  options.sends_in_flight = sends.value_or(options.sends_in_flight);
  options.receives_in_flight = receives.value_or(options.receives_in_flight);
  options.ports = ports.value_or(options.ports);
  options.direct_copies = direct_copies;
  options.rounds = rounds;
}

void RunningOptions::add_segment_to(Arguments& app) {
  app.add("--segment,--slice", segment, read_segment,
          "segment size (default: chosen for plan and message, at most the plan's)");
}

Bytes read_segment(std::string_view text) {
  const Bytes size = parse_size(text);
  if (size.value == 0) throw InputError("a segment has at least one byte");
  return size;
}

void add_schedule(Arguments& app, bool& to) {
  app.add("--schedule", to,
          "send and receive in the order of the plan's periodic schedule (espalier plan --schedule "
          "makes such plans)");
}

void ElementOptions::add_to(Arguments& app) {
  app.add("--type", type, one_named<ElementType>("type", kElementTypes),
          "type of the elements, " + one_of(kElementTypes), {.shown = shown(ElementType{})});
  app.add("--op", op, one_named<ElementOp>("operation", kElementOps),
          "operation, " + one_of(kElementOps), {.shown = shown(ElementOp{})});
}

Elements ElementOptions::read() const {
  const Elements elements{type.value_or(ElementType{}), op.value_or(ElementOp{})};
  const std::string fault = runtime::operation_fault(mpi_type(elements.type), mpi_op(elements.op));
  if (!fault.empty()) throw InputError("--op: " + fault);
  return elements;
}

void add_tuned_option(Arguments& app, std::vector<std::string>& to) {
  app.add("--tuned", to,
          "file of espalier-mpi tune with the best segment sizes, for messages of about the tuned "
          "sizes; read by rank 0 only",
          {.type = "FILE"});
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

void require_whole(const std::string& option, Bytes message, Elements elements) {
  const std::size_t element = bytes_of(elements.type);
  if (message.value % element != 0) {
    throw InputError(fmt::format("{}: {} bytes are not a multiple of a {}'s {}", option,
                                 message.value, name_of(elements.type), element));
  }
}

}  // namespace espalier::cli
