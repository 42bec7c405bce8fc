#include "cli/espalier/hosts/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <random>
#include <utility>

#include "engine/pull/puller.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::cli {
namespace {

namespace tcp = runtime::tcp;

// Who complains first may be the one that nobody else reaches: so others are heard, too.
constexpr double kHearOthers_s = 2;

double now_s() {
  return steady_now().value;
}

std::vector<unsigned> random_token() {
  std::random_device random;
  std::vector<unsigned> token(16);
  for (unsigned& one : token) one = random() & 0xffU;
  return token;
}

}  // namespace

Round::Round(const HostSetting& setting, std::vector<RoundHost> hosts, std::size_t source,
             std::vector<std::string> in, std::optional<MessageFacts> facts, bool resumes)
    : setting_(setting),
      source_(source),
      in_(std::move(in)),
      facts_(std::move(facts)),
      resumes_(resumes),
      token_(random_token()),
      members_(hosts.size()) {
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) members_[rank].is = hosts[rank];
}

std::vector<RoundResult> Round::run() {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) launch(rank);
  while (stage_ != Stage::kCommitted) {
    listen();
    look_at_silence();
    settle_rifts();
    go_on();
  }
  std::vector<RoundResult> results;
  for (Member& member : members_) {
    results.push_back(member.result);
    if (member.child) member.child->dismiss();
  }
  return results;
}

void Round::launch(std::size_t rank) {
  Member& member = members_[rank];
  const std::string& name = member.is.host.name;
  const std::string worker =
      fmt::format("{} run --worker {}", in_shell_quotes(setting_.program), ESPALIER_VERSION);
  // The shell there reads it once more; --launch may be of any kind, so nothing is quoted twice.
  const std::string command = tcp::is_this_host(name)
                                  ? "exec " + worker
                                  : replaced(setting_.launch, "{host}", name) + " " + worker;
  member.child = std::make_unique<Child>(command);
  member.heard_s = now_s();
  member.child->send({{"do", "prepare"},
                      {"rank", rank},
                      {"source", source_},
                      {"in", rank == source_ ? in_ : std::vector<std::string>{}},
                      {"out", member.is.out},
                      {"silence_s", setting_.silence.value},
                      {"token", token_},
                      {"encrypt", setting_.encrypts}});
}

void Round::listen() {
  constexpr int kTurn_ms = 100;
  std::vector<pollfd> watched;
  for (const Member& member : members_) {
    if (member.child && member.child->is_open()) {
      watched.push_back({member.child->output(), POLLIN, 0});
    }
  }
  ::poll(watched.data(), watched.size(), kTurn_ms);
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    Member& member = members_[rank];
    if (member.stage == Stage::kDead) continue;
    for (const std::string& text : member.child->receive()) {
      const Json line = Json::parse(text, nullptr, false);
      // A login may print what it likes.
      if (line.is_object() && line.contains("is")) take(rank, line);
      if (member.stage == Stage::kDead) break;
    }
    if (member.stage != Stage::kDead && !member.child->is_open()) lose(rank, member.child->end());
  }
}

void Round::take(std::size_t rank, const Json& line) {
  Member& member = members_[rank];
  member.heard_s = now_s();
  const std::string what = line.at("is");
  if (what == "ready") {
    member.port = line.at("port");
    member.stage = Stage::kReady;
    member.result.was_ready = true;
    if (rank != source_) return;
    const std::uint64_t bytes = line.at("bytes");
    const std::uint64_t segment = engine::pull::grid_of(bytes, setting_.segment_bytes).segment;
    const MessageFacts facts{line.at("layout"), line.at("identity"), bytes, segment, {}};
    // Another source has another file of the same bytes; what was sent before is checked by sums.
    if (!facts_) facts_ = facts;
  } else if (what == "opened") {
    member.stage = Stage::kOpened;
  } else if (what == "alive") {
    member.result.segments = line.at("segments");
  } else if (what == "lost") {
    if (rifts_.empty()) rift_s_ = now_s();
    rifts_.push_back({rank, line.at("rank")});
  } else if (what == "done") {
    member.stage = Stage::kDone;
    member.result.segments = line.at("segments");
    member.result.is_whole = line.at("whole");
    member.checksum = line.at("checksum");
    if (line.contains("change")) change_ = line.at("change");
  } else if (what == "committed") {
    member.stage = Stage::kCommitted;
  } else if (what == "failed") {
    member.result.has_refused = true;
    lose(rank, line.at("reason"));
  }
}

