#include "cli/espalier/hosts/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/espalier/hosts/child.hpp"
#include "runtime/files/file_tree.hpp"
#include "runtime/files/kept_message.hpp"
#include "runtime/tcp/tcp_pull.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli {
namespace {

namespace tcp = runtime::tcp;

// In an order that does not depend on that of the names, so that a copy has the same.
runtime::FileTree scanned(const std::vector<std::string>& names) {
  runtime::FileTree tree = runtime::scan_files(names);
  std::ranges::sort(tree.entries, {}, &runtime::FileTree::Entry::path);
  return tree;
}

// Names need not be UTF-8, as texts in JSON are.
Json to_json(const runtime::FileTree& tree) {
  const std::string text = runtime::to_text(tree);
  return {{"tree", std::vector<std::uint8_t>(text.begin(), text.end())}};
}
runtime::FileTree tree_from(const Json& layout) {
  const auto text = layout.at("tree").get<std::vector<std::uint8_t>>();
  return runtime::file_tree_from_text({text.begin(), text.end()});
}

Json to_json(const runtime::FileLayout& layout) {
  Json holes = Json::array();
  for (const auto& [offset, bytes] : layout.holes) holes.push_back({offset, bytes});
  return {{"bytes", layout.bytes}, {"holes", std::move(holes)}};
}
runtime::FileLayout layout_from(const Json& json) {
  runtime::FileLayout layout{json.at("bytes"), {}};
  for (const Json& hole : json.at("holes")) layout.holes.push_back({hole.at(0), hole.at(1)});
  return layout;
}

// Whether a folder has these files with their times, as far as can be seen without reading them.
bool is_there(const std::string& folder, runtime::FileTree tree) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return false;
  runtime::FileTree found = scanned({folder});
  for (auto* one : {&tree, &found}) {
    for (auto& entry : one->entries) entry.holes.clear();  // not kept by every file system
  }
  return found == tree;
}

// The input has ended: whoever gives orders is gone.
struct Dismissed {};

// Writes lines, and each second one that says that this process lives. A process that does not
// work any more says nothing.
class Voice {
 public:
  Voice() : beats_([this](const std::stop_token& stop) { beat(stop); }) {}

