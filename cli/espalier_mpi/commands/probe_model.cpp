// espalier-mpi probe --model: measures the parameters of a cost model.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "cli/espalier_mpi/commands/probe.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/reports/probe_report.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cost_models/fit/measured_messages.hpp"
#include "cost_models/parameters_json.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/measure/mpi_network.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {
namespace {

namespace probe = runtime::probe;

constexpr std::size_t kMostPairs = 8;
constexpr Bytes kLongerInTurn{std::uint64_t{8} << 10};

// The requested pairs. The same on all ranks, as every rank knows all hosts.
probe::PairSample pairs_of(const std::vector<std::string>& hosts, const ModelArguments& wanted,
                           std::string& which) {
  if (wanted.pair) {
    for (const std::size_t rank : {wanted.pair->from, wanted.pair->to}) {
      if (rank >= hosts.size()) {
        throw InputError(
            fmt::format("--pair: there is no rank {}; there are {} ranks", rank, hosts.size()));
      }
    }
    which = fmt::format("from rank {} to rank {}", wanted.pair->from, wanted.pair->to);
    return {{*wanted.pair}, 1};
  }
  const std::set<std::string> different(hosts.begin(), hosts.end());
  const probe::PairClass pair_class = wanted.pair_class.value_or(
      different.size() > 1 ? probe::PairClass::kBetweenHosts : probe::PairClass::kWithinHost);
  const bool is_within = pair_class == probe::PairClass::kWithinHost;
  probe::PairSample sample = probe::sample_pairs(hosts, pair_class, kMostPairs);
  if (sample.pairs.empty()) {
    throw InputError(fmt::format(
        "--class: {}", is_within ? "no two ranks are on one host" : "all ranks are on one host"));
  }
  which = is_within ? "within a host" : "between hosts";
  return sample;
}

// Of one rank, because the gap to several destinations is a matter of its sender.
std::vector<probe::GapInTurn> gaps_in_turn(
    probe::MpiNetwork& network, const std::vector<std::string>& hosts, const probe::Flow& first,
    Bytes largest, probe::Repeats& repeats,
    const std::function<void(const probe::Progress&)>& on_progress) {
  const std::vector<std::size_t> to =
      probe::destinations_of(hosts, first.from, hosts[first.from] == hosts[first.to]);
  if (to.size() < 2) return {};
  const std::vector<std::uint64_t> sizes = {1, std::min(kLongerInTurn, largest).value};
  return probe::time_gaps_in_turn(network, first.from, to, sizes, repeats, on_progress);
}

cost_models::Parameters parameters_of(const probe::PairTimes& times, std::string_view model) {
  std::vector<cost_models::MeasuredMessage> sizes;
  for (const auto& [bytes, seen] : times.sizes) {
    sizes.push_back({{bytes}, {seen.round_trip_s}, {seen.send_s}, {seen.receive_s}});
  }
  const cost_models::MeasuredMessages measured{sizes, {times.gap_s}};
  if (model == "hockney") return cost_models::hockney_from(measured);
  if (model == "loggp") return cost_models::loggp_from(measured);
  return cost_models::plogp_from(measured);
}

// What the parameters follow from.
void measure_pairs(probe::MpiNetwork& network, double effort, Bytes largest,
                   const std::function<void(const probe::Progress&)>& show, ModelReport& report) {
  const probe::MessageOptions options{effort, largest.value, show};
  report.times = probe::typical(probe::time_pairs(network, report.pairs, options, report.repeats));
  report.combining =
      probe::time_combining(network, probe::ranks_of(report.pairs), report.repeats, show);
  report.network = {parameters_of(report.times, report.model),
                    cost_models::SecondsPerByte{report.combining[0].s_per_byte}};
}

std::string name_of(const ModelReport& report) {
  std::string name = fmt::format("probe of {}, {}", counted(report.ranks, "rank"), report.which);
  if (report.pairs.size() > 1) name += fmt::format(", median of {} pairs", report.pairs.size());
  return name;
}

}  // namespace

void run_model_probe(const ProbeCommand& command, const std::vector<std::string>& hosts) {
  const Stopwatch watch;
  const bool leads = runtime::rank_in(command.job.comm) == 0;
  ModelReport report;
  report.model = command.model.name;
  report.ranks = hosts.size();
  report.hosts = std::set(hosts.begin(), hosts.end()).size();
  const probe::PairSample sample = pairs_of(hosts, command.model, report.which);
  report.pairs = sample.pairs;
  report.repeats = probe::Repeats(command.model.statistics());
  report.of_pairs = sample.of;
  runtime::collective_try(command.job.comm, [&] {
    if (leads) require_writable(command.out);
  });
  measure_and_write(
      command.job,
      [&](probe::MpiNetwork& network) {
        ProbeProgress progress(!command.quiet);
        const auto show = [&](const probe::Progress& now) { progress.show(now); };
        measure_pairs(network, command.effort_factor, command.model.largest(), show, report);
        if (!command.model.pair) {
          report.gaps = gaps_in_turn(network, hosts, sample.pairs[0], command.model.largest(),
                                     report.repeats, show);
        }
      },
      [&] {
        report.name = command.name.empty() ? name_of(report) : command.name;
        write_text(command.out, cost_models::parameters_json(report.network, report.name));
      });
  if (!leads) return;
  report.seconds = watch.elapsed().value;
  print_report(report_of(report), command.json, command.out == "-");
}

cost_models::NetworkParameters measured_loggp(const Job& job) {
  const std::vector<std::string> hosts = runtime::host_names(job.comm);
  if (hosts.size() < 2) throw InputError("one rank has no network to measure; start two or more");
  const ModelArguments model;
  ModelReport report;
  report.model = "loggp";
  report.pairs = pairs_of(hosts, model, report.which).pairs;
  const auto measure = [&](probe::MpiNetwork& network) {
    ProbeProgress progress(/*enabled=*/true);
    measure_pairs(
        network, probe::kNormal, model.largest(),
        [&](const probe::Progress& now) { progress.show(now); }, report);
  };
  measure_and_write(job, measure, [] {});
  return report.network;
}

}  // namespace espalier::cli
