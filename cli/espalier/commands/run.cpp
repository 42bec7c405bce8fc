// espalier run: a command on many hosts, which goes on when some of them die.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/hosts/job_hosts.hpp"
#include "cli/espalier/hosts/supervisor.hpp"
#include "cli/espalier/hosts/worker.hpp"
#include "cli/espalier/options.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

namespace tcp = runtime::tcp;

// What is given before --.
struct RunOptions {
  Console console{};
  std::string hosts{};
  std::string launch{};
  std::string program{};
  std::string worker{};
  Seconds timeout{6};
  std::uint64_t retries = 3;
  bool encrypts = false;
  std::vector<std::string> command{};

  void add_to(Arguments& app);
};

void RunOptions::add_to(Arguments& app) {
  app.add("command", command, "bcast and its options, after --; -- bcast --help lists them",
          {.type = "COMMAND"});
  app.add("--hosts", hosts,
          "File with a host a line (NAME, or NAME address=ADDRESS where other hosts reach it at "
          "another one; slots= is ignored), or names separated by commas (node[01-04] is four); "
          "default: those of the job of Slurm or PBS",
          {.type = "FILE"});
  app.add("--launch", launch,
          "What starts a command on {host}; localhost and this host need nothing. Default: 'ssh -o "
          "BatchMode=yes -o ConnectTimeout=5 {host}', for the hosts of a job of Slurm 'srun "
          "--overlap -N1 -n1 -w {host}'",
          {.type = "COMMAND"});
  app.add("--program", program, "espalier on the hosts; default: the path of this one",
          {.type = "FILE"});
  app.add("--timeout", timeout, "A host counts as dead when it is silent for so long");
  app.add("--retries", retries,
          "Hosts that were left behind are started again when the others have ended, until none of "
          "them can be started, or so many attempts in succession bring no progress");
  app.add("--encrypt", encrypts,
          "Encrypt what hosts send to one another, by TLS 1.3 with a secret that travels over the "
          "login");
  app.add("--worker", worker, "", {.hidden = true});
  add_console_options(app, console);
}

// A file or a folder to all hosts.
struct HostBcast {
  const RunOptions* on = nullptr;
  std::vector<std::string> in{};
  std::string out{};
  std::optional<std::string> source{};
  std::optional<Bytes> segment{};
  bool resumes = false;
  bool needs_all = false;
  bool allows_changes = false;
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

void HostBcast::add_to(Arguments& app) {
  app.add("--in", in,
          "The file or folder, on the source; repeat it to copy several into the folder --out",
          {.type = "FILE", .required = true});
  app.add("--out", out,
          "Its name on every host; {rank} and {host} are replaced. Of a folder, a new or empty "
          "one. The source writes it too, unless it is --in",
          {.type = "FILE", .required = true});
  app.add("--source", source, "The host that has the file; default: the first one",
          {.type = "HOST"});
  app.add("--segment", segment,
          "Bytes that hosts ask for at a time; default: 8 to 60 KiB, larger "
          "for messages of over 960 MiB");
  app.add("--resume", resumes,
          "Go on where an earlier run of the same command ended: parts that hosts have kept are "
          "checked and not sent again");
  app.add("--all", needs_all, "Status 6 unless every host has the file at the end");
  app.add("--allow-changes", allows_changes,
          "Send a file that changes meanwhile; without this option such a run ends with status 5 "
          "and writes no output");
  app.add("--json", json, "Print JSON");
}

// Attempts until all hosts that can be reached have the file.
class HostCopy {
 public:
  HostCopy(const RunOptions& on, const HostBcast& what) : on_(on), what_(what) {
    JobHosts job = hosts_of_job(on.hosts, on.launch);
    hosts_ = std::move(job.hosts);
    setting_.launch = std::move(job.launch);
    results_.resize(hosts_.size());
    source_ = find_source();
    name_outputs();
    setting_.program =
        on.program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : on.program;
    setting_.silence = on.timeout;
    setting_.encrypts = on.encrypts;
    if (what.segment) setting_.segment_bytes = what.segment->value;
    setting_.allows_changes = what.allows_changes;
    setting_.note = [&on](const std::string& text) { on.console.note(text); };
  }

