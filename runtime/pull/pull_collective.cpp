#include "runtime/pull/pull_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/api/collective_state.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/files/file_store.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/pull/gathered_traffic.hpp"
#include "runtime/pull/pull_run.hpp"
#include "runtime/pull/pull_store.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {

using engine::pull::PulledMessage;

std::uint64_t pulled_segment(std::uint64_t message_bytes, std::uint64_t wanted) {
  // Small enough for MPI to send them without asking the receiver, as far as that allows.
  const std::uint64_t usual =
      std::min(engine::pull::usual_segment(message_bytes, kEagerOverTcp.value), kLargestSegment);
  return engine::pull::grid_of(message_bytes, wanted != 0 ? wanted : usual).segment;
}

struct PullCollective::State {
  PullOptions options;
  PullSetting setting;
  bool is_broken = false;
  std::optional<engine::pull::Traffic> traffic{};  // of the last message

  State(MPI_Comm comm, const PullOptions& given);

  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes) const {
    return pulled_segment(message_bytes, options.segment_bytes);
  }
  [[nodiscard]] bool is_source(int source) const { return setting.control.rank() == source; }

  template <class Act>
  auto unless_broken(const Act& act) {
    if (is_broken) throw std::logic_error("a pull that failed cannot run again");
    try {
      return act();
    } catch (const InputError&) {
      throw;  // on all ranks, before anything was sent
    } catch (...) {
      is_broken = true;
      setting.control.abandon();
      setting.data.abandon();
      throw;
    }
  }
  // Throws InputError on all ranks where the ranks differ.
  void compare_calls(std::uint64_t bytes, std::uint64_t kind, std::string_view what) const;
  void compare_broadcasts(std::uint64_t bytes, int source) const;
  void broadcast(void* buffer, std::size_t count, MPI_Datatype type, int source);
  void allgather(const void* sendbuf, void* recvbuf, const Parts& given, MPI_Datatype type,
                 std::span<const std::size_t> owners);
  // As PullRun::run().
  bool pull(const PulledMessage& message, PullStore& store);
};

PullCollective::State::State(MPI_Comm comm, const PullOptions& given)
    : options(given),
      setting{OwnedComm(comm, Timeout(given.timeout)),
              OwnedComm(comm, Timeout(given.timeout)),
              given.timeout,
              given.seed,
              hosts_of_ranks(comm),
              given.transfers,
              given.shown_ranks,
              given.on_progress} {
  const Timeout timeout(given.timeout);
  const auto refuse_large = [&] {
    if (given.segment_bytes <= kLargestSegment) return;
    throw InputError(fmt::format("segments have at most {} bytes, not {}", kLargestSegment,
                                 given.segment_bytes));
  };
  collective_try(setting.control.get(), refuse_large, false, timeout);
  const std::array<std::uint64_t, 2> common{given.segment_bytes, given.timeout ? 1U : 0U};
  if (!all_equal(setting.control.get(), common, timeout)) {
    throw InputError("the ranks have different options for a message without a plan");
  }
}

void PullCollective::State::compare_calls(std::uint64_t bytes, std::uint64_t kind,
                                          std::string_view what) const {
  const std::array<std::uint64_t, 2> call{bytes, kind};
  if (all_equal(setting.control.get(), call, Timeout(options.timeout))) return;
  throw InputError(fmt::format("the ranks disagree on {}: {} bytes on rank {}", what, bytes,
                               setting.control.rank()));
}
void PullCollective::State::compare_broadcasts(std::uint64_t bytes, int source) const {
  compare_calls(bytes, static_cast<std::uint64_t>(source),
                "the size of the message or on its source");
}

void PullCollective::State::broadcast(void* buffer, std::size_t count, MPI_Datatype type,
                                      int source) {
  MPI_Comm comm = setting.control.get();
  std::optional<PackedStore> packed;
  std::optional<MemoryStore> plain;
  SegmentGrid grid;
  const auto prepare = [&] {
    if (source < 0 || static_cast<std::size_t>(source) >= setting.control.size()) {
      throw InputError(fmt::format("there is no rank {} among {}", source, setting.control.size()));
    }
    if (type == MPI_DATATYPE_NULL) throw InputError("MPI_DATATYPE_NULL is not a type");
    const ElementShape shape = element_shape_of(type);
    if (const std::string fault = size_fault(count, shape.bytes); !fault.empty()) {
      throw InputError(fault);
    }
    const std::uint64_t bytes = count * shape.bytes;
    grid = {bytes, segment_bytes(bytes)};
    engine::pull::require_few_segments({0, grid});
    if (is_plain(comm, type)) {
      plain.emplace(static_cast<std::byte*>(moved(buffer, shape.true_low)));
    } else {
      packed.emplace(comm, buffer, count, type, shape.bytes, grid);
    }
  };
  collective_try(comm, prepare, true, Timeout(options.timeout));
  compare_broadcasts(grid.message, source);
  SegmentStore& store = plain ? static_cast<SegmentStore&>(*plain) : *packed;
  MemoryPullStore pulled(store, grid, is_source(source));
  pull({static_cast<std::size_t>(source), grid}, pulled);
}

