#include "simulate/export/mscclpp_rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulate/export/mscclpp.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

constexpr const char* kMemory = "memory";

Json local(MscclppChunk chunk, std::uint64_t chunks = 1) {
  return {{"type", std::string(1, chunk.buffer)}, {"index", chunk.index}, {"size", chunks}};
}

Json on_channels(const char* name, std::vector<std::size_t> channels) {
  return {{"name", name}, {"channel_ids", std::move(channels)}, {"channel_type", kMemory}};
}

template <class Value>
std::size_t place_in(std::vector<Value>& all, const Value& value) {
  const auto found = std::ranges::find(all, value);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(value);
  return all.size() - 1;
}

// A handshake: no rank writes to another one before that one has begun.
void append_handshake(Json& operations, std::size_t channels) {
  for (const char* name : {"rlxsignal", "rlxwait"}) {
    for (std::size_t first = 0; first < channels; first += kMostMscclppChannelsAtOnce) {
      std::vector<std::size_t> some;
      for (std::size_t c = first; c < std::min(channels, first + kMostMscclppChannelsAtOnce); ++c) {
        some.push_back(c);
      }
      operations.push_back(on_channels(name, std::move(some)));
    }
  }
  operations.push_back({{"name", "nop"}});
}

void require_within(std::size_t count, std::size_t most, const char* what,
                    const std::string& name) {
  if (count <= most) return;
  throw InputError({}, "--segment",
                   fmt::format("{} needs {} {} in a threadblock, and MSCCL++ has {}; give a larger "
                               "--segment or a plan of fewer sends",
                               in_quotes(name), count, what, most));
}

}  // namespace

std::size_t MscclppRank::channel_to(Threadblock& threadblock, std::uint32_t peer) {
  return place_in(threadblock.peers, peer);
}

void MscclppRank::order(Threadblock& threadblock) {
  if (std::exchange(threadblock.has_unordered, false)) {
    threadblock.operations.push_back({{"name", "nop"}});
  }
}

void MscclppRank::send(std::uint32_t threadblock, std::uint32_t peer, MscclppChunk from,
                       MscclppChunk to) {
  Threadblock& of = threadblocks_[threadblock];
  const std::size_t channel = channel_to(of, peer);
  const std::size_t buffer = place_in(of.remote_buffers, RemoteBuffer{peer, to.buffer});
  order(of);
  of.operations.push_back(
      {{"name", "put"},
       {"src_buff", Json::array({local(from)})},
       {"dst_buff", Json::array({{{"buffer_id", buffer}, {"index", to.index}, {"size", 1}}})},
       {"channel_ids", Json::array({channel})},
       {"channel_type", kMemory}});
  of.operations.push_back({{"name", "nop"}});
  of.operations.push_back(on_channels("signal", {channel}));
}

void MscclppRank::receive(std::uint32_t threadblock, std::uint32_t peer) {
  Threadblock& of = threadblocks_[threadblock];
  of.operations.push_back(on_channels("wait", {channel_to(of, peer)}));
  of.has_unordered = true;
}

void MscclppRank::add(std::uint32_t threadblock, MscclppChunk sum, MscclppChunk arrived) {
  Threadblock& of = threadblocks_[threadblock];
  order(of);
  of.operations.push_back({{"name", "re"},
                           {"src_buff", Json::array({local(sum), local(arrived)})},
                           {"dst_buff", Json::array({local(sum)})},
                           {"reduce_op", "sum"}});
  of.has_unordered = true;
}

void MscclppRank::copy(MscclppChunk from, MscclppChunk to, std::uint64_t chunks) {
  threadblocks_[0].operations.push_back({{"name", "copy"},
                                         {"src_buff", Json::array({local(from, chunks)})},
                                         {"dst_buff", Json::array({local(to, chunks)})}});
}

Json MscclppRank::operations_of(const Threadblock& threadblock) {
  Json operations = Json::array();
  append_handshake(operations, threadblock.peers.size());
  operations.insert(operations.end(), threadblock.operations.begin(), threadblock.operations.end());
  return operations;
}

Json MscclppRank::json(const std::string& name) const {
  Json threadblocks = Json::array();
  Json connected = Json::array();
  Json buffers = Json::array();
  for (const auto& [key, of] : threadblocks_) {
    Json operations = operations_of(of);
    require_within(operations.size(), kMostMscclppOperations, "operations", name);
    require_within(of.peers.size(), kMostMscclppChannels, "channels", name);
    Json channel_ids = Json::array();
    for (const std::uint32_t peer : of.peers) {
      channel_ids.push_back(connected.size());
      connected.push_back(peer);
    }
    Json buffer_ids = Json::array();
    for (const auto& [rank, buffer] : of.remote_buffers) {
      buffer_ids.push_back(buffers.size());
      buffers.push_back({{"rank", rank},
                         {"type", std::string(1, buffer)},
                         {"access_channel_types", Json::array({kMemory})}});
    }
    Json refs = Json::array();
    if (!buffer_ids.empty()) {
      refs.push_back({{"access_channel_type", kMemory}, {"remote_buffer_ids", buffer_ids}});
    }
    threadblocks.push_back(
        {{"id", threadblocks.size()},
         {"ops", std::move(operations)},
         {"channels", Json::array({{{"channel_type", kMemory}, {"channel_ids", channel_ids}}})},
         {"remote_buffer_refs", std::move(refs)}});
  }
  return {{"threadblocks", std::move(threadblocks)},
          {"channels", Json::array({{{"channel_type", kMemory}, {"connected_to", connected}}})},
          {"remote_buffers", std::move(buffers)},
          {"semaphores", Json::array()}};
}

}  // namespace espalier::simulate
