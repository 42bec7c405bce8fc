#include "platforms/core/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "platforms/core/rates.hpp"
#include "support/choice.hpp"

namespace espalier::platforms {

namespace {

constexpr std::array<ModelEntry, 5> kModels{{
    {Model::kOnePort, "one-port",
     "a host sends to one host and receives from one host at a time; the two may overlap",
     "Bhat, Raghavendra, Prasanna, JPDC 63 (2003)"},
    {Model::kOnePortUnidirectional, "one-port-unidirectional",
     "a host sends to one host or receives from one host at a time",
     "Bhat, Raghavendra, Prasanna, JPDC 63 (2003), unidirectional"},
    {Model::kMultiPort, "multi-port",
     "a sender is busy for a fixed time per byte and target; its links work in parallel",
     "Bar-Noy, Guha, Naor, Schieber, SIAM J. Comput. 30 (2000)"},
    {Model::kBoundedMultiPort, "bounded-multi-port",
     "any number of transfers at once, within caps on what a node sends and receives",
     "Hong, Prasanna, IEEE TPDS 18 (2007)"},
    {Model::kMultiPortProcessor, "multi-port-processor",
     "a host's processor sends or receives for one link at a time; its links work in parallel",
     "Banikazemi, Sampathkumar, Prabhu, Panda, Sadayappan, HCW 1999"},
}};

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

// The time for which a byte that leaves or enters a node occupies its port.
struct Port {
  enum class Cost : std::uint8_t {
    kNone,     // no such resource
    kArcTime,  // the arc's own T
    kFixed,    // `seconds` for every arc
  };
  Cost cost = Cost::kNone;
  Resource::Kind kind = Resource::Kind::kPort;
  double seconds = 0;
  std::uint32_t row = kNoRow;

  [[nodiscard]] double occupied(double arc_time) const {
    return cost == Cost::kArcTime ? arc_time : seconds;
  }
};

void require_segment(const OccupationOptions& options) {
  if (options.latency_occupies && options.segment.value == 0) {
    throw InputError("latencies that occupy a port need a segment size");
  }
}

// What a segment takes on an arc in addition to its bytes.
double seconds_per_segment(const Arc& arc, const OccupationOptions& options) {
  return arc.overhead.value + (options.latency_occupies ? arc.latency.value : 0.0);
}

// An overhead must not make a byte take so long that the times of other links are lost next to it.
void require_overheads(const Platform& platform, const OccupationOptions& options) {
  if (options.segment.value == 0) return;
  double fastest = 0;
  for_each_rate(platform,
                [&](BytesPerSecond rate, const auto&) { fastest = std::max(fastest, rate.value); });
  for (const Arc& arc : platform.arcs()) {
    const double seconds = seconds_per_segment(arc, options);
    if (seconds / static_cast<double>(options.segment.value) <= kMostSpread / fastest) continue;
    throw InputError(
        platform.name(), {},
        fmt::format(
            "{}: with {} s per segment of {} B, a byte takes over {:g} times as long as the "
            "fastest rate allows; check the units, or take larger segments",
            name_of(platform, arc), seconds, options.segment.value, kMostSpread));
  }
}

// Builds A column by column: the sender's port, the receiver's port, the link, shared links.
class Builder {
 public:
  Builder(const Platform& platform, Model model, const OccupationOptions& options)
      : platform_(platform),
        model_(model),
        reversed_(options.reversed),
        money_per_s_(platform.has_prices() ? options.money_per_s : std::nullopt),
        out_(platform.nodes().size()),
        in_(out_.size()) {
    arc_times_.reserve(platform.arcs().size());
    for (const Arc& arc : platform.arcs()) {
      arc_times_.push_back(arc_seconds_per_byte(arc, options));
    }
  }