  void run() {
    std::vector<std::size_t> all(hosts_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    attempt(all, source_, what_.resumes);
    std::uint64_t in_vain = 0;
    while (in_vain < on_.retries) {
      const std::vector<std::size_t> who = unserved();
      if (who.empty()) break;
      on_.console.note(
          fmt::format("starting once more: {}",
                      who.size() == 1 ? label(who[0]) : fmt::format("{} hosts", who.size())));
      const std::uint64_t before = segments_there();
      if (!again(who)) break;
      in_vain = segments_there() > before ? 0 : in_vain + 1;
    }
    if (!facts_) throw InputError(label(source_), {}, results_[source_].reason);
  }
  [[nodiscard]] std::string report() const;
  [[nodiscard]] ExitStatus status() const;

 private:
  [[nodiscard]] std::size_t find_source() const;
  void name_outputs();
  // Of a rank: the host's name, and the rank where the name is not enough.
  [[nodiscard]] std::string label(std::size_t rank) const {
    const std::string& name = hosts_[rank].name;
    const bool is_one = std::ranges::count(hosts_, name, &tcp::HostEntry::name) == 1;
    return is_one ? printable(name) : fmt::format("{} (rank {})", printable(name), rank);
  }
  void attempt(const std::vector<std::size_t>& who, std::size_t source, bool resumes);
  // who: unserved. Whether a host that was left behind could be started.
  bool again(std::vector<std::size_t> who);
  [[nodiscard]] std::size_t lacking() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(results_, [](const RoundResult& one) { return !one.is_whole; }));
  }

  // Those that lack the file and have not refused: a host without the folder, or with a full disk,
  // would refuse again.
  [[nodiscard]] std::vector<std::size_t> unserved() const {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < results_.size(); ++rank) {
      if (!results_[rank].is_whole && !results_[rank].has_refused) ranks.push_back(rank);
    }
    return ranks;
  }

  // Of all hosts together: grows until all are whole, or nothing more can be done.
  [[nodiscard]] std::uint64_t segments_there() const {
    std::uint64_t sum = 0;
    for (const RoundResult& one : results_) sum += one.segments + (one.is_whole ? 1 : 0);
    return sum;
  }

  const RunOptions& on_;
  const HostBcast& what_;
  std::vector<tcp::HostEntry> hosts_{};
  std::vector<std::string> outs_{};
  std::size_t source_ = 0;
  HostSetting setting_{};
  std::optional<MessageFacts> facts_{};
  std::vector<RoundResult> results_{};
  double took_s_ = 0;
};

std::size_t HostCopy::find_source() const {
  if (!what_.source) return 0;
  const auto found = std::ranges::find(hosts_, *what_.source, &tcp::HostEntry::name);
  if (found != hosts_.end()) return static_cast<std::size_t>(found - hosts_.begin());
  throw InputError(fmt::format("--source: {} is not among the hosts", in_quotes(*what_.source)));
}

void HostCopy::name_outputs() {
  std::set<std::string> names;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    const std::string& host = hosts_[rank].name;
    outs_.push_back(replaced(replaced(what_.out, "{rank}", std::to_string(rank)), "{host}", host));
    const std::string where = tcp::is_this_host(host) ? "localhost" : host;
    if (!names.insert(where + ":" + outs_.back()).second) {
      throw InputError(fmt::format("{} would write {} twice; put {{rank}} into --out", host,
                                   in_quotes(outs_.back())));
    }
  }
}

void HostCopy::attempt(const std::vector<std::size_t>& who, std::size_t source, bool resumes) {
  std::vector<RoundHost> members;
  std::size_t at = 0;
  for (const std::size_t rank : who) {
    if (rank == source) at = members.size();
    members.push_back({hosts_[rank], label(rank), results_[rank].is_whole ? "" : outs_[rank]});
  }
  // Whoever has the whole file can be its source.
  const bool is_first = source == source_;
  Round round(setting_, std::move(members), at, is_first ? what_.in : std::vector{outs_[source]},
              facts_, resumes);
  if (!is_first) round.replace_source();
  const std::vector<RoundResult> results = round.run();
  facts_ = round.facts();
  took_s_ += round.took().value;
  for (std::size_t i = 0; i < who.size(); ++i) {
    // A source that had its output already keeps it, whatever happens now.
    RoundResult& known = results_[who[i]];
    if (known.is_whole) continue;
    const std::uint64_t before = known.segments;
    known = results[i];
    known.segments = std::max(known.segments, before);
  }
}