void PullCollective::State::allgather(const void* sendbuf, void* recvbuf, const Parts& given,
                                      MPI_Datatype type, std::span<const std::size_t> owners) {
  MPI_Comm comm = setting.control.get();
  const PlacedParts placed(given);
  const Parts parts = placed.parts();
  const std::size_t own = static_cast<std::size_t>(setting.control.rank());
  std::optional<PartsInMemory> gathered;
  std::optional<PulledMessage> message;
  std::vector<std::size_t> bytes;
  const auto prepare = [&] {
    if (type == MPI_DATATYPE_NULL) throw InputError("MPI_DATATYPE_NULL is not a type");
    const ElementShape shape = element_shape_of(type);
    const std::size_t count = owners.empty() ? setting.control.size() : owners.size();
    if (const std::string fault = parts_fault(parts, count, shape); !fault.empty()) {
      throw InputError(fault);
    }
    gathered.emplace(comm, recvbuf, parts, type, shape);
    std::vector<PulledMessage::Block> blocks;
    for (std::size_t part = 0; part < count; ++part) {
      const std::size_t owner = owners.empty() ? part : owners[part];
      bytes.push_back(parts.counts[part] * shape.bytes);
      blocks.push_back({owner, bytes.back()});
      if (owner != own) continue;
      if (sendbuf == MPI_IN_PLACE) {
        gathered->pack(part);
      } else {
        gathered->take(part, const_cast<void*>(sendbuf));
      }
    }
    message.emplace(blocks, segment_bytes(parts.total() * shape.bytes));
    engine::pull::require_few_segments(*message);
  };
  collective_try(comm, prepare, true, Timeout(options.timeout));
  compare_calls(message->bytes(), Parts{bytes, {}}.kind(), "the sizes of their parts");
  PartsPullStore store(*gathered, *message);
  pull(*message, store);
  gathered->unpack_all({});
}

bool PullCollective::State::pull(const PulledMessage& message, PullStore& store) {
  PullRun run(setting, message, store);
  const bool is_whole = run.run();
  traffic = std::move(run.traffic());
  return is_whole;
}

PullCollective::PullCollective(MPI_Comm comm, const PullOptions& options)
    : state_(std::make_unique<State>(comm, options)) {}
PullCollective::~PullCollective() = default;
PullCollective::PullCollective(PullCollective&&) noexcept = default;
PullCollective& PullCollective::operator=(PullCollective&&) noexcept = default;

void PullCollective::broadcast(void* buffer, std::size_t count, MPI_Datatype type, int source) {
  state_->unless_broken([&] { state_->broadcast(buffer, count, type, source); });
}

void PullCollective::allgather(const void* sendbuf, void* recvbuf,
                               std::span<const std::size_t> counts,
                               std::span<const std::size_t> first, MPI_Datatype type,
                               std::span<const std::size_t> owners) {
  state_->unless_broken([&] {
    state_->allgather(sendbuf, recvbuf, {counts, first}, type, owners);
  });
}

std::uint64_t PullCollective::segment_bytes(std::uint64_t message_bytes) const {
  return state_->segment_bytes(message_bytes);
}

Collective::StreamShape PullCollective::stream_shape(std::uint64_t message_bytes,
                                                     std::uint64_t buffer_bytes) const {
  constexpr std::uint64_t kLeastSlots = 4;
  const std::uint64_t most = std::max<std::uint64_t>(buffer_bytes / kLeastSlots, 1);
  const std::uint64_t segment = std::min(segment_bytes(message_bytes), most);
  // No more than the message has.
  const std::uint64_t wanted = SegmentGrid{message_bytes, segment}.count();
  return {segment, std::max(std::min(buffer_bytes / segment, wanted), kLeastSlots), 1};
}

bool PullCollective::stream(std::uint64_t bytes, const Collective::StreamShape& shape,
                            FileStore& store, int source) {
  return state_->unless_broken([&] {
    const SegmentGrid grid{bytes, shape.segment_bytes};
    const PulledMessage message(static_cast<std::size_t>(source), grid);
    engine::pull::require_few_segments(message);  // on all ranks alike
    state_->compare_broadcasts(bytes, source);
    FilePullStore pulled(store, grid, state_->is_source(source));
    const bool is_whole = state_->pull(message, pulled);
    if (is_whole) pulled.load_rest();
    return is_whole;
  });
}

std::vector<engine::pull::Traffic> PullCollective::gather_traffic() {
  return state_->unless_broken([&]() -> std::vector<engine::pull::Traffic> {
    const PullSetting& setting = state_->setting;
    if (!state_->traffic || setting.control.size() > kMostLearntRanks) return {};
    return gathered_traffic(setting.control.get(), *state_->traffic, Timeout(setting.timeout));
  });
}

}  // namespace espalier::runtime
