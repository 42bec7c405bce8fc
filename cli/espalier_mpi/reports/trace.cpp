#include "cli/espalier_mpi/reports/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "cli/common/chrome_trace.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/run/planner_program.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

using runtime::check;
using runtime::rank_in;
using runtime::size_of;
using runtime::Transfer;

// Converts to rank 0's time by linear interpolation: the drift between two samples is constant.
double to_rank_0(double at, const ClockSample& first, const ClockSample& second) {
  const double span = second.at_s - first.at_s;
  const double share = span > 0 ? (at - first.at_s) / span : 0;
  return at + first.offset_s + share * (second.offset_s - first.offset_s);
}

// Gathers all ranks' transfers on rank 0, in rank order. They are at most ChromeTrace::kMostBars,
// so their bytes can be counted in int.
std::vector<Transfer> gather(MPI_Comm comm, std::span<const Transfer> mine,
                             std::vector<int>& counts) {
  const bool is_root = rank_in(comm) == 0;
  const int bytes = static_cast<int>(mine.size_bytes());
  std::vector<int> starts;
  counts.resize(is_root ? static_cast<std::size_t>(size_of(comm)) : 0);
  check(MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
  int total = 0;
  for (const int count : counts) {
    starts.push_back(total);
    total += count;
  }
  std::vector<Transfer> all(static_cast<std::size_t>(total) / sizeof(Transfer));
  check(MPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(),
                    MPI_BYTE, 0, comm),
        "MPI_Gatherv");
  for (int& count : counts) count /= static_cast<int>(sizeof(Transfer));
  return all;
}

// Adds a rank's bars. On each line, transfers follow one after the other: the bar of a receive that
// was posted early begins at the end of the previous one.
void add_bars(ChromeTrace& trace, std::span<Transfer> transfers, std::uint32_t rank,
              double origin) {
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const Transfer& a, const Transfer& b) { return a.ended_s < b.ended_s; });
  std::array<double, 2> free_at = {origin, origin};
  for (const Transfer& one : transfers) {
    double& free = free_at[one.is_send ? 1 : 0];
    const double start = std::max(one.begun_s, free);
    free = one.ended_s;
    trace.add(2 * rank + (one.is_send ? 1 : 0),
              fmt::format("tree {} segment {}", one.tree, one.segment), {start - origin},
              {one.ended_s - start},
              fmt::format(R"({{"{}": {}, "tree": {}, "segment": {}, "slice": {}, "bytes": {}, )"
                          R"("message": {}, "posted_us": {:.12g}}})",
                          one.is_send ? "to_rank" : "from_rank", one.peer, one.tree, one.segment,
                          one.segment, one.bytes, one.message, (one.begun_s - origin) * 1e6));
  }
}

}  // namespace

Tracing::Tracing(MPI_Comm comm, const RunArguments& arguments, Watchdog& watchdog)
    : comm_(comm), arguments_(arguments), watchdog_(&watchdog) {
  if (arguments_.trace.empty() && arguments_.page.empty()) return;
  watchdog.expect("waiting for all ranks to compare their clocks");
  log_.emplace(ChromeTrace::kMostBars / static_cast<std::size_t>(size_of(comm)));
  runtime::collective_try(comm_, [&] {
    if (rank_in(comm_) != 0) return;
    require_writable(arguments_.trace);
    require_writable(arguments_.page);
    if (!arguments_.page.empty()) require_planner("--report");
  });
  start_ = compare_clocks(comm_, MPI_Wtime);
}

void Tracing::make_page(const std::string& trace, const std::string& network) const {
  const bool is_given = !arguments_.platform.empty();
  page_by_program({.trace = trace,
                   .plan = is_given ? arguments_.plan : "",
                   .platform_file = arguments_.platform,
                   .platform = is_given ? "" : network},
                  arguments_.page);
}

void Tracing::write(const std::string& node, const std::string& network) {
  if (!log_) return;
  watchdog_->expect("waiting for the trace records of all ranks",
                    arguments_.page.empty() ? Seconds{0} : kMostPageTime);
  const ClockSample end = compare_clocks(comm_, MPI_Wtime);
  std::vector<Transfer> mine;
  for (Transfer one : log_->transfers()) {
    if (one.ended_s < one.begun_s) continue;  // withdrawn
    one.begun_s = to_rank_0(one.begun_s, start_, end);
    one.ended_s = to_rank_0(one.ended_s, start_, end);
    mine.push_back(one);
  }
  const double my_error = std::max(start_.error_s, end.error_s);
  double error = 0;
  check(MPI_Reduce(&my_error, &error, 1, MPI_DOUBLE, MPI_MAX, 0, comm_), "MPI_Reduce");
  const std::uint64_t my_left_out = log_->left_out();
  std::uint64_t left_out = 0;
  check(MPI_Reduce(&my_left_out, &left_out, 1, MPI_UINT64_T, MPI_SUM, 0, comm_), "MPI_Reduce");
  const std::vector<std::string> names = runtime::gather_texts(comm_, node);
  std::vector<int> counts;
  std::vector<Transfer> all = gather(comm_, mine, counts);

  runtime::collective_try(comm_, [&] {
    if (rank_in(comm_) != 0) return;
    std::vector<std::string> lines;
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
      lines.push_back(fmt::format("rank {} ({}) receives", rank, printable(names[rank])));
      lines.push_back(fmt::format("rank {} ({}) sends", rank, printable(names[rank])));
    }
    ChromeTrace trace(std::move(lines), "ranks");
    trace.note("clock_error_s", error);
    trace.note("left_out", static_cast<double>(left_out));
    double origin = all.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const Transfer& one : all) origin = std::min(origin, one.begun_s);
    std::span<Transfer> rest(all);
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      const auto count = static_cast<std::size_t>(counts[rank]);
      add_bars(trace, rest.first(count), static_cast<std::uint32_t>(rank), origin);
      rest = rest.subspan(count);
    }
    const std::string text = trace.text();
    if (!arguments_.trace.empty()) write_text(arguments_.trace, text);
    if (!arguments_.quiet || left_out > 0) {
      fmt::print(stderr, "espalier-mpi: {}: {} transfers, clock error at most {}{}\n",
                 arguments_.trace.empty() ? arguments_.page : arguments_.trace, all.size(),
                 format_duration({error}),
                 left_out == 0 ? "" : fmt::format("; {} more are omitted", left_out));
      std::fflush(stderr);
    }
    if (!arguments_.page.empty()) make_page(text, network);
  });
}

}  // namespace espalier::cli
