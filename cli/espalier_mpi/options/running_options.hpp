// Options that several commands of espalier-mpi share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier_mpi/run/elements.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/api/broadcast.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// Where commands run. Their arguments can be parsed without it.
struct Job {
  MPI_Comm comm = MPI_COMM_NULL;
  Watchdog* watchdog = nullptr;
};

inline constexpr std::size_t kMostRepeats = 1'000'000;

// How a plan is run: --map, --window, --receives, --ports, --timeout, --as-planned, --rounds; and
// --segment.
struct RunningOptions {
  runtime::RankMapping mapping = runtime::RankMapping::kByOrder;
  std::optional<std::size_t> sends{};  // unset: the executor's default, as the next two
  std::optional<std::size_t> receives{};
  std::optional<std::size_t> ports{};
  std::optional<Seconds> timeout{{60}};  // unset: none
  std::optional<Bytes> segment{};        // unset: not given
  bool direct_copies = true;
  bool rounds = false;

  // defaults: runtime::BroadcastOptions or ReductionOptions.
  template <class Options>
  void add_to(Arguments& app, const Options& defaults) {
    add_to(app, defaults.sends_in_flight, defaults.receives_in_flight);
  }
  void add_segment_to(Arguments& app);
  // 0: not given.
  [[nodiscard]] std::uint64_t segment_bytes() const { return segment.value_or(Bytes{0}).value; }
  void write_to(runtime::CollectiveOptions& options) const;

 private:
  void add_to(Arguments& app, std::size_t default_sends, std::size_t default_receives);
};

// --map; --timeout.
void add_mapping(Arguments& app, runtime::RankMapping& to);
void add_timeout(Arguments& app, std::optional<Seconds>& to);

// A reader of --segment; at least one byte.
Bytes read_segment(std::string_view text);

// --schedule, which is for operations that can_have_schedule.
void add_schedule(Arguments& app, bool& to);

// --type and --op.
struct ElementOptions {
  std::optional<ElementType> type{};
  std::optional<ElementOp> op{};

  void add_to(Arguments& app);
  // Throws InputError where the operation is not defined on the type.
  [[nodiscard]] Elements read() const;
};

// --tuned.
void add_tuned_option(Arguments& app, std::vector<std::string>& to);
// Throws InputError when it cannot be combined with the other options.
void check_tuned(const std::vector<std::string>& tuned, const std::optional<Bytes>& segment,
                 const runtime::BroadcastOptions& options);
// Throws InputError unless `message` is a whole number of elements.
void require_whole(const std::string& option, Bytes message, Elements elements);

}  // namespace espalier::cli
