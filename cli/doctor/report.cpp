#include "cli/doctor/report.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli::doctor {

namespace {

// Of each host, the addresses that others can try.
Rows interfaces_of(const Facts& facts) {
  Rows rows({written("host"), written("interface"), written("address"), written("subnet")});
  std::set<std::string> seen;
  for (const RankFacts& rank : facts.ranks) {
    if (!seen.insert(rank.host).second) continue;
    for (const InterfaceFacts& one : rank.interfaces) {
      rows.add({rank.host, one.name, one.address, subnet_of(one)});
    }
  }
  return rows;
}

}  // namespace

Report report_of(const Facts& facts, const std::vector<Found>& found) {
  std::set<std::string> hosts;
  for (const RankFacts& rank : facts.ranks) hosts.insert(rank.host);
  Report report;
  report.write("checks", checks().size());
  report.write("ranks", facts.has_ranks ? Json(facts.ranks.size()) : Json());
  report.write("hosts", hosts.size());
  report.write("interfaces", interfaces_of(facts).json());
  report.say(fmt::format("{} on {}: {}\n", counted(checks().size(), "check"),
                         facts.has_ranks
                             ? fmt::format("{} of {}", counted(facts.ranks.size(), "rank"),
                                           counted(hosts.size(), "host"))
                             : facts.ranks.front().host,
                         found.empty() ? "nothing found" : counted(found.size(), "finding")));
  if (!facts.has_messages) {
    report.say(
        "Nothing was sent by MPI, which might have waited or failed: clocks are not compared.\n");
  }
  Rows rows({written("check"), written("what"), written("why"), written("cure")});
  for (const Found& one : found) {
    const Finding& finding = one.finding;
    rows.add({one.check, finding.what, finding.why, finding.cure});
    report.say(fmt::format("{}: {}\n  why   {}\n  cure  {}\n", one.check, printable(finding.what),
                           finding.why, printable(finding.cure)));
  }
  report.write("findings", rows.json());
  return report;
}

Report list_of_checks() {
  Rows rows({left("check", "check"), left("looks for", "looks_for")});
  for (const Check& check : checks()) rows.add({check.name, check.looks_for});
  Report report;
  report.add("checks", rows);
  return report;
}

ExitStatus status_of(const std::vector<Found>& found) {
  return found.empty() ? ExitStatus::kDone : ExitStatus::kCheckFailed;
}

}  // namespace espalier::cli::doctor
