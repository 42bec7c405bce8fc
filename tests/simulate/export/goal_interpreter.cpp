#include "tests/simulate/export/goal_interpreter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace espalier::testing {

namespace {

class Parser {
 public:
  std::vector<std::vector<GoalOperation>> parse(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      words_.clear();
      std::istringstream in(line);
      for (std::string word; in >> word;) words_.push_back(word);
      if (words_.empty() || words_[0].starts_with("//")) continue;
      read_line();
    }
    if (is_open_) fail("a rank is not closed");
    return std::move(ranks_);
  }

 private:
  void read_line() {
    if (words_[0] == "num_ranks" && words_.size() == 2) {
      ranks_.resize(number(words_[1]));
    } else if (words_[0] == "rank" && words_.size() == 3 && words_[2] == "{" && !is_open_) {
      rank_ = number(words_[1]);
      is_open_ = true;
      labels_.clear();
    } else if (words_[0] == "}" && words_.size() == 1 && is_open_) {
      is_open_ = false;
    } else if (words_[0].back() == ':' && is_open_) {
      read_operation();
    } else if (words_.size() == 3 && words_[1] == "requires" && is_open_) {
      operation(words_[0]).needs.push_back(place(words_[2]));
    } else if (words_.size() == 3 && words_[1] == "irequires" && is_open_) {
      operation(words_[0]).needs_started.push_back(place(words_[2]));
    } else {
      fail(words_[0]);
    }
  }

  // "l: send 10b to 1 tag 0", "l: recv 10b from 1 tag 0", "l: calc 5".
  void read_operation() {
    std::vector<GoalOperation>& all = ranks_.at(rank_);
    const std::string label = words_[0].substr(0, words_[0].size() - 1);
    if (!labels_.emplace(label, all.size()).second) fail(label + " twice");
    GoalOperation made;
    if (words_.size() == 3 && words_[1] == "calc") {
      made.size = number(words_[2]);
    } else if (words_.size() == 7 && words_[2].back() == 'b' && words_[5] == "tag") {
      const bool sends = words_[1] == "send" && words_[3] == "to";
      if (!sends && (words_[1] != "recv" || words_[3] != "from")) fail(words_[1]);
      made = {sends ? GoalOperation::Type::kSend : GoalOperation::Type::kReceive,
              number(words_[2].substr(0, words_[2].size() - 1)),
              static_cast<std::uint32_t>(number(words_[4])), number(words_[6])};
      if (made.size == 0 || made.peer >= ranks_.size()) fail("size or rank");
    } else {
      fail("operation");
    }
    all.push_back(made);
  }

  std::size_t place(const std::string& label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail(label + " is not known");
    return found->second;
  }
  GoalOperation& operation(const std::string& label) { return ranks_.at(rank_).at(place(label)); }

  std::uint64_t number(const std::string& text) const {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) fail(text);
    return std::stoull(text);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("line {}: {}", line_, what));
  }

  std::vector<std::vector<GoalOperation>> ranks_;
  std::map<std::string, std::size_t> labels_;
  std::vector<std::string> words_;
  std::size_t line_ = 0;
  std::size_t rank_ = 0;
  bool is_open_ = false;
};

struct Message {
  std::uint32_t from = 0;
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  Contributions data = 0;
};

struct Event {
  double time = 0;
  std::uint64_t order = 0;  // of those at one time
  std::size_t rank = 0;
  std::size_t operation = 0;
  bool is_message = false;
  Message message{};
  bool operator>(const Event& other) const {
    return std::tie(time, order) > std::tie(other.time, other.order);
  }
};

