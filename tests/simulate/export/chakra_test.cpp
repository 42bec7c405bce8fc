// Chakra traces, decoded and run: a node begins when its dependencies are done, a receive is done
// when its message has arrived.
#include "simulate/export/chakra.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "tests/simulate/export/deliveries.hpp"

namespace espalier::simulate::chakra_test {
namespace {

using espalier::testing::Contributions;
using espalier::testing::Deliveries;

// Protobuf's wire format, by its public description.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  [[nodiscard]] bool is_at_end() const { return text_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(std::size_t count) {
    if (count > text_.size()) throw std::runtime_error("truncated");
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }
  Reader message() { return Reader(take(varint())); }
  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

struct Field {
  std::uint64_t number = 0;               // of a varint: the value
  std::vector<std::string_view> texts{};  // length-delimited
};
std::map<std::uint64_t, Field> fields_of(Reader message) {
  std::map<std::uint64_t, Field> fields;
  while (!message.is_at_end()) {
    const std::uint64_t key = message.varint();
    Field& field = fields[key >> 3U];
    if ((key & 7U) == 0) {
      field.number = message.varint();
    } else if ((key & 7U) == 2) {
      field.texts.push_back(message.message().rest());
    } else {
      throw std::runtime_error("wire type");
    }
  }
  return fields;
}

struct Node {
  std::uint64_t id = 0;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> data_deps{};
  std::map<std::string, std::uint64_t> attributes{};
};

// Of et_def.proto: Node.id = 1, type = 3, data_deps = 5, attr = 10; AttributeProto.name = 1,
// int32_val = 5, int64_val = 7, bool_val = 27.
Node node_of(Reader message) {
  auto fields = fields_of(message);
  Node node{fields.at(1).number, fields.at(3).number};
  for (const std::string_view packed : fields[5].texts) {
    for (Reader reader(packed); !reader.is_at_end();) node.data_deps.push_back(reader.varint());
  }
  for (const std::string_view text : fields.at(10).texts) {
    auto attribute = fields_of(Reader(text));
    const std::string name(attribute.at(1).texts.at(0));
    const std::uint64_t kind = name == "is_cpu_op" ? 27 : name == "comm_size" ? 7 : 5;
    node.attributes[name] = attribute.at(kind).number;
  }
  return node;
}

class Replay {
 public:
  Replay(const planner::Plan& plan, const Transfers& transfers, Deliveries& deliveries)
      : deliveries_(deliveries) {
    for (const ExportedFile& file : chakra_traces(plan, transfers)) {
      EXPECT_EQ(file.name, fmt::format("plan.{}.et", ranks_.size()));
      Reader reader(file.text);
      EXPECT_EQ(fields_of(reader.message()).at(1).texts.at(0), "0.0.4");
      Rank& rank = ranks_.emplace_back();
      while (!reader.is_at_end()) rank.waiting.push_back(node_of(reader.message()));
    }
  }

  void run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        std::deque<Node> left;
        for (const Node& node : ranks_[rank].waiting) {
          if (step(rank, node)) {
            ranks_[rank].done.insert(node.id);
            moves = true;
          } else {
            left.push_back(node);
          }
        }
        ranks_[rank].waiting = left;
      }
    }
    for (const Rank& rank : ranks_) EXPECT_TRUE(rank.waiting.empty()) << "a rank waits without end";
    EXPECT_TRUE(sent_.empty()) << "a message is not received";
  }

 private:
  struct Rank {
    std::deque<Node> waiting;
    std::set<std::uint64_t> done{};
  };
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // from, to, tag
  struct Message {
    std::uint64_t bytes;
    Contributions data;
  };

  // False: it has to wait.
  bool step(std::uint32_t rank, const Node& node) {
    for (const std::uint64_t earlier : node.data_deps) {
      if (ranks_[rank].done.count(earlier) == 0) return false;
    }
    const auto& of = node.attributes;
    EXPECT_EQ(of.at("is_cpu_op"), 0U);
    const std::uint64_t tag = of.at("comm_tag");
    const Key key{of.at("comm_src"), of.at("comm_dst"), tag};
    if (node.type == 5) {
      EXPECT_EQ(of.at("comm_src"), rank);
      const Message message{of.at("comm_size"), deliveries_.sent(rank, tag)};
      EXPECT_TRUE(sent_.try_emplace(key, message).second) << "two messages that look the same";
      return true;
    }
    EXPECT_EQ(node.type, 6U);
    EXPECT_EQ(of.at("comm_dst"), rank);
    const auto found = sent_.find(key);
    if (found == sent_.end()) return false;
    EXPECT_EQ(of.at("comm_size"), found->second.bytes);
    deliveries_.received(rank, tag, found->second.bytes, found->second.data);
    sent_.erase(found);
    return true;
  }

  Deliveries& deliveries_;
  std::vector<Rank> ranks_;
  std::map<Key, Message> sent_;
};

TEST(Chakra, DeliversEveryOperation) {
  espalier::testing::expect_delivers_every_operation<Replay>();
}

TEST(Chakra, DeliversHalvesThatAreExchanged) {
  espalier::testing::expect_delivers<Replay>(espalier::testing::exchanging_plan(), {100'000});
}

// The bytes of a node, by hand: id 0 is written, as readers of proto3 accept.
TEST(Chakra, IsProtobuf) {
  const planner::Plan plan =
      planner::plan_of({"flat", planner::Operation::kBroadcast, 2, 0, {1e9}});
  const std::vector<ExportedFile> files = chakra_traces(plan, transfers_of(plan, {300}, {300}));
  using namespace std::string_literals;
  const std::string node =
      "\x08\x00"
      "\x12\x0bsend 0 to 1"
      "\x18\x05"
      "\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00"
      "\x52\x0e\x0a\x09"
      "comm_size\x38\xac\x02"
      "\x52\x0c\x0a\x08"
      "comm_src\x28\x00"
      "\x52\x0c\x0a\x08"
      "comm_dst\x28\x01"
      "\x52\x0c\x0a\x08"
      "comm_tag\x28\x00"s;
  ASSERT_EQ(files.size(), 2U);
  Reader reader(files[0].text);
  reader.message();
  EXPECT_EQ(reader.message().rest(), node);
  EXPECT_TRUE(reader.is_at_end());
}

}  // namespace
}  // namespace espalier::simulate::chakra_test