bool HostCopy::again(std::vector<std::size_t> who) {
  std::size_t source = source_;
  if (!results_[source].reason.empty()) {
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      if (results_[rank].is_whole) source = rank;
    }
  }
  if (results_[source].has_refused) return false;
  if (std::ranges::find(who, source) == who.end()) who.push_back(source);
  std::vector<std::size_t> dead;
  for (const std::size_t rank : who) {
    if (!results_[rank].reason.empty()) dead.push_back(rank);
  }
  attempt(who, source, true);
  return std::ranges::any_of(dead, [&](std::size_t rank) { return results_[rank].was_ready; });
}

ExitStatus HostCopy::status() const {
  for (const RoundResult& one : results_) {
    // A host that lives has refused, or lacks what no living host has.
    const bool lives = one.reason.empty() || one.has_refused;
    if (!one.is_whole && (what_.needs_all || lives)) return ExitStatus::kIncomplete;
  }
  const bool has_any = lacking() < results_.size();
  return has_any ? ExitStatus::kDone : ExitStatus::kIncomplete;
}

std::string HostCopy::report() const {
  const std::size_t whole = results_.size() - lacking();
  const std::uint64_t segments = runtime::SegmentGrid{facts_->bytes, facts_->segment}.count();
  Report report;
  report.write("operation", "bcast");
  report.write("source", hosts_[source_].name);
  report.write("hosts", results_.size());
  report.write("hosts_with_all", whole);
  report.write("message_bytes", facts_->bytes);
  report.write("segment_bytes", facts_->segment);
  report.write("seconds", took_s_);
  const double achieved = whole > 0 ? static_cast<double>(facts_->bytes) / took_s_ : 0;
  report.write("achieved_Bps", achieved);
  report.say(fmt::format("{} from {} to {} of {} hosts, segments of {}: {}\n",
                         format_size(Bytes{facts_->bytes}), label(source_), whole, results_.size(),
                         format_size(Bytes{facts_->segment}), format_duration({took_s_})),
             true);
  if (whole > 0) {
    report.say(fmt::format("achieved {}\n", format_rate(BytesPerSecond{achieved})), true);
  }
  Json lacks = Json::array();
  for (std::size_t rank = 0; rank < results_.size(); ++rank) {
    const RoundResult& one = results_[rank];
    if (one.is_whole) continue;
    const std::string reason = one.reason.empty() ? "no living host has the rest" : one.reason;
    lacks.push_back({{"host", hosts_[rank].name},
                     {"rank", rank},
                     {"segments", one.segments},
                     {"of_segments", segments},
                     {"reason", reason}});
    report.say(fmt::format("{} lacks the file ({} of {} segments): {}\n", label(rank), one.segments,
                           segments, printable(reason)),
               true);
  }
  report.write("lacking", std::move(lacks));
  if (whole < results_.size()) report.say("run again with --resume to go on from here\n", true);
  return report.render(what_.json);
}

ExitStatus HostBcast::run() const {
  if (segment && segment->value == 0) throw InputError("--segment: must be at least 1 byte");
  HostCopy copy(*on, *this);
  copy.run();
  write_text("-", copy.report());
  return copy.status();
}

struct RunCommand {
  RunOptions options{};

  void add_to(Arguments& app) {
    options.add_to(app);
    app.add_footer(
        "espalier run --hosts FILE -- bcast --in model.bin --out /scratch/model.bin\n"
        "copies a file or a folder from the first host to all. Hosts that die meanwhile are left "
        "behind.");
  }
  [[nodiscard]] ExitStatus run() const {
    std::signal(SIGPIPE, SIG_IGN);
    if (!options.worker.empty()) {
      if (options.worker == ESPALIER_VERSION) return run_worker();
      throw InputError(fmt::format("this is version {}, and not {}, which was asked for",
                                   ESPALIER_VERSION, options.worker));
    }
    CommandLine line("What runs on the hosts.", "espalier run --", ESPALIER_VERSION);
    line.root().add_command<HostBcast>("bcast", "Copy a file or folder to all hosts", &options);
    std::vector<const char*> words{"espalier run --"};
    for (const std::string& word : options.command) words.push_back(word.c_str());
    const std::string help = line.parse(static_cast<int>(words.size()), words.data());
    if (help.empty()) return line.run();
    write_text("-", help);
    return ExitStatus::kDone;
  }
};

}  // namespace

void add_run(Arguments root) {
  root.add_command<RunCommand>(
      "run", "Copy a file or folder to many hosts, of which some may die meanwhile; needs no MPI");
}

}  // namespace espalier::cli
