#include "simulate/export/simgrid_traces.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace espalier::simulate {

std::vector<ExportedFile> simgrid_traces(const planner::Plan& plan, const Transfers& transfers) {
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < transfers.ranks; ++rank) {
    ranks.push_back(fmt::format("{} init\n", rank));
  }
  for (const Transfer& transfer : transfers.all) {
    fmt::format_to(std::back_inserter(ranks[transfer.to]), "{} irecv {} {} {}\n", transfer.to,
                   transfer.from, transfers.tag_of(transfer), transfer.bytes);
  }
  std::vector<bool> is_awaited(transfers.all.size(), false);
  for (const Transfer& transfer : transfers.all) {
    const auto out = std::back_inserter(ranks[transfer.from]);
    for (const std::size_t earlier : transfer.after) {
      if (is_awaited[earlier]) continue;
      is_awaited[earlier] = true;
      const Transfer& needed = transfers.all[earlier];
      fmt::format_to(out, "{0} wait {1} {0} {2}\n", needed.to, needed.from,
                     transfers.tag_of(needed));
    }
    if (transfer.behind) {
      const Transfer& earlier = transfers.all[*transfer.behind];
      fmt::format_to(out, "{0} wait {0} {1} {2}\n", earlier.from, earlier.to,
                     transfers.tag_of(earlier));
    }
    fmt::format_to(out, "{} isend {} {} {}\n", transfer.from, transfer.to,
                   transfers.tag_of(transfer), transfer.bytes);
  }
  std::vector<ExportedFile> files;
  std::string index;
  std::string hosts;
  for (std::size_t rank = 0; rank < transfers.ranks; ++rank) {
    fmt::format_to(std::back_inserter(ranks[rank]), "{0} waitall\n{0} finalize\n", rank);
    files.push_back({fmt::format("rank{}.tit", rank), std::move(ranks[rank])});
    index += files.back().name + '\n';
    // smpirun takes what follows a colon for the number of ranks.
    const bool has_colon = plan.nodes[rank].find(':') != std::string::npos;
    hosts += plan.nodes[rank] + (has_colon ? ":1\n" : "\n");
  }
  files.push_back({std::string(kTraceIndex), std::move(index)});
  files.push_back({std::string(kTraceHosts), std::move(hosts)});
  return files;
}

}  // namespace espalier::simulate