  Occupation build() {
    choose_ports();
    number_ports();
    number_links();
    group_shared_links();
    if (money_per_s_) money_row_ = add_row(Resource::Kind::kMoney, 0);
    fill();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_relay(NodeId node) const { return platform_.node(node).relay; }
  [[nodiscard]] NodeId sender(const Arc& arc) const { return reversed_ ? arc.to : arc.from; }
  [[nodiscard]] NodeId receiver(const Arc& arc) const { return reversed_ ? arc.from : arc.to; }
  // Of a node its cap, of an arc the rate of the sender's processor for it.
  [[nodiscard]] const std::optional<BytesPerSecond>& send_rate(const auto& of) const {
    return reversed_ ? of.receive : of.send;
  }
  [[nodiscard]] const std::optional<BytesPerSecond>& receive_rate(const auto& of) const {
    return reversed_ ? of.send : of.receive;
  }

  void choose_ports() {
    const bool has_processors = model_ == Model::kMultiPortProcessor;
    std::vector<double> out;
    std::vector<double> in;
    if (model_ == Model::kMultiPort || has_processors) out = fastest(&Builder::sender);
    if (has_processors) in = fastest(&Builder::receiver);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const Node& node = platform_.nodes()[i];
      if (model_ == Model::kBoundedMultiPort) {
        // A cap is a property of the hardware, so it also applies to relays.
        if (const auto& cap = send_rate(node))
          out_[i] = fixed(Resource::Kind::kOutPort, 1 / cap->value);
        if (const auto& cap = receive_rate(node))
          in_[i] = fixed(Resource::Kind::kInPort, 1 / cap->value);
      } else if (node.relay) {
        continue;  // no ports: a switch forwards on all its links at once
      } else if (model_ == Model::kMultiPort) {
        out_[i] = fixed(Resource::Kind::kOutPort, seconds_at(send_rate(node), out[i]));
      } else if (has_processors) {
        out_[i] = fixed(Resource::Kind::kPort, seconds_at(send_rate(node), out[i]));
        in_[i] = fixed(Resource::Kind::kPort, seconds_at(receive_rate(node), in[i]));
      } else if (model_ == Model::kOnePort) {
        out_[i] = {Port::Cost::kArcTime, Resource::Kind::kOutPort};
        in_[i] = {Port::Cost::kArcTime, Resource::Kind::kInPort};
      } else {
        out_[i] = {Port::Cost::kArcTime, Resource::Kind::kPort};
        in_[i] = out_[i];
      }
    }
  }

  static Port fixed(Resource::Kind kind, double seconds) {
    return {Port::Cost::kFixed, kind, seconds};
  }

  // Per node, the minimum T of the arcs of which it is the sender, or the receiver; infinite if
  // there is none.
  [[nodiscard]] std::vector<double> fastest(NodeId (Builder::*end)(const Arc&) const) const {
    std::vector<double> times(out_.size(), std::numeric_limits<double>::infinity());
    for (std::size_t e = 0; e < arc_times_.size(); ++e) {
      double& of_node = times[index_of((this->*end)(platform_.arcs()[e]))];
      of_node = std::min(of_node, arc_times_[e]);
    }
    return times;
  }

  // s_u and r_v of the multi-port models.
  [[nodiscard]] static double seconds_at(const std::optional<BytesPerSecond>& cap,
                                         double fastest_arc) {
    constexpr double kShareOfFastest = 0.8;  // HBT, Simulations
    return cap ? 1 / cap->value : kShareOfFastest * fastest_arc;
  }

  // Numbers the ports that at least one arc occupies, by node, out-port first.
  void number_ports() {
    std::vector<bool> sends(out_.size());
    std::vector<bool> receives(in_.size());
    for (const Arc& arc : platform_.arcs()) {
      sends[index_of(sender(arc))] = true;
      receives[index_of(receiver(arc))] = true;
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const auto node = static_cast<std::uint32_t>(i);
      if (out_[i].cost != Port::Cost::kNone && sends[i]) {
        out_[i].row = add_row(out_[i].kind, node);
      }
      if (in_[i].cost == Port::Cost::kNone || !receives[i]) continue;
      const bool same_port = in_[i].kind == Resource::Kind::kPort && out_[i].row != kNoRow;
      in_[i].row = same_port ? out_[i].row : add_row(in_[i].kind, node);
    }
  }

  void number_links() {
    const bool every_link = !is_one_port(model_);
    link_rows_.assign(arc_times_.size(), kNoRow);
    for (std::size_t e = 0; e < link_rows_.size(); ++e) {
      const Arc& arc = platform_.arcs()[e];
      if (!every_link && !is_relay(arc.from) && !is_relay(arc.to)) continue;
      link_rows_[e] = add_row(Resource::Kind::kLink, static_cast<std::uint32_t>(e));
    }
  }

  // Lists each arc's shared links, ascending: those of arc e are shared_[first_shared_[e] ...].
  void group_shared_links() {
    const auto links = platform_.shared_links();
    first_shared_.assign(arc_times_.size() + 1, 0);
    for (const SharedLink& link : links) {
      for (const ArcId arc : link.arcs) ++first_shared_[index_of(arc) + 1];
    }
    for (std::size_t e = 1; e < first_shared_.size(); ++e) {
      first_shared_[e] += first_shared_[e - 1];
    }
    shared_.resize(first_shared_.back());
    std::vector<std::size_t> next(first_shared_.begin(), first_shared_.end() - 1);
    first_shared_row_ = static_cast<std::uint32_t>(result_.resources.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      add_row(Resource::Kind::kSharedLink, index);
      for (const ArcId arc : links[i].arcs) shared_[next[index_of(arc)]++] = index;
    }
  }

