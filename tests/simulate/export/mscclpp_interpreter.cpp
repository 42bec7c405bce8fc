#include "tests/simulate/export/mscclpp_interpreter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace espalier::testing {

namespace {

char type_of(const Json& place) {
  return place.at("type").get<std::string>().at(0);
}

}  // namespace

Mscclpp::Mscclpp(const std::string& text) {
  const Json plan = Json::parse(text);
  EXPECT_EQ(plan.at("protocol"), "Simple");
  for (const Json& gpu : plan.at("gpus")) {
    Gpu& made = gpus_.emplace_back();
    EXPECT_EQ(gpu.at("id"), gpus_.size() - 1);
    made.buffers['i'].resize(gpu.at("input_chunks"));
    made.buffers['o'].resize(gpu.at("output_chunks"));
    made.buffers['s'].resize(gpu.at("scratch_chunks"));
    for (const Json& group : gpu.at("channels")) {
      EXPECT_EQ(group.at("channel_type"), "memory");
      for (const Json& peer : group.at("connected_to")) made.channels.push_back({peer});
    }
    std::vector<std::pair<std::size_t, char>> remote;
    for (const Json& one : gpu.at("remote_buffers")) {
      remote.emplace_back(one.at("rank"), type_of(one));
    }
    for (const Json& threadblock : gpu.at("threadblocks")) {
      EXPECT_EQ(threadblock.at("id"), made.threadblocks.size());
      Threadblock& of = made.threadblocks.emplace_back();
      for (const Json& group : threadblock.at("channels")) {
        for (const Json& id : group.at("channel_ids")) of.channels.push_back(id);
      }
      for (const Json& group : threadblock.at("remote_buffer_refs")) {
        for (const Json& id : group.at("remote_buffer_ids")) of.remote.push_back(remote.at(id));
      }
      of.operations = threadblock.at("ops");
      EXPECT_LE(of.operations.size(), 64U);
      EXPECT_LE(of.channels.size(), 16U);
    }
  }
  connect();
}

// The n-th channel of a rank to another one is connected with the n-th in the other direction.
void Mscclpp::connect() {
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    std::map<std::size_t, std::size_t> count;
    for (Channel& channel : gpus_[rank].channels) {
      std::size_t nth = count[channel.peer]++;
      std::vector<Channel>& theirs = gpus_.at(channel.peer).channels;
      const auto found = std::ranges::find_if(
          theirs, [&](const Channel& other) { return other.peer == rank && nth-- == 0; });
      if (found == theirs.end()) throw std::runtime_error("a channel to nobody");
      channel.place = static_cast<std::size_t>(found - theirs.begin());
    }
  }
}

void Mscclpp::run(bool backwards) {
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    for (std::size_t t = 0; t < gpus_[rank].threadblocks.size(); ++t) order.emplace_back(rank, t);
  }
  if (backwards) std::ranges::reverse(order);
  for (bool moves = true; moves;) {
    moves = false;
    for (const auto& [rank, t] : order) {
      Threadblock& of = gpus_[rank].threadblocks[t];
      while (of.next < of.operations.size() && step(rank, of)) {
        ++of.next;
        moves = true;
      }
    }
  }
  for (const auto& [rank, t] : order) {
    const Threadblock& of = gpus_[rank].threadblocks[t];
    EXPECT_EQ(of.next, of.operations.size()) << "rank " << rank << " waits without end";
  }
  for (const Gpu& gpu : gpus_) {
    for (const Channel& channel : gpu.channels) EXPECT_EQ(channel.signals, 0U);
  }
}

Chunk& Mscclpp::local(std::size_t rank, const Json& place, std::uint64_t offset) {
  return buffer(rank, type_of(place)).at(place.at("index").get<std::uint64_t>() + offset);
}

bool Mscclpp::step(std::size_t rank, Threadblock& of) {
  const Json& op = of.operations[of.next];
  const std::string name = op.at("name");
  if (name == "nop") return true;
  if (name == "signal" || name == "rlxsignal") {
    EXPECT_LE(op.at("channel_ids").size(), 8U);
    for (const Json& id : op.at("channel_ids")) {
      const Channel& channel = gpus_[rank].channels.at(of.channels.at(id));
      ++gpus_[channel.peer].channels[channel.place].signals;
    }
    return true;
  }
  if (name == "wait" || name == "rlxwait") {
    const auto has_none = [&](const Json& id) {
      return gpus_[rank].channels.at(of.channels.at(id)).signals == 0;
    };
    if (std::any_of(op.at("channel_ids").begin(), op.at("channel_ids").end(), has_none)) {
      return false;
    }
    for (const Json& id : op.at("channel_ids")) {
      --gpus_[rank].channels.at(of.channels.at(id)).signals;
    }
    return true;
  }
  const Json& from = op.at("src_buff");
  const Json& to = op.at("dst_buff").at(0);
  if (name == "re") {
    Chunk& sum = local(rank, to);
    const Chunk& arrived = local(rank, from.at(1));
    EXPECT_EQ(&sum, &local(rank, from.at(0)));
    EXPECT_EQ(sum.id, arrived.id) << "other parts are added";
    EXPECT_EQ(sum.data & arrived.data, 0U) << "added twice";
    sum.data |= arrived.data;
    return true;
  }
  for (std::uint64_t i = 0; i < from.at(0).at("size").get<std::uint64_t>(); ++i) {
    const Chunk& source = local(rank, from.at(0), i);
    EXPECT_NE(source.data, 0U) << "rank " << rank << " copies what it does not have";
    if (name == "copy") {
      local(rank, to, i) = source;
    } else if (name == "put") {
      const auto [peer, type] = of.remote.at(to.at("buffer_id"));
      buffer(peer, type).at(to.at("index").get<std::uint64_t>() + i) = source;
    } else {
      throw std::runtime_error(name);
    }
  }
  return true;
}

}  // namespace espalier::testing