class Run {
 public:
  Run(const std::vector<std::vector<GoalOperation>>& ranks, const LogGOPS& parameters,
      Deliveries& deliveries)
      : ranks_(ranks), of_(parameters), deliveries_(deliveries), states_(ranks.size()) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      State& state = states_[rank];
      state.missing.resize(ranks[rank].size());
      state.after_start.resize(ranks[rank].size());
      state.after_end.resize(ranks[rank].size());
      for (std::size_t i = 0; i < ranks[rank].size(); ++i) {
        state.missing[i] = ranks[rank][i].needs.size() + ranks[rank][i].needs_started.size();
        for (const std::size_t need : ranks[rank][i].needs) state.after_end[need].push_back(i);
        for (const std::size_t need : ranks[rank][i].needs_started) {
          state.after_start[need].push_back(i);
        }
      }
      for (std::size_t i = 0; i < ranks[rank].size(); ++i) {
        if (state.missing[i] == 0) enqueue(rank, i);
      }
    }
  }

  std::vector<double> run() {
    while (!events_.empty()) {
      Event event = events_.top();
      events_.pop();
      if (event.is_message) {
        arrive(event);
      } else {
        begin(event);
      }
    }
    std::vector<double> ends;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      EXPECT_EQ(states_[rank].done, ranks_[rank].size()) << "rank " << rank << " waits without end";
      EXPECT_TRUE(states_[rank].unexpected.empty()) << "nobody receives what came to " << rank;
      ends.push_back(states_[rank].processor_free);
    }
    return ends;
  }

 private:
  struct State {
    double processor_free = 0;
    double sender_free = 0;
    double receiver_free = 0;
    std::size_t done = 0;
    std::vector<std::size_t> missing;
    std::vector<std::vector<std::size_t>> after_start;
    std::vector<std::vector<std::size_t>> after_end;
    std::deque<std::size_t> posted;
    std::deque<Message> unexpected;
  };

  void enqueue(std::size_t rank, std::size_t operation) {
    const State& state = states_[rank];
    const bool sends = ranks_[rank][operation].type == GoalOperation::Type::kSend;
    events_.push({sends ? std::max(state.processor_free, state.sender_free) : state.processor_free,
                  order_++, rank, operation});
  }
  void release(std::size_t rank, const std::vector<std::size_t>& waiting) {
    for (const std::size_t operation : waiting) {
      if (--states_[rank].missing[operation] == 0) enqueue(rank, operation);
    }
  }
  void start(std::size_t rank, std::size_t operation) {
    release(rank, states_[rank].after_start[operation]);
  }
  void end(std::size_t rank, std::size_t operation) {
    ++states_[rank].done;
    release(rank, states_[rank].after_end[operation]);
  }
  void retry(Event event, double time) {
    event.time = time;
    event.order = order_++;
    events_.push(event);
  }
  [[nodiscard]] double bytes_s(std::uint64_t size) const {
    return static_cast<double>(size - 1) * of_.per_byte;
  }

  void begin(const Event& event) {
    State& state = states_[event.rank];
    const GoalOperation& op = ranks_[event.rank][event.operation];
    if (op.type == GoalOperation::Type::kCalculate) {
      if (state.processor_free > event.time) return retry(event, state.processor_free);
      state.processor_free = event.time + static_cast<double>(op.size);
      start(event.rank, event.operation);
      return end(event.rank, event.operation);
    }
    if (op.type == GoalOperation::Type::kReceive) {
      start(event.rank, event.operation);
      const auto found = std::ranges::find_if(state.unexpected, [&](const Message& one) {
        return one.from == op.peer && one.tag == op.tag;
      });
      if (found == state.unexpected.end()) return state.posted.push_back(event.operation);
      const Message message = *found;
      state.unexpected.erase(found);
      return take(event.rank, event.operation, message);
    }
    const double free = std::max(state.processor_free, state.sender_free);
    if (free > event.time) return retry(event, free);
    const auto rank = static_cast<std::uint32_t>(event.rank);
    state.processor_free = event.time + of_.overhead;
    state.sender_free = event.time + of_.gap + bytes_s(op.size);
    start(event.rank, event.operation);
    events_.push({event.time + of_.overhead + of_.latency,
                  order_++,
                  op.peer,
                  0,
                  true,
                  {rank, op.tag, op.size, deliveries_.sent(rank, op.tag)}});
    end(event.rank, event.operation);
  }

  void arrive(const Event& event) {
    State& state = states_[event.rank];
    const double free = std::max(state.processor_free, state.receiver_free);
    if (free > event.time) return retry(event, free);
    state.processor_free = event.time + of_.overhead + bytes_s(event.message.size);
    state.receiver_free = event.time + of_.gap + bytes_s(event.message.size);
    const auto found = std::ranges::find_if(state.posted, [&](std::size_t operation) {
      const GoalOperation& op = ranks_[event.rank][operation];
      return op.peer == event.message.from && op.tag == event.message.tag;
    });
    if (found == state.posted.end()) return state.unexpected.push_back(event.message);
    const std::size_t operation = *found;
    state.posted.erase(found);
    take(event.rank, operation, event.message);
  }

  void take(std::size_t rank, std::size_t operation, const Message& message) {
    EXPECT_EQ(ranks_[rank][operation].size, message.size);
    deliveries_.received(static_cast<std::uint32_t>(rank), message.tag, message.size, message.data);
    end(rank, operation);
  }

  const std::vector<std::vector<GoalOperation>>& ranks_;
  LogGOPS of_;
  Deliveries& deliveries_;
  std::vector<State> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
};

}  // namespace

std::vector<std::vector<GoalOperation>> parse_goal(const std::string& text) {
  return Parser().parse(text);
}

std::vector<double> run_goal(const std::vector<std::vector<GoalOperation>>& ranks,
                             const LogGOPS& parameters, Deliveries& deliveries) {
  return Run(ranks, parameters, deliveries).run();
}

}  // namespace espalier::testing