  std::uint32_t add_row(Resource::Kind kind, std::uint32_t index) {
    result_.resources.push_back({kind, index});
    return static_cast<std::uint32_t>(result_.resources.size() - 1);
  }

  // of_arc: the rate of the port's processor for the arc, if it has one of its own.
  [[nodiscard]] double seconds_at_port(const Port& port, double arc_time,
                                       const std::optional<BytesPerSecond>& of_arc) const {
    if (of_arc && model_ == Model::kMultiPortProcessor) return 1 / of_arc->value;
    return port.occupied(arc_time);
  }

  void fill() {
    auto& matrix = result_.seconds_per_byte;
    matrix.resize(static_cast<Eigen::Index>(result_.resources.size()),
                  static_cast<Eigen::Index>(arc_times_.size()));
    matrix.reserve(static_cast<Eigen::Index>(4 * arc_times_.size() + shared_.size()));
    for (std::size_t e = 0; e < arc_times_.size(); ++e) {
      const auto column = static_cast<Eigen::Index>(e);
      const auto add = [&](std::uint32_t row, double seconds) {
        if (row != kNoRow) matrix.insertBack(static_cast<Eigen::Index>(row), column) = seconds;
      };
      const Arc& arc = platform_.arcs()[e];
      const Port& out = out_[index_of(sender(arc))];
      const Port& in = in_[index_of(receiver(arc))];
      std::pair first{out.row, seconds_at_port(out, arc_times_[e], send_rate(arc))};
      std::pair second{in.row, seconds_at_port(in, arc_times_[e], receive_rate(arc))};
      if (first > second) std::swap(first, second);  // rows ascend within a column
      matrix.startVec(column);
      add(first.first, first.second);
      add(second.first, second.second);
      add(link_rows_[e], arc_times_[e]);
      for (std::size_t i = first_shared_[e]; i < first_shared_[e + 1]; ++i) {
        const double bandwidth = platform_.shared_links()[shared_[i]].bandwidth.value;
        add(first_shared_row_ + shared_[i], 1 / bandwidth);
      }
      if (money_per_s_ && arc.price_per_GB > 0) {
        add(money_row_, arc.price_per_GB / kBytesPerGB / *money_per_s_);
      }
    }
    matrix.finalize();
  }

  const Platform& platform_;
  Model model_;
  bool reversed_;
  std::optional<double> money_per_s_;
  std::uint32_t money_row_ = kNoRow;
  std::vector<double> arc_times_;
  std::vector<Port> out_;
  std::vector<Port> in_;
  std::vector<std::uint32_t> link_rows_;
  std::vector<std::size_t> first_shared_;
  std::vector<std::uint32_t> shared_;
  std::uint32_t first_shared_row_ = 0;
  Occupation result_;
};

}  // namespace

std::span<const ModelEntry> models() {
  return kModels;
}

std::string_view name_of(Model model) {
  return std::ranges::find(kModels, model, &ModelEntry::model)->name;
}

Model parse_model(std::string_view name) {
  return choice_named("model", kModels, name).model;
}

double arc_seconds_per_byte(const Arc& arc, const OccupationOptions& options) {
  require_segment(options);
  if (options.segment.value == 0) return 1 / arc.bandwidth.value;
  return seconds_per_segment(arc, options) / static_cast<double>(options.segment.value) +
         1 / arc.bandwidth.value;
}

Occupation occupation(const Platform& platform, Model model, const OccupationOptions& options) {
  require_segment(options);
  require_overheads(platform, options);
  return Builder(platform, model, options).build();
}

std::string describe(const Resource& resource, const Platform& platform) {
  const auto name = [&](NodeId node) { return printable(platform.node(node).name); };
  switch (resource.kind) {
    case Resource::Kind::kOutPort:
      return "out-port of " + name(NodeId{resource.index});
    case Resource::Kind::kInPort:
      return "in-port of " + name(NodeId{resource.index});
    case Resource::Kind::kPort:
      return "port of " + name(NodeId{resource.index});
    case Resource::Kind::kLink: {
      const Arc& arc = platform.arc(ArcId{resource.index});
      return fmt::format("link {} -> {}", name(arc.from), name(arc.to));
    }
    case Resource::Kind::kSharedLink:
      return "shared link " + printable(platform.shared_links()[resource.index].name);
    case Resource::Kind::kMoney:
      return "money";
  }
  return {};
}

}  // namespace espalier::platforms
