// What one process knows of the network between some ranks: what earlier programs have kept, and
// what messages that are pulled show.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pull/traffic.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/pull/kept_network.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// Shorter messages do not measure a network.
inline constexpr Bytes kLeastLearnt{std::uint64_t{1} << 20U};

class NetworkMemory {
 public:
  // Tells the user what is wrong with a file. A faulty file costs what was learnt, not the run.
  using Warn = std::function<void(const std::string&)>;

  // Nothing is known, and nothing kept.
  NetworkMemory() = default;
  // Reads what is known. hosts: by rank, the name of its host. puller_of: by rank, the number of
  // the one that pulls for it (numbered_hosts), so that several ranks may be one in what is learnt.
  // folder: where it is kept; empty: nowhere.
  NetworkMemory(std::vector<std::string> hosts, std::vector<std::size_t> puller_of,
                const std::string& folder, Warn warn);

  // Whether a plan of it is likely to be good: it is recent, and plans have not been slower than
  // pulls. message: of at most some times the bytes of the message that was measured.
  [[nodiscard]] bool is_worth_a_plan(Bytes message) const;
  // After a message that was pulled, in this time. received: by puller, what it received. Without
  // effect for short messages and times, which show buffers rather than links.
  void learn(std::span<const engine::pull::Traffic> received, planner::Operation operation,
             Bytes message, Seconds time);
  // After a message that was sent by a plan of it. Without effect if another operation was pulled.
  void judge_plan(planner::Operation operation, Bytes message, Seconds time);
  // Writes what is known to where it is kept.
  void keep() const;

  // Of those that pull.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Of this rank, in platform().
  [[nodiscard]] const std::string& rank_name(std::size_t rank) const { return rank_names_[rank]; }
  [[nodiscard]] std::size_t puller_of(std::size_t rank) const { return puller_of_[rank]; }
  // The name of the one that was the last to have the last message; empty: none was learnt.
  [[nodiscard]] const std::string& last_rank() const { return last_rank_; }
  [[nodiscard]] const std::string& file() const { return file_; }  // empty: none
  [[nodiscard]] const std::optional<KeptNetwork>& known() const { return known_; }
  // As a platform file whose hosts are the ranks in their order, named by rank_name(); empty where
  // nothing is known.
  [[nodiscard]] std::string platform() const;

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> rank_names_;
  std::vector<std::size_t> puller_of_;
  std::vector<std::string> names_;
  std::string file_;
  Warn warn_;
  std::optional<KeptNetwork> known_;
  std::string last_rank_;
};

}  // namespace espalier::runtime
