#include "runtime/transport/ring_edges.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "runtime/memory/streaming_copy.hpp"

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

RingEdges::RingEdges(std::shared_ptr<HostRings> rings, std::span<const engine::TreeRole> roles,
                     TransferLog* transfers)
    : rings_(std::move(rings)), transfers_(transfers), trees_(roles.size()) {
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    for (const engine::Edge& edge : roles[tree].in) {
      if (edge.uses_ring) trees_[tree].writer = edge.peer;
    }
  }
}

void RingEdges::set_windows(std::span<const engine::TreeWindows> windows) {
  const auto largest = [](const std::vector<std::uint64_t>& of_edges) {
    return of_edges.empty() ? 1 : std::ranges::max(of_edges);
  };
  for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
    trees_[tree].in.open.resize(largest(windows[tree].in));
    trees_[tree].out.open.resize(largest(windows[tree].out));
  }
}

void RingEdges::begin(std::uint64_t bytes, std::size_t first_place) {
  message_ = bytes;
  first_place_ = first_place;
  for (Tree& tree : trees_) {
    for (Course* course : {&tree.in, &tree.out}) course->begun = course->done = course->bytes = 0;
  }
}

bool RingEdges::has_open() const {
  return std::ranges::any_of(
      trees_, [](const Tree& tree) { return tree.in.is_open() || tree.out.is_open(); });
}

bool RingEdges::move(std::vector<engine::Completion>& completions) {
  bool any = false;
  for (HostRings::Read& ring : rings_->read) any = read(ring, completions) || any;
  return write(completions) || any;
}

bool RingEdges::awaits_from(int writer) const {
  return std::ranges::any_of(
      trees_, [&](const Tree& tree) { return tree.writer == writer && tree.in.is_open(); });
}

// Cells after a message's last one belong to the next message, for which this rank is not ready.
bool RingEdges::read(HostRings::Read& ring, std::vector<engine::Completion>& completions) {
  int cells = 0;
  for (; cells < kCellsAtOnce && awaits_from(ring.writer); ++cells) {
    const auto cell = ring.ring.next();
    if (!cell || !take_cell(*cell, ring.writer, completions)) break;
    ring.ring.pass();
  }
  return cells != 0;
}

bool RingEdges::take_cell(const HostRing::Cell& cell, int writer,
                          std::vector<engine::Completion>& completions) {
  const HostRing::Head& head = cell.head;
  Course& course = trees_[head.tree].in;
  if (head.nth != course.done) throw std::logic_error("a ring's segments are not in order");
  if (!course.is_open()) return false;
  const auto& [operation, segment, buffer] = course.oldest();
  if (head.segment_bytes != segment.length) {
    completions.push_back({engine::Completion::Kind::kTransfer, operation, 0, head.segment_bytes});
    return false;
  }
  if (transfers_ != nullptr && course.bytes == 0) {
    transfers_->begun(place_of(head.tree, 0), segment, writer, false);
  }
  copy(buffer + head.offset, cell.bytes, head.bytes, message_);
  course.bytes += head.bytes;
  if (course.bytes != segment.length) return true;
  if (transfers_ != nullptr) transfers_->ended(place_of(head.tree, 0));
  finish(course, completions);
  return true;
}

std::optional<std::size_t> RingEdges::next_to_write() const {
  std::optional<std::size_t> next;
  std::uint64_t oldest = UINT64_MAX;
  for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
    const Course& course = trees_[tree].out;
    if (!course.is_open() || course.oldest().segment.index >= oldest) continue;
    oldest = course.oldest().segment.index;
    next = tree;
  }
  return next;
}

bool RingEdges::write(std::vector<engine::Completion>& completions) {
  if (!rings_->written) return false;
  int cells = 0;
  for (; cells < kCellsAtOnce; ++cells) {
    const auto tree = next_to_write();
    if (!tree || !rings_->written->has_free_cell()) break;
    write_cell(*tree, completions);
  }
  return cells != 0;
}

void RingEdges::write_cell(std::size_t tree, std::vector<engine::Completion>& completions) {
  Course& course = trees_[tree].out;
  const auto& [operation, segment, buffer] = course.oldest();
  const std::vector<int>& readers = rings_->readers;
  if (transfers_ != nullptr && course.bytes == 0) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      transfers_->begun(place_of(tree, i + 1), segment, readers[i], true);
    }
  }
  HostRing& ring = *rings_->written;
  const std::size_t bytes =
      std::min<std::size_t>(segment.length - course.bytes, HostRing::kCellBytes);
  copy(ring.free_cell(), buffer + course.bytes, bytes, message_);
  ring.write({course.done, course.bytes, segment.length, static_cast<std::uint32_t>(tree),
              static_cast<std::uint32_t>(bytes)});
  course.bytes += bytes;
  if (course.bytes != segment.length) return;
  if (transfers_ != nullptr) {
    for (std::size_t i = 0; i < readers.size(); ++i) transfers_->ended(place_of(tree, i + 1));
  }
  finish(course, completions);
}

void RingEdges::finish(Course& course, std::vector<engine::Completion>& completions) {
  const auto& [operation, segment, buffer] = course.oldest();
  completions.push_back({engine::Completion::Kind::kTransfer, operation, 0, segment.length});
  course.bytes = 0;
  ++course.done;
}

}  // namespace espalier::runtime
