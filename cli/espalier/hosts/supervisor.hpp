// Starts workers on hosts (cli/espalier/hosts/worker.hpp), sees which die, and tells the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/espalier/hosts/child.hpp"
#include "runtime/tcp/host_list.hpp"
#include "runtime/tcp/tcp_pull.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The same for all hosts.
struct HostSetting {
  std::string launch{};   // how to start a command on {host}; not used for this host
  std::string program{};  // `espalier` on the hosts
  Seconds silence{};      // after which a host counts as dead
  std::optional<std::uint64_t> segment_bytes{};
  bool allows_changes = false;
  bool encrypts = false;
  std::function<void(const std::string&)> note{};  // what a person may want to know at once
};

// What the source says of the message.
struct MessageFacts {
  Json layout{};  // the file's size and holes, or the tree of several
  std::uint64_t identity = 0;
  std::uint64_t bytes = 0;
  std::uint64_t segment = 1;
  std::optional<std::uint64_t> checksum{};  // once a host has all of it
};

// A host in a round.
struct RoundHost {
  runtime::tcp::HostEntry host{};
  std::string label{};  // in messages
  std::string out{};    // empty: it only sends
};

// What became of it.
struct RoundResult {
  bool is_whole = false;
  bool was_ready = false;  // it could be started
  std::uint64_t segments = 0;
  std::string reason{};      // why it is dead; empty: it is not
  bool has_refused = false;  // its end is its own decision
};

// One attempt: from the start of all workers to their end. Hosts that die are left behind, and
// those that remain get what exists among them.
class Round {
 public:
  // facts: those of an earlier round. resumes: what is on disks counts.
  Round(const HostSetting& setting, std::vector<RoundHost> hosts, std::size_t source,
        std::vector<std::string> in, std::optional<MessageFacts> facts, bool resumes);
  // The source is a host that has got the file before, not the one that had it first.
  void replace_source() { has_original_ = false; }

  // Throws InputError if the source refuses, and nothing is known of the message; CheckFailed if it
  // has changed.
  std::vector<RoundResult> run();
  // Unset: the source was lost before it said anything.
  [[nodiscard]] const std::optional<MessageFacts>& facts() const { return facts_; }
  // From the order to start until all that live were done.
  [[nodiscard]] Seconds took() const { return took_; }

 private:
  enum class Stage { kLaunched, kReady, kOpened, kStarted, kDone, kCommitted, kDead };
  struct Member {
    RoundHost is{};
    std::unique_ptr<Child> child{};
    Stage stage = Stage::kLaunched;
    double heard_s = 0;
    std::uint16_t port = 0;
    std::uint64_t checksum = 0;
    RoundResult result{};
  };

  void launch(std::size_t rank);
  void listen();
  void take(std::size_t rank, const Json& line);
  void look_at_silence();
  void settle_rifts();
  void lose(std::size_t rank, const std::string& reason);
  // Goes on when all that live have come to a stage.
  void go_on();
  void open_all();
  void start_all();
  void commit_all();
  void require_equal_checksums();
  void tell(const Json& line);
  // Whether all that live are at this stage or beyond.
  [[nodiscard]] bool all_at(Stage stage) const;

  HostSetting setting_;
  std::size_t source_;
  std::vector<std::string> in_;
  std::optional<MessageFacts> facts_;
  bool resumes_;
  bool has_original_ = true;
  std::vector<unsigned> token_;
  std::vector<Member> members_;
  std::vector<runtime::tcp::Rift> rifts_{};
  double rift_s_ = 0;  // when the first of these was reported
  Stage stage_ = Stage::kLaunched;
  std::string change_{};  // of the source
  double started_s_ = 0;
  Seconds took_{};
};

}  // namespace espalier::cli
