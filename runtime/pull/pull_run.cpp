#include "runtime/pull/pull_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

namespace pull = engine::pull;

constexpr double kLeastSleep_s = 50e-6;
constexpr double kMostSleep_s = 400e-6;
constexpr double kSleepPart = 0.1;

// Between two looks at those that are silent, and the most that counts of it: a suspended job has
// not waited.
constexpr double kLook_s = 0.1;
constexpr double kLongestLook_s = 1;
// For messages that are on their way when a run fails.
constexpr double kDrain_s = 0.2;

pull::Job job_of(const PullSetting& setting, const pull::PulledMessage& message,
                 const PullStore& store) {
  const auto rank = static_cast<std::uint64_t>(setting.control.rank());
  return {.ranks = setting.control.size(),
          .rank = rank,
          .message = message,
          .most_outstanding = store.most_receives(),
          .seed = setting.seed + rank * 0x9e3779b97f4a7c15,
          .host_of = setting.host_of_rank};
}

}  // namespace

void sleep_after(Seconds idle) {
  const double sleep_s = std::clamp(idle.value * kSleepPart, kLeastSleep_s, kMostSleep_s);
  ::usleep(static_cast<::useconds_t>(sleep_s * 1e6));
}

PullRun::PullRun(const PullSetting& setting, const pull::PulledMessage& message, PullStore& store)
    : setting_(setting),
      message_(message),
      store_(&store),
      rank_(static_cast<std::size_t>(setting.control.rank())),
      largest_tag_(setting.data.largest_tag()),
      puller_(job_of(setting, message, store)),
      traffic_(setting.control.size()),
      memory_(std::make_unique<std::vector<Peer>>(setting.control.size())),
      peers_(*memory_),
      timeout_(setting.timeout) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer != rank_) peers_[peer].heard.resize(pull::kMostBulletinBytes);
  }
}

PullRun::~PullRun() {
  if (!is_over_) abandon();
}

MPI_Request& PullRun::begin(const Operation& operation) {
  if (free_.empty()) {
    free_.push_back(requests_.size());
    requests_.push_back(MPI_REQUEST_NULL);
    operations_.push_back(operation);
  }
  const std::size_t place = free_.back();
  free_.pop_back();
  operations_[place] = operation;
  if (operation.kind == Kind::kTells || operation.kind == Kind::kSends) ++sending_;
  if (is_recorded(operation)) {
    const std::uint64_t index = operation.segment;
    const int peer = setting_.shown_ranks.empty() ? static_cast<int>(operation.peer)
                                                  : setting_.shown_ranks[operation.peer];
    setting_.transfers->begun(place,
                              {index, 0, index, message_.offset(index), message_.length(index)},
                              peer, operation.kind == Kind::kSends);
  }
  return requests_[place];
}

void PullRun::listen_to(std::size_t peer) {
  std::vector<std::byte>& buffer = peers_[peer].heard;
  const Operation operation{Kind::kHears, peer, 0};
  check(MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, static_cast<int>(peer),
                  0, setting_.control.get(), &begin(operation)),
        describe(operation));
}

bool PullRun::run() {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer != rank_) listen_to(peer);
  }
  if (setting_.transfers != nullptr) setting_.transfers->begin_run(0);
  timeout_.begin();
  begun_s_ = looked_s_ = moved_s_ = MPI_Wtime();
  while (!is_done()) {
    bool has_moved = note_completions();
    if (store_->failed()) puller_.stop();
    const double now = MPI_Wtime();
    if (has_moved || now - chosen_s_ >= pull::Rule{}.poll_s) ask(now);
    serve();
    has_moved = tell(now) || has_moved;
    if (has_moved) {
      timeout_.begin();
      moved_s_ = now;
      show_progress();
    } else {
      if (timeout_.is_over()) give_up();
      sleep_after(Seconds{now - moved_s_});
    }
    if (now - looked_s_ >= kLook_s) look_at_waits(now);
  }
  is_over_ = true;
  return !puller_.is_stopped();
}

bool PullRun::is_done() const {
  return puller_.is_done() && sending_ == 0;
}

bool PullRun::note_completions() {
  completed_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                completed_.data(), statuses_.data());
  if (code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
  if (count == MPI_UNDEFINED) return false;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto place = static_cast<std::size_t>(completed_[at]);
    const Operation operation = operations_[place];
    if (code == MPI_ERR_IN_STATUS) check(statuses_[at].MPI_ERROR, describe(operation));
    free_.push_back(place);
    if (is_recorded(operation)) setting_.transfers->ended(place);
    complete(operation, statuses_[at]);
  }
  return count > 0;
}

void PullRun::complete(const Operation& operation, const MPI_Status& status) {
  Peer& peer = peers_[operation.peer];
  switch (operation.kind) {
    case Kind::kHears: {
      int bytes = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      const pull::Bulletin bulletin =
          pull::bulletin_from_bytes(peer.heard.data(), static_cast<std::size_t>(bytes));
      puller_.hear(operation.peer, bulletin, MPI_Wtime());
      peer.waited_s = 0;
      if (!bulletin.is_last) listen_to(operation.peer);
      break;
    }
    case Kind::kTells:
      peer.is_told = true;
      --sending_;
      break;
    case Kind::kReceives:
      note_arrival(operation, status);
      break;
    case Kind::kSends:
      store_->sent(operation.segment);
      --sending_;
      break;
  }
}

