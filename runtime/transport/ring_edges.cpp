#include "runtime/transport/ring_edges.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
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

}  // namespace

RingEdges::RingEdges(std::shared_ptr<HostRings> rings, std::span<const engine::TreeRole> roles,
                     TransferLog* transfers)
    : rings_of_host_(std::move(rings)), transfers_(transfers) {
  for (const engine::TreeRole& role : roles) {
    for (const bool is_send : {false, true}) {
      std::vector<std::size_t>& of_edges = course_of_[is_send ? 1 : 0].emplace_back();
      for (const engine::Edge& edge : is_send ? role.out : role.in) {
        of_edges.push_back(edge.uses_ring() ? courses_.size() : kNoCourse);
        if (edge.uses_ring()) add_course(edge, is_send);
      }
    }
  }
}

// The trees of a ring are added in ascending order, as in its plan.
void RingEdges::add_course(const engine::Edge& edge, bool is_send) {
  const auto number = static_cast<std::size_t>(edge.ring);
  HostRing* const of_edge = &*rings_of_host_->rings[number];
  auto ring = std::ranges::find(rings_, of_edge, &Ring::ring);
  if (ring == rings_.end()) {
    ring = rings_.insert(ring, {of_edge, &rings_of_host_->plans[number], is_send});
  }
  Course& course = courses_.emplace_back();
  course.ring = static_cast<std::size_t>(ring - rings_.begin());
  course.tree = static_cast<std::uint32_t>(ring->courses.size());
  course.place = places_;
  places_ += is_send ? ring->plan->readers.size() : 1;
  ring->courses.push_back(courses_.size() - 1);
}

void RingEdges::set_windows(std::span<const engine::TreeWindows> windows) {
  const auto set = [&](std::span<const std::size_t> courses, std::span<const std::uint64_t> to) {
    for (std::size_t edge = 0; edge < courses.size(); ++edge) {
      if (courses[edge] != kNoCourse) courses_[courses[edge]].open.resize(to[edge]);
    }
  };
  for (std::size_t tree = 0; tree < windows.size(); ++tree) {
    set(course_of_[0][tree], windows[tree].in);
    set(course_of_[1][tree], windows[tree].out);
  }
}

void RingEdges::begin(std::uint64_t bytes, std::uint64_t unit_bytes, std::size_t first_place) {
  message_ = bytes;
  unit_bytes_ = unit_bytes;
  first_place_ = first_place;
  open_ = 0;
  for (Ring& ring : rings_) ring.open = 0;
  for (Course& course : courses_) course.begun = course.done = course.bytes = 0;
}

void RingEdges::begin_transfer(const engine::Operation& operation, const engine::Segment& segment,
                               std::byte* buffer) {
  Course& course = courses_[course_of(operation)];
  Transfer& transfer = course.open[course.begun++ % course.open.size()];
  transfer = {operation, segment, buffer};
  transfer.segment.length *= unit_bytes_;
  ++rings_[course.ring].open;
  ++open_;
}

int RingEdges::slowest_reader(const engine::Operation& operation) const {
  const Ring& ring = rings_[courses_[course_of(operation)].ring];
  return ring.plan->readers[ring.ring->slowest_reader()];
}

bool RingEdges::move(std::vector<engine::Completion>& completions) {
  bool any = false;
  for (Ring& ring : rings_) {
    if (!ring.is_written) any = read(ring, completions) || any;
  }
  for (Ring& ring : rings_) {
    if (ring.is_written) any = write(ring, completions) || any;
  }
  return any;
}

void RingEdges::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (message_ < kPastCaches) {
    std::memcpy(to, from, bytes);
  } else {
    copy_past_caches(to, from, bytes);
  }
}

// Cells after a message's last one belong to the next message, for which this rank is not ready.
bool RingEdges::read(Ring& ring, std::vector<engine::Completion>& completions) {
  int cells = 0;
  for (; cells < kCellsAtOnce && ring.open != 0; ++cells) {
    const auto cell = ring.ring->next();
    if (!cell || !take_cell(ring, *cell, completions)) break;
    ring.ring->pass();
  }
  return cells != 0;
}

bool RingEdges::take_cell(Ring& ring, const HostRing::Cell& cell,
                          std::vector<engine::Completion>& completions) {
  const HostRing::Head& head = cell.head;
  Course& course = courses_[ring.courses[head.tree]];
  if (head.nth != course.done) throw std::logic_error("a ring's segments are not in order");
  if (!course.is_open()) return false;
  const auto& [operation, segment, buffer] = course.oldest();
  if (head.segment_bytes != segment.length) {
    engine::Completion& wrong = completions.emplace_back();
    wrong.operation = operation;
    if (head.segment_bytes % unit_bytes_ == 0) wrong.length = head.segment_bytes / unit_bytes_;
    return false;
  }
  const std::size_t place = first_place_ + course.place;
  if (transfers_ != nullptr && course.bytes == 0) {
    transfers_->begun(place, segment, ring.plan->writer, false);
  }
  copy(buffer + head.offset, cell.bytes, head.bytes);
  course.bytes += head.bytes;
  if (course.bytes != segment.length) return true;
  if (transfers_ != nullptr) transfers_->ended(place);
  finish(ring, course, completions);
  return true;
}

RingEdges::Course* RingEdges::next_to_write(const Ring& ring) {
  Course* next = nullptr;
  if (ring.open == 0) return next;
  for (const std::size_t index : ring.courses) {
    Course& course = courses_[index];
    if (!course.is_open()) continue;
    if (next == nullptr || course.oldest().segment.index < next->oldest().segment.index) {
      next = &course;
    }
  }
  return next;
}

bool RingEdges::write(Ring& ring, std::vector<engine::Completion>& completions) {
  int cells = 0;
  for (; cells < kCellsAtOnce; ++cells) {
    Course* const course = next_to_write(ring);
    if (course == nullptr || !ring.ring->has_free_cell()) break;
    write_cell(ring, *course, completions);
  }
  return cells != 0;
}

void RingEdges::write_cell(Ring& ring, Course& course,
                           std::vector<engine::Completion>& completions) {
  const auto& [operation, segment, buffer] = course.oldest();
  const std::vector<int>& readers = ring.plan->readers;
  const std::size_t place = first_place_ + course.place;
  if (transfers_ != nullptr && course.bytes == 0) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      transfers_->begun(place + i, segment, readers[i], true);
    }
  }
  const std::size_t bytes =
      std::min<std::size_t>(segment.length - course.bytes, HostRing::kCellBytes);
  copy(ring.ring->free_cell(), buffer + course.bytes, bytes);
  ring.ring->write(
      {course.done, course.bytes, segment.length, course.tree, static_cast<std::uint32_t>(bytes)});
  course.bytes += bytes;
  if (course.bytes != segment.length) return;
  if (transfers_ != nullptr) {
    for (std::size_t i = 0; i < readers.size(); ++i) transfers_->ended(place + i);
  }
  finish(ring, course, completions);
}

void RingEdges::finish(Ring& ring, Course& course, std::vector<engine::Completion>& completions) {
  const auto& [operation, segment, buffer] = course.oldest();
  completions.push_back(
      {engine::Completion::Kind::kTransfer, operation, 0, segment.length / unit_bytes_});
  course.bytes = 0;
  ++course.done;
  --ring.open;
  --open_;
}

}  // namespace espalier::runtime