void Round::look_at_silence() {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const Member& member = members_[rank];
    if (member.stage == Stage::kDead || member.stage == Stage::kCommitted) continue;
    if (now_s() - member.heard_s > setting_.silence.value) {
      lose(rank, fmt::format("no answer for {}", format_duration(setting_.silence)));
    }
  }
}

void Round::settle_rifts() {
  if (rifts_.empty() || now_s() - rift_s_ < kHearOthers_s) return;
  for (const std::size_t rank : tcp::given_up(std::exchange(rifts_, {}), source_)) {
    lose(rank, "other hosts do not reach it");
  }
}

void Round::lose(std::size_t rank, const std::string& reason) {
  Member& member = members_[rank];
  if (member.stage == Stage::kCommitted || member.stage == Stage::kDead) return;
  member.stage = Stage::kDead;
  member.result.is_whole = false;
  member.result.reason = reason;
  member.child->kill();
  std::erase_if(rifts_, [&](const auto& rift) { return rift.by == rank || rift.about == rank; });
  setting_.note(fmt::format("{} is left behind: {}", member.is.label, reason));
  tell({{"do", "dead"}, {"rank", rank}});
}

void Round::tell(const Json& line) {
  for (Member& member : members_) {
    if (member.stage == Stage::kStarted || member.stage == Stage::kDone) member.child->send(line);
  }
}

bool Round::all_at(Stage stage) const {
  return std::ranges::all_of(members_, [&](const Member& one) { return one.stage >= stage; });
}

void Round::go_on() {
  if (stage_ == Stage::kLaunched && all_at(Stage::kReady)) open_all();
  if (stage_ == Stage::kReady && all_at(Stage::kOpened)) start_all();
  if (stage_ == Stage::kStarted && all_at(Stage::kDone)) commit_all();
  if (stage_ == Stage::kDone && all_at(Stage::kCommitted)) stage_ = Stage::kCommitted;
}

void Round::open_all() {
  if (!facts_) {
    const Member& source = members_[source_];
    if (source.result.has_refused) throw InputError(source.is.label, {}, source.result.reason);
    stage_ = Stage::kCommitted;  // it was lost before it said anything
    return;
  }
  stage_ = Stage::kReady;
  for (Member& member : members_) {
    if (member.stage != Stage::kReady) continue;
    member.child->send({{"do", "open"},
                        {"layout", facts_->layout},
                        {"identity", facts_->identity},
                        {"bytes", facts_->bytes},
                        {"segment", facts_->segment},
                        {"is_original", has_original_},
                        {"resume", resumes_}});
  }
}

void Round::start_all() {
  stage_ = Stage::kStarted;
  Json peers = Json::array();
  for (const Member& member : members_) {
    peers.push_back({{"address", member.is.host.address},
                     {"port", member.port},
                     {"alive", member.stage == Stage::kOpened}});
  }
  for (Member& member : members_) {
    if (member.stage != Stage::kOpened) continue;
    member.child->send({{"do", "start"}, {"peers", peers}});
    member.stage = Stage::kStarted;
  }
  started_s_ = now_s();
}

void Round::commit_all() {
  stage_ = Stage::kDone;
  took_ = Seconds{now_s() - started_s_};
  if (!change_.empty() && !setting_.allows_changes) {
    throw CheckFailed(
        fmt::format("{}; run again when nothing writes it, or accept a mixture of its old and new "
                    "contents with --allow-changes",
                    change_));
  }
  require_equal_checksums();
  for (Member& member : members_) {
    if (member.stage != Stage::kDone) continue;
    if (member.result.is_whole) {
      member.child->send({{"do", "commit"}});
    } else {
      member.stage = Stage::kCommitted;  // it keeps what it has
    }
  }
}

void Round::require_equal_checksums() {
  for (const Member& member : members_) {
    if (member.stage != Stage::kDone || !member.result.is_whole) continue;
    if (!facts_->checksum) facts_->checksum = member.checksum;
    if (member.checksum == *facts_->checksum) continue;
    throw CheckFailed(
        fmt::format("{} has other bytes than were sent (checksum {:016x}, not {:016x})",
                    member.is.label, member.checksum, *facts_->checksum));
  }
}

}  // namespace espalier::cli