void PullRun::note_arrival(const Operation& operation, const MPI_Status& status) {
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (static_cast<std::uint64_t>(bytes) != message_.length(operation.segment)) {
    throw std::logic_error(fmt::format("{}: {} bytes, not {}", describe(operation), bytes,
                                       message_.length(operation.segment)));
  }
  peers_[operation.peer].waited_s = 0;
  store_->arrived(operation.segment);
  const double now = MPI_Wtime();
  if (const auto since = puller_.arrived(operation.peer, operation.segment, now)) {
    traffic_.note(operation.peer, static_cast<double>(bytes), *since - begun_s_, now - begun_s_);
  }
}

void PullRun::ask(double now) {
  chosen_s_ = now;
  for (const auto& [source, segment] : puller_.choose(now)) {
    const Operation operation{Kind::kReceives, source, segment};
    std::byte* const buffer = store_->receive_buffer(segment);
    check(MPI_Irecv(buffer, static_cast<int>(message_.length(segment)), MPI_BYTE,
                    static_cast<int>(source), tag_of(segment), setting_.data.get(),
                    &begin(operation)),
          describe(operation));
  }
}

// In turns, so that no receiver takes all buffers.
void PullRun::serve() {
  for (const auto& [reader, segment] : puller_.take_due()) {
    peers_[reader].to_send.push_back(segment);
  }
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const std::size_t peer = (next_served_ + i) % peers_.size();
    while (!peers_[peer].to_send.empty()) {
      if (serve_one(peer)) continue;
      next_served_ = peer;
      return;
    }
  }
}

bool PullRun::serve_one(std::size_t peer) {
  std::deque<std::uint32_t>& to_send = peers_[peer].to_send;
  const std::uint32_t segment = to_send.front();
  const std::byte* const buffer = store_->send_buffer(segment);
  if (buffer == nullptr) return false;
  to_send.pop_front();
  const Operation operation{Kind::kSends, peer, segment};
  check(MPI_Isend(buffer, static_cast<int>(message_.length(segment)), MPI_BYTE,
                  static_cast<int>(peer), tag_of(segment), setting_.data.get(), &begin(operation)),
        describe(operation));
  return true;
}

bool PullRun::tell(double now) {
  bool has_told = false;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (!peer.is_told || !puller_.has_news_for(rank, now)) continue;
    peer.told = pull::to_bytes(puller_.take_news_for(rank, now));
    peer.is_told = false;
    has_told = true;
    const Operation operation{Kind::kTells, rank, 0};
    check(MPI_Isend(peer.told.data(), static_cast<int>(peer.told.size()), MPI_BYTE,
                    static_cast<int>(rank), 0, setting_.control.get(), &begin(operation)),
          describe(operation));
  }
  return has_told;
}

// On a rank that has had all from the beginning: what all ranks have.
void PullRun::show_progress() {
  if (!setting_.on_progress) return;
  std::uint64_t least = puller_.segments_of(rank_);
  if (rank_ == message_.source()) {
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
      least = std::min(least, puller_.segments_of(rank));
    }
  }
  setting_.on_progress(std::min(least * message_.segment_bytes(), message_.bytes()));
}

std::string PullRun::describe(const Operation& operation) const {
  switch (operation.kind) {
    case Kind::kHears:
      return fmt::format("hearing from rank {}", operation.peer);
    case Kind::kTells:
      return fmt::format("telling rank {} what is here", operation.peer);
    case Kind::kReceives:
      return fmt::format("receiving segment {} from rank {}", operation.segment, operation.peer);
    case Kind::kSends:
      break;
  }
  return fmt::format("sending segment {} to rank {}", operation.segment, operation.peer);
}

void PullRun::look_at_waits(double now) {
  const double since_s = std::min(now - std::exchange(looked_s_, now), kLongestLook_s);
  if (!setting_.timeout) return;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    peer.waited_s = puller_.outstanding_at(rank) > 0 ? peer.waited_s + since_s : 0;
    if (peer.waited_s > setting_.timeout->value) give_up();
  }
}

void PullRun::give_up() const {
  std::vector<std::string> waits;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank == rank_) continue;
    if (puller_.outstanding_at(rank) > 0) {
      waits.push_back(fmt::format("{} segments from rank {}", puller_.outstanding_at(rank), rank));
    } else if (!puller_.has_heard_last_of(rank)) {
      waits.push_back(fmt::format("rank {}, which has {} of {} segments", rank,
                                  puller_.segments_of(rank), puller_.segments()));
    }
  }
  if (waits.empty()) waits.emplace_back("its own sends");
  throw TimedOut(fmt::format("rank {}: {}, waiting for {}", rank_, timeout_.complaint(),
                             fmt::join(waits, ", ")));
}

// Receives must not write after their memory is freed: what is on its way may still arrive, and the
// rest never will.
void PullRun::abandon() noexcept {
  for (std::size_t place = 0; place < requests_.size(); ++place) {
    const Kind kind = operations_[place].kind;
    if (requests_[place] == MPI_REQUEST_NULL) continue;
    if (kind == Kind::kHears || kind == Kind::kReceives) MPI_Cancel(&requests_[place]);
  }
  const double end_s = MPI_Wtime() + kDrain_s;
  int all_done = 0;
  while (all_done == 0 && MPI_Wtime() < end_s) {
    const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done,
                                 MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) break;
  }
  // MPI may still read and write this memory, so it is never freed.
  if (all_done == 0) static_cast<void>(memory_.release());
}

}  // namespace espalier::runtime
