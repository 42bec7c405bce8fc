#include "runtime/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <vector>

#include "runtime/mpi_error.hpp"
#include "runtime/rank_mapping.hpp"

namespace espalier::runtime {

void together(MPI_Comm comm, const std::function<void()>& act, bool with_rank) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  std::string line;
  int status = 0;
  try {
    act();
  } catch (const MpiError&) {
    throw;  // then MPI cannot be trusted to tell the others
  } catch (const Error& error) {
    line = with_rank ? fmt::format("rank {} on {}: {}", rank, host_name(), error.what())
                     : std::string(error.what());
    status = static_cast<int>(error.status());
  }
  const int mine = status != 0 ? rank : INT_MAX;
  int first = INT_MAX;
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == INT_MAX) return;

  std::array<int, 2> header = {status, static_cast<int>(line.size())};
  check(MPI_Bcast(header.data(), 2, MPI_INT, first, comm), "MPI_Bcast");
  line.resize(static_cast<std::size_t>(header[1]));
  check(MPI_Bcast(line.data(), header[1], MPI_CHAR, first, comm), "MPI_Bcast");
  const auto first_status = static_cast<ExitStatus>(header[0]);
  if (first_status == ExitStatus::kBadInput) throw InputError(line);
  if (first_status == ExitStatus::kCheckFailed) throw CheckFailed(line);
  throw Error(first_status, line);
}

void share_text(MPI_Comm comm, int from, std::string& text) {
  // PMPI: not for the preloaded library, which takes over MPI_Bcast.
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // MPI counts in int
  std::uint64_t length = text.size();
  check(PMPI_Bcast(&length, 1, MPI_UINT64_T, from, comm), "MPI_Bcast");
  text.resize(length);
  for (std::size_t start = 0; start < text.size(); start += kAtOnce) {
    const std::size_t bytes = std::min(kAtOnce, text.size() - start);
    check(PMPI_Bcast(text.data() + start, static_cast<int>(bytes), MPI_CHAR, from, comm),
          "MPI_Bcast");
  }
}

bool all_equal(MPI_Comm comm, std::span<const std::uint64_t> values) {
  // The maximum of a value and of its complement are its largest and smallest.
  std::vector<std::uint64_t> mine(values.begin(), values.end());
  for (const std::uint64_t value : values) mine.push_back(~value);
  std::vector<std::uint64_t> all(mine.size());
  check(MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_MAX,
                      comm),
        "MPI_Allreduce");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (all[i] != ~all[i + values.size()]) return false;
  }
  return true;
}

}  // namespace espalier::runtime
