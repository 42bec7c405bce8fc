#include "runtime/pull/gathered_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/transport/comm_facts.hpp"

namespace espalier::runtime {
namespace {

using engine::pull::Traffic;

constexpr std::string_view kGathering = "waiting for what the other ranks have measured";

// Only cells with traffic travel; the first record has the last arrival and the length of the bins.
struct Record {
  std::uint32_t bin;
  std::uint32_t source;
  float bytes;
  float busy_s;
};

std::vector<Record> records_of(const Traffic& traffic) {
  std::vector<Record> records{
      {0, 0, static_cast<float>(traffic.end_s()), static_cast<float>(traffic.bin_s())}};
  for (std::uint32_t bin = 0; bin < Traffic::kMostBins; ++bin) {
    for (std::uint32_t source = 0; source < traffic.ranks(); ++source) {
      const Traffic::Cell& cell = traffic.at(bin, source);
      if (cell.bytes <= 0) continue;
      records.push_back(
          {bin, source, static_cast<float>(cell.bytes), static_cast<float>(cell.busy_s)});
    }
  }
  return records;
}

Traffic traffic_from(std::span<const Record> records, std::size_t ranks) {
  Traffic traffic(ranks);
  // The lengths are powers of two times the first one, which a float distorts slightly.
  traffic.widen_to(records.front().busy_s * 0.75);
  traffic.note_end(records.front().bytes);
  for (const Record& record : records.subspan(1)) {
    traffic.at(record.bin, record.source) = {record.bytes, record.busy_s};
  }
  return traffic;
}

struct Memory {
  std::vector<Record> mine;
  int length;
  std::vector<int> lengths;  // by rank, in bytes
  std::vector<int> starts;
  std::vector<Record> all;
};

}  // namespace

std::vector<Traffic> gathered_traffic(MPI_Comm comm, const Traffic& mine, Timeout timeout) {
  const std::size_t ranks = mine.ranks();
  const bool is_collector = rank_in(comm) == 0;
  const auto memory = std::make_shared<Memory>();
  memory->mine = records_of(mine);
  memory->length = static_cast<int>(memory->mine.size() * sizeof(Record));
  memory->lengths.resize(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(&memory->length, 1, MPI_INT, memory->lengths.data(), 1, MPI_INT, 0, comm,
                    &request),
        "MPI_Igather");
  timeout.begin();
  timeout.wait(request, kGathering, memory);
  std::size_t total = 0;
  if (is_collector) {
    for (const int length : memory->lengths) {
      memory->starts.push_back(static_cast<int>(total));
      total += static_cast<std::size_t>(length);
    }
  }
  memory->all.resize(total / sizeof(Record));
  check(MPI_Igatherv(memory->mine.data(), memory->length, MPI_BYTE, memory->all.data(),
                     memory->lengths.data(), memory->starts.data(), MPI_BYTE, 0, comm, &request),
        "MPI_Igatherv");
  timeout.begin();
  timeout.wait(request, kGathering, memory);
  std::vector<Traffic> received;
  if (!is_collector) return received;
  double bin_s = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::span<const Record> all(memory->all);
    received.push_back(
        traffic_from(all.subspan(static_cast<std::size_t>(memory->starts[rank]) / sizeof(Record),
                                 static_cast<std::size_t>(memory->lengths[rank]) / sizeof(Record)),
                     ranks));
    bin_s = std::max(bin_s, received.back().bin_s());
  }
  for (Traffic& one : received) one.widen_to(bin_s);
  return received;
}

}  // namespace espalier::runtime
