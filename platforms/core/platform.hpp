// A platform: the directed graph of nodes and links on which a collective runs. PlatformBuilder
// ensures: names are unique, not empty and printable; no self-loops; at most one arc from u to v;
// all figures are finite, rates positive and at most kMostSpread (platforms/core/rates.hpp) apart,
// latencies, overheads and prices not negative; arcs are sorted by (from, to).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

enum class NodeId : std::uint32_t {};
enum class ArcId : std::uint32_t {};
constexpr std::size_t index_of(NodeId node) {
  return static_cast<std::size_t>(node);
}
constexpr std::size_t index_of(ArcId arc) {
  return static_cast<std::size_t>(arc);
}

// Where a node is drawn, in any unit (equal for x and y), y upwards. For places on earth, degrees:
// x is the longitude, y the latitude. Used for pictures only.
struct Position {
  double x = 0;
  double y = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

struct Node {
  std::string name;
  bool relay = false;                       // forwards, cannot copy, needs no data
  std::optional<BytesPerSecond> send{};     // cap on the total rate at which it sends
  std::optional<BytesPerSecond> receive{};  // cap on the total rate at which it receives
  std::string group{};                      // "site/rack", or empty
  std::optional<Position> position{};
  double price_per_hour = 0;  // in the platform's currency
};

inline constexpr double kBytesPerGB = 1e9;  // prices are in decimal units, as clouds state them

struct Arc {
  NodeId from{};
  NodeId to{};
  BytesPerSecond bandwidth{};
  Seconds latency{};        // delays a message, occupies nothing
  Seconds overhead{};       // per segment: a segment of s bytes occupies overhead + s / bandwidth
  double price_per_GB = 0;  // of 10^9 bytes over the link, in the platform's currency
  // Rates at which the processors at its ends handle the link's bytes, where these differ from link
  // to link (multi-port-processor; HBT, Multi-port: Banikazemi et al.). Unset: as for the node's
  // other links.
  std::optional<BytesPerSecond> send{};
  std::optional<BytesPerSecond> receive{};
};

// A link that several arcs share: the sum of their rates is at most its bandwidth.
struct SharedLink {
  std::string name;
  BytesPerSecond bandwidth;
  std::vector<ArcId> arcs;  // ascending, no duplicates
};

// Allows lookup by string_view in a map of names.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    return std::hash<std::string_view>{}(name);
  }
};
using NodesByName = std::unordered_map<std::string, NodeId, NameHash, std::equal_to<>>;

class Platform {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  // Of all prices: "USD"; may be empty.
  [[nodiscard]] const std::string& currency() const { return currency_; }
  // Whether any link has a price. Links without one are then free.
  [[nodiscard]] bool has_prices() const;
  [[nodiscard]] double price_per_hour() const;  // of all nodes
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Arc> arcs() const { return arcs_; }
  [[nodiscard]] std::span<const SharedLink> shared_links() const { return shared_links_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[index_of(id)]; }
  [[nodiscard]] const Arc& arc(ArcId id) const { return arcs_[index_of(id)]; }
  // Nodes that are not relays, ascending: those that need the data.
  [[nodiscard]] std::span<const NodeId> hosts() const { return hosts_; }

  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;
  [[nodiscard]] std::optional<ArcId> find_arc(NodeId from, NodeId to) const;
  // Arcs that leave `node`: consecutive ids [first, last).
  struct ArcRange {
    std::uint32_t first;
    std::uint32_t last;
  };
  [[nodiscard]] ArcRange arcs_out_of(NodeId node) const;

 private:
  friend class PlatformBuilder;
  friend Platform with_prices(const Platform& platform, std::span<const double> price_per_GB,
                              std::string currency);
  std::string name_;
  std::string currency_;
  std::vector<Node> nodes_;
  std::vector<Arc> arcs_;
  std::vector<SharedLink> shared_links_;
  std::vector<NodeId> hosts_;
  std::vector<std::uint32_t> first_arc_;  // nodes + 1
  NodesByName by_name_;
};

// In the order of hosts().
std::vector<std::string> names_of_hosts(const Platform& platform);
// The sum of the latencies of these arcs.
Seconds latency_along(const Platform& platform, std::span<const std::uint32_t> arcs);

