// Runs MSCCL++ execution plans as its executor does (src/core/executor in
// https://github.com/microsoft/mscclpp): each threadblock one operation after the other, memory
// channels whose signals are counted, buffers of chunks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/json.hpp"
#include "tests/simulate/export/deliveries.hpp"

namespace espalier::testing {

// What a chunk has in it.
struct Chunk {
  std::uint64_t id = UINT64_MAX;  // which part of the message; UINT64_MAX: nothing
  Contributions data = 0;
  bool operator==(const Chunk&) const = default;
};

class Mscclpp {
 public:
  explicit Mscclpp(const std::string& text);

  [[nodiscard]] std::size_t ranks() const { return gpus_.size(); }
  // 'i', 'o' or 's', with the chunks that the plan says.
  std::vector<Chunk>& buffer(std::size_t rank, char type) { return gpus_[rank].buffers.at(type); }
  // Threadblocks take turns, in this order or the reverse. Operations that never end are failures
  // of the test, as are reads of what is not there.
  void run(bool backwards);

 private:
  struct Channel {
    std::size_t peer = 0;
    std::size_t place = 0;      // the peer's channel
    std::uint64_t signals = 0;  // from the peer, not yet waited for
  };
  struct Threadblock {
    std::vector<std::size_t> channels;
    std::vector<std::pair<std::size_t, char>> remote;  // rank, buffer
    Json operations;
    std::size_t next = 0;
  };
  struct Gpu {
    std::map<char, std::vector<Chunk>> buffers;
    std::vector<Channel> channels;
    std::vector<Threadblock> threadblocks;
  };

  void connect();
  bool step(std::size_t rank, Threadblock& of);
  Chunk& local(std::size_t rank, const Json& place, std::uint64_t offset = 0);

  std::vector<Gpu> gpus_;
};

}  // namespace espalier::testing
