// The part of the engine that passes segments through the host's rings.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/engine/engine_run.hpp"
#include "runtime/memory/streaming_copy.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

// Cells moved between two polls of MPI.
constexpr int kCellsAtOnce = 4;
// Larger messages bypass the caches. A smaller one fits a processor's own cache, from which the
// receiver will soon read it.
constexpr std::uint64_t kPastCaches = std::uint64_t{2} << 20U;

void copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint64_t message) {
  if (message < kPastCaches) {
    std::memcpy(to, from, bytes);
  } else {
    copy_past_caches(to, from, bytes);
  }
}

}  // namespace

bool Engine::Run::awaits_rings() const {
  if (!options_.rings) return false;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    if (roles_[tree].from_ring && flow.here < flow.end) return true;
    if (roles_[tree].to_ring && flow.published < flow.end) return true;
  }
  return false;
}

bool Engine::Run::has_only_rings() const {
  return std::ranges::all_of(roles_, [](const TreeRole& role) {
    return role.children.empty() && (role.parent == kNoRank || role.from_ring);
  });
}

bool Engine::Run::move_rings() {
  if (!options_.rings) return false;
  bool any = false;
  for (HostRings::Read& ring : options_.rings->read) any = read_ring(ring) || any;
  return write_ring() || any;
}

bool Engine::Run::awaits_from(int writer) const {
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const TreeRole& role = roles_[tree];
    if (role.from_ring && role.parent == writer && flows_[tree].here < flows_[tree].end)
      return true;
  }
  return false;
}

// Cells after a message's last one belong to the next message, for which this rank is not ready.
bool Engine::Run::read_ring(HostRings::Read& ring) {
  int cells = 0;
  for (; cells < kCellsAtOnce && awaits_from(ring.writer); ++cells) {
    const auto cell = ring.ring.next();
    if (!cell) break;
    take_cell(ring.writer, *cell);
    ring.ring.pass();
  }
  return cells != 0;
}

void Engine::Run::take_cell(int writer, const HostRing::Cell& cell) {
  const HostRing::Head& head = cell.head;
  Flow& flow = flows_[head.tree];
  const Segment due = flow.here < flow.end ? segment_at(head.tree, flow.here) : Segment{};
  if (head.nth != flow.here || head.segment_bytes != due.bytes) {
    await_size_check();
    throw InputError(fmt::format(
        "{}receiving segment number {} of tree {} from rank {}: {} bytes arrived, expected {} of "
        "number {}",
        context(), head.nth, head.tree, writer, head.segment_bytes, due.bytes, flow.here));
  }
  if (options_.transfers != nullptr && flow.read_bytes == 0) {
    options_.transfers->begun(place_in_ring(head.tree, 0), due, writer, false);
  }
  copy(store_->buffer_for(due) + head.offset, cell.bytes, head.bytes, grid_.message);
  flow.read_bytes += head.bytes;
  if (flow.read_bytes != due.bytes) return;
  if (options_.transfers != nullptr) options_.transfers->ended(place_in_ring(head.tree, 0));
  flow.read_bytes = 0;
  ++flow.posted;
  ++flow.here;
}

std::optional<std::size_t> Engine::Run::next_for_ring() const {
  std::optional<std::size_t> next;
  std::uint64_t oldest = UINT64_MAX;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    if (!roles_[tree].to_ring || flow.published == flow.here) continue;
    const std::uint64_t segment = assignment_.segment_of(tree, flow.published);
    if (segment >= oldest) continue;
    oldest = segment;
    next = tree;
  }
  return next;
}

bool Engine::Run::write_ring() {
  if (!options_.rings->written) return false;
  int cells = 0;
  for (; cells < kCellsAtOnce; ++cells) {
    const auto tree = next_for_ring();
    if (!tree || !options_.rings->written->has_free_cell()) break;
    write_cell(*tree);
  }
  return cells != 0;
}

void Engine::Run::write_cell(std::size_t tree) {
  Flow& flow = flows_[tree];
  const Segment segment = segment_at(tree, flow.published);
  const std::vector<int>& readers = options_.rings->readers;
  if (options_.transfers != nullptr && flow.published_bytes == 0) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      options_.transfers->begun(place_in_ring(tree, i + 1), segment, readers[i], true);
    }
  }
  HostRing& ring = *options_.rings->written;
  const std::size_t bytes =
      std::min<std::size_t>(segment.bytes - flow.published_bytes, HostRing::kCellBytes);
  copy(ring.free_cell(), store_->buffer_for(segment) + flow.published_bytes, bytes, grid_.message);
  ring.write({flow.published, flow.published_bytes, segment.bytes, static_cast<std::uint32_t>(tree),
              static_cast<std::uint32_t>(bytes)});
  flow.published_bytes += bytes;
  if (flow.published_bytes != segment.bytes) return;
  if (options_.transfers != nullptr) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      options_.transfers->ended(place_in_ring(tree, i + 1));
    }
  }
  flow.published_bytes = 0;
  ++flow.published;
}

std::vector<std::string> Engine::Run::ring_waits() const {
  std::vector<std::string> waits;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    if (!roles_[tree].from_ring || flow.here == flow.end) continue;
    waits.push_back(names_.receiving(tree, flow.here));
  }
  if (const auto tree = next_for_ring()) {
    const int slowest = options_.rings->readers[options_.rings->written->slowest_reader()];
    waits.push_back(names_.sending_to(slowest, *tree, flows_[*tree].published));
  }
  return waits;
}

std::size_t Engine::Run::ring_places() const {
  return options_.rings ? roles_.size() * (1 + options_.rings->readers.size()) : 0;
}

std::size_t Engine::Run::place_in_ring(std::size_t tree, std::size_t reader) const {
  return requests_.size() + tree * (1 + options_.rings->readers.size()) + reader;
}

}  // namespace espalier::runtime
