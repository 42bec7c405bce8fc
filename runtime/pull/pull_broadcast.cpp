#include "runtime/pull/pull_broadcast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "runtime/api/collective_state.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/agreement.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

constexpr std::uint64_t kSmallestSegment = std::uint64_t{8} << 10U;
constexpr std::uint64_t kFewSegments = 1024;
constexpr std::uint64_t kManySegments = 16384;
constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::uint64_t pulled_segment(std::uint64_t message_bytes) {
  const std::uint64_t small = rounded_up(message_bytes / kFewSegments, kPageBytes);
  const std::uint64_t large = rounded_up(message_bytes / kManySegments, kPageBytes);
  const std::uint64_t usual = std::clamp(small, kSmallestSegment, kEagerOverTcp.value);
  return std::min(std::max(usual, large), kLargestSegment);
}

PullBroadcast::PullBroadcast(MPI_Comm comm, const PullOptions& options)
    : options_(options),
      setting_{OwnedComm(comm, Timeout(options.timeout)), OwnedComm(comm, Timeout(options.timeout)),
               options.timeout, options.seed, options.on_progress} {
  collective_try(
      setting_.control.get(),
      [&] {
        if (options.segment_bytes > kLargestSegment) {
          throw InputError(fmt::format("segments have at most {} bytes, not {}", kLargestSegment,
                                       options.segment_bytes));
        }
      },
      false, Timeout(options.timeout));
  const std::array<std::uint64_t, 2> common{options.segment_bytes, options.timeout ? 1U : 0U};
  if (!all_equal(setting_.control.get(), common, Timeout(options.timeout))) {
    throw InputError("the ranks have different options for a broadcast without a plan");
  }
}

std::uint64_t PullBroadcast::segment_bytes(std::uint64_t message_bytes) const {
  const std::uint64_t chosen =
      options_.segment_bytes != 0 ? options_.segment_bytes : pulled_segment(message_bytes);
  return std::min(chosen, std::max<std::uint64_t>(message_bytes, 1));
}

template <class Act>
auto PullBroadcast::unless_broken(const Act& act) {
  if (is_broken_) throw std::logic_error("a broadcast that failed cannot run again");
  try {
    return act();
  } catch (const InputError&) {
    throw;  // on all ranks, before anything was sent
  } catch (...) {
    is_broken_ = true;
    setting_.control.abandon();
    setting_.data.abandon();
    throw;
  }
}

void PullBroadcast::compare_calls(std::uint64_t bytes, int source) const {
  const std::array<std::uint64_t, 2> call{bytes, static_cast<std::uint64_t>(source)};
  if (all_equal(setting_.control.get(), call, Timeout(options_.timeout))) return;
  throw InputError(
      fmt::format("the ranks disagree on the size of the message or on its source: {} bytes from "
                  "rank {} on rank {}",
                  bytes, source, setting_.control.rank()));
}

void PullBroadcast::run(void* buffer, std::size_t count, MPI_Datatype type, int source) {
  unless_broken([&] { run_buffer(buffer, count, type, source); });
}

void PullBroadcast::run_buffer(void* buffer, std::size_t count, MPI_Datatype type, int source) {
  MPI_Comm comm = setting_.control.get();
  std::optional<PackedStore> packed;
  std::optional<MemoryStore> plain;
  SegmentGrid grid;
  collective_try(
      comm,
      [&] {
        if (source < 0 || static_cast<std::size_t>(source) >= setting_.control.size()) {
          throw InputError(
              fmt::format("there is no rank {} among {}", source, setting_.control.size()));
        }
        if (type == MPI_DATATYPE_NULL) throw InputError("MPI_DATATYPE_NULL is not a type");
        const ElementShape shape = element_shape_of(type);
        if (const std::string fault = size_fault(count, shape.bytes); !fault.empty()) {
          throw InputError(fault);
        }
        const std::uint64_t bytes = count * shape.bytes;
        grid = {bytes, segment_bytes(bytes)};
        if (is_plain(comm, type)) {
          plain.emplace(static_cast<std::byte*>(moved(buffer, shape.true_low)));
        } else {
          packed.emplace(comm, buffer, count, type, shape.bytes, grid);
        }
      },
      true, Timeout(options_.timeout));
  compare_calls(grid.message, source);
  SegmentStore& store = plain ? static_cast<SegmentStore&>(*plain) : *packed;
  MemoryPullStore pulled(store, grid, setting_.control.rank() == source);
  PullRun(setting_, source, grid, pulled).run();
}

Broadcast::StreamShape PullBroadcast::stream_shape(std::uint64_t message_bytes,
                                                   std::uint64_t buffer_bytes) const {
  constexpr std::uint64_t kLeastSlots = 4;
  const std::uint64_t most = std::max<std::uint64_t>(buffer_bytes / kLeastSlots, 1);
  const std::uint64_t segment = std::min(segment_bytes(message_bytes), most);
  return {segment, std::max(buffer_bytes / segment, kLeastSlots), 1};
}

bool PullBroadcast::stream(std::uint64_t bytes, const Broadcast::StreamShape& shape,
                           FileStore& store, int source) {
  return unless_broken([&] {
    compare_calls(bytes, source);
    const SegmentGrid grid{bytes, shape.segment_bytes};
    FilePullStore pulled(store, grid, setting_.control.rank() == source);
    const bool is_whole = PullRun(setting_, source, grid, pulled).run();
    if (is_whole) pulled.load_rest();
    return is_whole;
  });
}

}  // namespace espalier::runtime