// Checks of values, for readers that know the place of a value in the file. `what` names the value
// ("a bandwidth"). They throw InputError with the reason only.
void require_rate(BytesPerSecond rate, std::string_view what);   // finite, positive
void require_duration(Seconds duration, std::string_view what);  // finite, not negative
void require_position(const Position& position);                 // finite
void require_price(double price, std::string_view what);         // finite, not negative
// Not empty, UTF-8, no control characters: a name must be valid in every format and terminal.
void require_name(std::string_view name, std::string_view what);

// Error of build() in a shared link, with the index of its faulty pair, so that a reader can give
// the place in the file.
class SharedLinkError : public InputError {
 public:
  SharedLinkError(std::size_t shared_link, std::size_t pair, const std::string& reason)
      : InputError(reason), shared_link_(shared_link), pair_(pair) {}
  // In the order of add_shared_link().
  [[nodiscard]] std::size_t shared_link() const noexcept { return shared_link_; }
  [[nodiscard]] std::size_t pair() const noexcept { return pair_; }

 private:
  std::size_t shared_link_;
  std::size_t pair_;
};

// Error of build(): two rates are further apart than doubles can compute with.
class SpreadError : public InputError {
 public:
  using InputError::InputError;
};

// Builds a platform from checked parts. Every function throws InputError with the reason only; the
// caller knows the file and the place, and adds them.
class PlatformBuilder {
 public:
  explicit PlatformBuilder(std::string name);

  // Throws on an empty one.
  void set_currency(std::string currency);

  // Throws on an empty or a repeated name, a cap that is not finite and positive, or a coordinate
  // that is not finite.
  NodeId add_node(Node node);
  // The node of that name, added as a host on first mention (for edge lists and matrices).
  NodeId node_named(std::string_view name);
  // Throws on a self-loop, a bandwidth that is not finite and positive, or a latency, overhead
  // or price that is negative or not finite.
  void add_arc(const Arc& arc);
  // The arc and its reverse.
  void add_both_ways(const Arc& arc);
  // Throws on an empty or repeated name, an invalid bandwidth, no arcs. Since links may be added
  // later, build() checks the pairs: it throws SharedLinkError for a pair without an arc or given
  // twice.
  void add_shared_link(std::string name, BytesPerSecond bandwidth,
                       std::vector<std::pair<NodeId, NodeId>> arcs);

  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;
  // Caps, groups and positions may still be changed.
  [[nodiscard]] std::span<Node> nodes() { return nodes_; }

  // Sorts the arcs, merges parallel ones (bandwidths add, the smaller latency and overhead and the
  // higher price are kept) and checks the rest. Throws if a shared link names a pair with parallel
  // arcs, because it is ambiguous, and SpreadError if rates are too far apart. notes: receives one
  // line about merged links ("merged 2 parallel links a -> b"); may be null.
  [[nodiscard]] Platform build(std::vector<std::string>* notes = nullptr) &&;

 private:
  struct PendingSharedLink {
    std::string name;
    BytesPerSecond bandwidth;
    std::vector<std::pair<NodeId, NodeId>> arcs;
  };
  // Arcs, and the number of parallel arcs merged into each.
  struct MergedArcs {
    std::vector<Arc> arcs;
    std::vector<std::uint32_t> counts;
    bool prices_differ = false;  // of links merged into one arc
  };
  [[nodiscard]] MergedArcs merge_arcs();
  [[nodiscard]] std::string merge_note(const MergedArcs& merged) const;
  [[nodiscard]] SharedLink resolve(std::size_t shared_link, const Platform& platform,
                                   const MergedArcs& merged) const;
  std::string name_;
  std::string currency_;
  std::vector<Node> nodes_;
  std::vector<Arc> arcs_;
  std::vector<PendingSharedLink> shared_links_;
  std::unordered_set<std::string> shared_link_names_;
  NodesByName by_name_;
};

// `platform` with other values: `nodes` and `arcs` must be its own, in their order, and may differ
// in bandwidths, caps, latencies, overheads and prices; shared: the bandwidth of each shared link.
// Throws InputError like PlatformBuilder.
Platform with_figures(const Platform& platform, std::vector<Node> nodes, std::span<const Arc> arcs,
                      std::span<const BytesPerSecond> shared);
// `platform` with other prices of links, one for each arc, and their currency, which may be empty.
Platform with_prices(const Platform& platform, std::span<const double> price_per_GB,
                     std::string currency);

}  // namespace espalier::platforms
