// What one rank does in an MSCCL++ execution plan: its threadblocks, channels and remote buffers.
// Part of simulate/export/mscclpp.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/json.hpp"

namespace espalier::simulate {

// A place in a buffer: 'i' input, 'o' output, 's' scratch.
struct MscclppChunk {
  char buffer;
  std::uint64_t index;
};

class MscclppRank {
 public:
  void send(std::uint32_t threadblock, std::uint32_t peer, MscclppChunk from, MscclppChunk to);
  void receive(std::uint32_t threadblock, std::uint32_t peer);
  // Adds `arrived` to `sum`.
  void add(std::uint32_t threadblock, MscclppChunk sum, MscclppChunk arrived);
  // In the first threadblock.
  void copy(MscclppChunk from, MscclppChunk to, std::uint64_t chunks);

  // "threadblocks", "channels", "remote_buffers" and "semaphores" of the GPU. name: for messages.
  // Throws InputError when a threadblock exceeds the executor's limits.
  [[nodiscard]] Json json(const std::string& name) const;

 private:
  using RemoteBuffer = std::pair<std::uint32_t, char>;  // rank, buffer
  struct Threadblock {
    std::vector<std::uint32_t> peers{};  // of its channels
    std::vector<RemoteBuffer> remote_buffers{};
    Json operations = Json::array();
    bool has_unordered = false;  // other threads may not have done what comes before
  };

  static std::size_t channel_to(Threadblock& threadblock, std::uint32_t peer);
  // Orders what all threads do before it and after it.
  static void order(Threadblock& threadblock);
  static Json operations_of(const Threadblock& threadblock);

  std::map<std::uint32_t, Threadblock> threadblocks_;
};

}  // namespace espalier::simulate