  void say(const Json& line) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::scoped_lock lock(mutex_);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t put = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
      if (put < 0 && errno != EINTR) return;
      if (put > 0) at += static_cast<std::size_t>(put);
    }
  }
  // Progress of any kind.
  void note(std::uint64_t segments) {
    segments_ = segments;
    ++turns_;
  }
  // From now on this process may take any time, e.g. to write to the disk.
  void wait_for_disk() { is_busy_ = true; }

 private:
  static constexpr int kMostStillBeats = 6;

  void beat(const std::stop_token& stop) {
    std::uint64_t turns = 0;
    int still = 0;
    while (!stop.stop_requested()) {
      still = std::exchange(turns, turns_.load()) == turns_ ? still + 1 : 0;
      if (still < kMostStillBeats || is_busy_)
        say({{"is", "alive"}, {"segments", segments_.load()}});
      for (int i = 0; i < 20 && !stop.stop_requested(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> segments_{0};
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<bool> is_busy_{true};  // until it pulls
  std::jthread beats_;

 public:
  void begin_to_pull() { is_busy_ = false; }
};

class Worker {
 public:
  void run();

 private:
  // The next order. Throws Dismissed.
  Json next_order();
  // Those that have come.
  std::vector<Json> orders();
  void prepare(const Json& order);
  // The output, and which segments of it are there.
  runtime::SegmentMap open_output(const Json& order, const runtime::SegmentGrid& grid);
  void open(const Json& order);
  void start(const Json& order);
  // Until the order to commit.
  void pull(tcp::TcpPull& pull);
  void report(const tcp::TcpPull& pull);
  void commit();

  Voice voice_;
  Lines lines_;
  tcp::TcpSetting setting_;
  tcp::Descriptor listener_;
  std::string out_name_;
  std::unique_ptr<runtime::ByteSource> in_;
  std::unique_ptr<runtime::ByteTarget> out_;
  std::optional<runtime::KeptMessage> message_;
  std::vector<Json> waiting_{};  // orders
};

std::vector<Json> Worker::orders() {
  const bool is_open = lines_.read(STDIN_FILENO);
  for (const std::string& line : lines_.take()) waiting_.push_back(Json::parse(line));
  if (!is_open && waiting_.empty()) throw Dismissed();
  return std::exchange(waiting_, {});
}

Json Worker::next_order() {
  while (true) {
    std::vector<Json> some = orders();
    if (!some.empty()) {
      Json first = some.front();
      waiting_.assign(some.begin() + 1, some.end());
      return first;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    ::poll(&input, 1, -1);
  }
}

void Worker::prepare(const Json& order) {
  setting_.rank = order.at("rank");
  setting_.source = order.at("source");
  setting_.silence = Seconds{order.at("silence_s").get<double>()};
  const auto token = order.at("token").get<std::vector<unsigned>>();
  for (std::size_t i = 0; i < setting_.token.size(); ++i) {
    setting_.token.at(i) = static_cast<std::byte>(token.at(i));
  }
  setting_.encrypts = order.at("encrypt");
  out_name_ = order.at("out");
  listener_ = tcp::listen_anywhere();
  Json ready{{"is", "ready"}, {"port", tcp::port_of(listener_)}};
  if (setting_.rank == setting_.source) {
    const auto in = order.at("in").get<std::vector<std::string>>();
    std::error_code ignored;
    if (in.size() == 1 && std::filesystem::equivalent(in[0], out_name_, ignored)) out_name_.clear();
    if (in.size() > 1 || std::filesystem::is_directory(in[0], ignored)) {
      const runtime::FileTree tree = scanned(in);
      ready["layout"] = to_json(tree);
      in_ = std::make_unique<runtime::InputTree>(in, tree);
    } else {
      auto file = std::make_unique<runtime::InputFile>(in[0]);
      ready["layout"] = to_json(file->layout());
      in_ = std::move(file);
    }
    ready["identity"] = in_->identity();
    ready["bytes"] = in_->bytes();
  }
  voice_.say(ready);
}

runtime::SegmentMap Worker::open_output(const Json& order, const runtime::SegmentGrid& grid) {
  if (out_name_.empty()) return runtime::SegmentMap(grid);
  const std::uint64_t identity = order.at("identity");
  const bool resumes = order.at("resume");
  const Json& layout = order.at("layout");
  std::string kept;
  if (layout.contains("tree")) {
    const runtime::FileTree tree = tree_from(layout);
    // What an earlier run has finished stays, and is a further source.
    if (resumes && is_there(out_name_, tree)) {
      if (!in_) in_ = std::make_unique<runtime::InputTree>(std::vector{out_name_}, tree);
      return runtime::SegmentMap(grid);
    }
    auto folder = std::make_unique<runtime::OutputTree>(out_name_, tree, identity);
    kept = folder->staging();
    out_ = std::move(folder);
  } else {
    auto file = std::make_unique<runtime::OutputFile>(out_name_, layout_from(layout), identity);
    if (file->is_in_place()) throw InputError(out_name_, {}, "is not a regular file");
    kept = file->kept_file();
    out_ = std::move(file);
  }
  return {kept + ".segments", identity, grid, resumes};
}

void Worker::open(const Json& order) {
  const std::uint64_t identity = order.at("identity");
  const runtime::SegmentGrid grid{order.at("bytes"), order.at("segment")};
  if (in_ && in_->bytes() != grid.message) {
    throw InputError(
        fmt::format("the source has {} bytes, and not {}", in_->bytes(), grid.message));
  }
  if (in_ && order.at("is_original").get<bool>() && in_->identity() != identity) {
    throw InputError("the source has changed since it was sent first");
  }
  runtime::SegmentMap map = open_output(order, grid);
  message_.emplace(in_.get(), out_.get(), std::move(map));
  std::uint64_t checked = 0;
  if (out_) message_->check_claims([&] { voice_.note(++checked); });
  if (in_ && setting_.rank != setting_.source) message_->load_rest();
  voice_.say({{"is", "opened"}});
}

void Worker::start(const Json& order) {
  for (const Json& peer : order.at("peers")) {
    setting_.peers.push_back({peer.at("address"), peer.at("port"), peer.at("alive")});
  }
  tcp::TcpPull one(setting_, std::move(listener_), *message_);
  voice_.begin_to_pull();
  pull(one);
}

void Worker::pull(tcp::TcpPull& pull) {
  bool has_reported = false;
  while (true) {
    pull.turn(STDIN_FILENO);
    voice_.note(pull.segments());
    for (const Json& order : orders()) {
      if (order.at("do") == "dead") pull.died(order.at("rank"));
      if (order.at("do") == "commit") return commit();
    }
    for (const tcp::Complaint& one : pull.take_complaints()) {
      voice_.say({{"is", "lost"}, {"rank", one.about}, {"reason", one.reason}});
    }
    if (!has_reported && pull.is_done()) {
      has_reported = true;
      voice_.wait_for_disk();
      report(pull);
    }
  }
}

void Worker::report(const tcp::TcpPull& pull) {
  Json done{{"is", "done"}, {"segments", pull.segments()}, {"whole", pull.is_complete()}};
  if (in_) {
    message_->load_rest();
    if (const auto change = in_->change()) done["change"] = describe(*change);
  }
  done["checksum"] = message_->map().sum();
  voice_.say(done);
}

void Worker::commit() {
  message_->commit();
  voice_.say({{"is", "committed"}});
}

void Worker::run() {
  ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  try {
    while (true) {
      const Json order = next_order();
      const std::string what = order.at("do");
      if (what == "prepare") prepare(order);
      if (what == "open") open(order);
      if (what == "start") start(order);
    }
  } catch (const Dismissed&) {
  } catch (const Error& fault) {
    voice_.say({{"is", "failed"}, {"reason", fault.what()}});
  }
}

}  // namespace

ExitStatus run_worker() {
  Worker().run();
  return ExitStatus::kDone;
}

}  // namespace espalier::cli
