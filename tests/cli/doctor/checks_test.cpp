// Seeded faults: healthy facts with one thing gone wrong, which one check must find, and no other.
#include "cli/doctor/checks.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <ostream>
#include <set>
#include <string>

#include "cli/doctor/gather.hpp"
#include "cli/doctor/report.hpp"

namespace espalier::cli::doctor::checks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kGB = 1e9;

// Two hosts with a rank each, in the order of the plan.
Facts healthy() {
  Facts facts;
  facts.has_ranks = true;
  for (const char* const host : {"a.lyon", "b.lyon"}) {
    RankFacts rank;
    rank.host = host;
    rank.cores = {0, 1, 2, 3};
    rank.machine_cores = 4;
    rank.governor = "performance";
    rank.scratch = {"/tmp", kGB, true, ""};
    rank.cache = {"/home/u/.cache/espalier", kGB, true, ""};
    rank.interfaces = {{"eth0", host[0] == 'a' ? "10.0.0.1" : "10.0.0.2", 24}};
    rank.mpi = "Open MPI 4.1.4";
    rank.mpi_so = "libmpi.so.40";
    facts.ranks.push_back(rank);
  }
  facts.launchers = {{"/usr/bin/mpirun", "Open MPI 4.1.4"}};
  facts.plan = PlanFacts{.file = "plan.json", .nodes = {"a", "b"}, .platform = "p.json"};
  facts.out = FolderFacts{"/data", kGB, true, ""};
  return facts;
}

void preload(RankFacts& rank, const PreloadFacts& library) {
  rank.preloads = {library};
  rank.environment["ESPALIER_PLAN"] = "plan.json";
}

void second_network(Facts& facts) {
  facts.ranks[0].interfaces.push_back({"eth1", "10.1.0.1", 24});
  facts.ranks[1].interfaces.push_back({"eth1", "10.1.0.2", 24});
}

const std::vector<TrialFacts> kOnlyFirstNetwork{
    {"a.lyon", "b.lyon", "10.0.0.2", ""}, {"a.lyon", "b.lyon", "10.1.0.2", "Connection refused"}};

void with_mpich(Facts& facts) {
  for (RankFacts& rank : facts.ranks) rank.mpi = "MPICH 4.0.2";
  facts.launchers = {{"/usr/bin/mpirun", "MPICH 4.0.2"}};
}

struct Seeded {
  const char* check;
  const char* says;  // in the fact or the cure
  std::function<void(Facts&)> fault;
};

void PrintTo(const Seeded& seeded, std::ostream* out) {
  *out << seeded.check;
}

class SeededFault : public ::testing::TestWithParam<Seeded> {};

TEST_P(SeededFault, IsFoundByItsCheckAlone) {
  Facts facts = healthy();
  GetParam().fault(facts);
  const std::vector<Found> found = findings(facts);
  std::vector<std::string_view> names;
  for (const Found& one : found) names.push_back(one.check);
  ASSERT_THAT(names, ElementsAre(GetParam().check));
  const Finding& finding = found.front().finding;
  EXPECT_THAT(finding.what + "\n" + finding.cure, HasSubstr(GetParam().says));
  EXPECT_FALSE(finding.why.empty());
  EXPECT_FALSE(finding.cure.empty());
}

// clang-format off
const std::vector<Seeded> kSeeded{
    {"two-mpis", "/opt/mpich/bin/mpirun is MPICH 4.0.2", [](Facts& f) { f.launchers.push_back({"/opt/mpich/bin/mpirun", "MPICH 4.0.2"}); }},
    {"other-launcher", "library is Open MPI 4.1.4, but /opt/mpirun is MPICH 4.0.2", [](Facts& f) { f.launchers = {{"/opt/mpirun", "MPICH 4.0.2"}}; }},
    {"ranks-alone", "started 2 processes (PMI_SIZE)", [](Facts& f) { f.ranks.resize(1); f.plan.reset(); f.ranks[0].environment["PMI_SIZE"] = "2"; }},
    {"mixed-libraries", "install Open MPI 4.1.4 on b.lyon", [](Facts& f) { f.ranks[1].mpi = "Open MPI 5.0.1"; }},
    {"as-root", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", [](Facts& f) { f.has_ranks = false; f.ranks.resize(1); f.ranks[0].is_root = true; }},
    {"oversubscribed", "1 rank on a.lyon, which has 0", [](Facts& f) { for (auto& r : f.ranks) r.machine_cores = 0.5; }},
    {"shared-core", "bound to core 3", [](Facts& f) { f.plan.reset(); for (auto& r : f.ranks) { r.host = "a"; r.cores = {3}; } }},
    {"firewall", "on b.lyon: firewall-cmd --zone=trusted --add-source=10.0.0.0/24", [](Facts& f) { f.trials = {{"a.lyon", "b.lyon", "10.0.0.2", "no answer within 2.000 s"}}; }},
    {"firewall", "ip route get 10.9.0.2 on a.lyon", [](Facts& f) { f.ranks[1].interfaces[0].address = "10.9.0.2"; f.trials = {{"a.lyon", "b.lyon", "10.9.0.2", "Network is unreachable"}}; }},
    {"unreached-interface", "at 10.0.0.2, but not at 10.1.0.2, its eth1: Connection refused", [](Facts& f) { second_network(f); f.trials = kOnlyFirstNetwork; }},
    {"unreached-interface", "btl_tcp_if_include=10.0.0.0/24", [](Facts& f) { second_network(f); f.trials = kOnlyFirstNetwork; }},
    {"unreached-interface", "OMPI_MCA_btl_tcp_if_include=10.0.0.0/24", [](Facts& f) { second_network(f); f.trials = kOnlyFirstNetwork; for (auto& r : f.ranks) r.environment["OMPI_MCA_btl_tcp_if_include"] = "eth1"; }},
    {"unreached-interface", "UCX_NET_DEVICES=eth0", [](Facts& f) { second_network(f); f.trials = kOnlyFirstNetwork; with_mpich(f); }},
    {"same-address", "both have the address 169.254.95.118 (usb0)", [](Facts& f) { for (auto& r : f.ranks) r.interfaces.push_back({"usb0", "169.254.95.118", 16}); f.trials = {{"a.lyon", "b.lyon", "10.0.0.2", ""}, {"a.lyon", "b.lyon", "169.254.95.118", "Network is unreachable"}}; }},
    {"same-address", "btl_tcp_if_exclude=lo,eth0", [](Facts& f) { for (auto& r : f.ranks) r.interfaces[0].address = "10.0.2.15"; }},
    {"virtual-interface", "btl_tcp_if_exclude=lo,docker0", [](Facts& f) { f.ranks[1].interfaces.push_back({"docker0", "172.17.0.1", 16}); }},
    {"several-interfaces", "b.lyon has several interfaces: eth0, ib0", [](Facts& f) { f.ranks[1].interfaces.push_back({"ib0", "10.1.0.2", 24}); }},
    {"unknown-interface", "ib0, which a.lyon does not have", [](Facts& f) { f.ranks[0].environment["OMPI_MCA_btl_tcp_if_include"] = "eth0,ib0"; }},
    {"preload-missing", "not on b.lyon", [](Facts& f) { for (auto& r : f.ranks) preload(r, {"/x/libespalier_pmpi.so", true, "libmpi.so.40"}); f.ranks[1].preloads[0].exists = false; }},
    {"preload-other-mpi", "needs libmpich.so.12", [](Facts& f) { for (auto& r : f.ranks) preload(r, {"/x/libespalier_pmpi.so", true, "libmpich.so.12"}); }},
    {"preload-idle", "ESPALIER_REPORT is set", [](Facts& f) { f.ranks[0].environment["ESPALIER_REPORT"] = "1"; }},
    {"preload-no-plan", "ESPALIER_PLATFORM=", [](Facts& f) { for (auto& r : f.ranks) r.preloads = {{"/x/libespalier_pmpi.so", true, "libmpi.so.40"}}; }},
    {"settings-file", "ESPALIER_PLAN: gone.json", [](Facts& f) { f.ranks[0].missing_files = {"ESPALIER_PLAN: gone.json"}; }},
    {"rank-count", "mpirun -np 3", [](Facts& f) { f.plan->nodes = {"x", "y", "z"}; }},
    {"foreign-hosts", "no rank runs on c", [](Facts& f) { f.plan->nodes = {"a", "c"}; }},
    {"ranks-share-host", "ranks 1 and 2 are both on b.lyon", [](Facts& f) { f.ranks.push_back(f.ranks[1]); f.plan->nodes = {"a", "b", "b.x"}; }},
    {"host-order", "--map host", [](Facts& f) { std::swap(f.ranks[0], f.ranks[1]); }},
    {"network-changed", "espalier plan p.json", [](Facts& f) { f.plan->faults = {"/optimum_Bps: is 2 now"}; }},
    {"odd-platform", "a thousand times", [](Facts& f) { f.platform_warnings = {"a link is a thousand times slower"}; }},
    {"shm-full", "--shm-size=1g", [](Facts& f) { f.ranks[1].shm_free_bytes = 1e6; f.ranks[1].shm_bytes = 2e6; }},
    {"scratch-unwritable", "does not exist", [](Facts& f) { f.ranks[1].scratch = {"/gone", 0, false, "does not exist"}; }},
    {"scratch-full", "/tmp on b.lyon has 1 kB left", [](Facts& f) { f.ranks[1].scratch.free_bytes = 1000; }},
    {"scratch-long", "90 bytes long", [](Facts& f) { f.ranks[0].scratch.path = "/" + std::string(89, 't'); }},
    {"out-unwritable", "mkdir -p /data", [](Facts& f) { f.out->is_writable = false; }},
    {"out-full", "for a file of 2 GB", [](Facts& f) { f.message_bytes = 2 * kGB; }},
    {"cache-unwritable", "neither HOME nor XDG_CACHE_HOME", [](Facts& f) { f.ranks[0].cache = {}; }},
    {"clocks-apart", "b.lyon is 2.000 s behind that of a.lyon", [](Facts& f) { f.ranks[1].clock_ahead_s = -2; }},
    {"memlock", "may lock 64 KiB", [](Facts& f) { f.ranks[1].has_infiniband = true; f.ranks[1].memlock_bytes = 65536; }},
    {"open-files", "ulimit -n 4096", [](Facts& f) { f.ranks[0].open_files = 20; }},
    {"governor", "cores of b.lyon", [](Facts& f) { f.ranks[1].governor = "powersave"; }},
    {"container-cores", "may use 1.5 of the 4 cores", [](Facts& f) { f.ranks[0].container_cores = 1.5; }},
    {"no-single-copies", "ptrace_scope is 1", [](Facts& f) { f.plan.reset(); for (auto& r : f.ranks) { r.host = "a"; r.ptrace_scope = 1; } }}};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Table, SeededFault, ::testing::ValuesIn(kSeeded));

TEST(Doctor, FindsNothingWhereNothingIsWrong) {
  EXPECT_THAT(findings(healthy()), IsEmpty());
}

TEST(Doctor, EveryCheckHasASeededFault) {
  std::set<std::string_view> names;
  for (const Check& check : checks()) EXPECT_TRUE(names.insert(check.name).second) << check.name;
  for (const Seeded& seeded : kSeeded) names.erase(seeded.check);
  EXPECT_THAT(names, IsEmpty());
}

// What cures a finding ends it.
TEST(Doctor, TakesItsOwnCures) {
  Facts facts = healthy();
  std::swap(facts.ranks[0], facts.ranks[1]);
  facts.plan->by_host = true;
  EXPECT_THAT(findings(facts), IsEmpty());
  facts = healthy();
  facts.ranks[1].interfaces = {
      {"eth0", "10.0.0.2", 24}, {"ib0", "10.1.0.2", 24}, {"docker0", "172.17.0.1", 16}};
  facts.ranks[1].environment["OMPI_MCA_btl_tcp_if_include"] = "ib0";
  EXPECT_THAT(findings(facts), IsEmpty());
  for (RankFacts& rank : facts.ranks) {
    rank.machine_cores = 0.5;
    rank.environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
  }
  EXPECT_THAT(findings(facts), IsEmpty());
}

// What MPI does not use need not be reached.
TEST(Doctor, LeavesInterfacesAloneThatAreNotChosen) {
  Facts facts = healthy();
  second_network(facts);
  facts.trials = kOnlyFirstNetwork;
  for (const char* const good : {"eth0", "10.0.0.0/24", "eth0,lo"}) {
    for (RankFacts& rank : facts.ranks) {
      rank.environment["OMPI_MCA_btl_tcp_if_include"] = good;
    }
    EXPECT_THAT(findings(facts), IsEmpty()) << good;
    EXPECT_FALSE(has_unreached(facts)) << good;
  }
  for (RankFacts& rank : facts.ranks) {
    rank.environment = {{"OMPI_MCA_btl_tcp_if_exclude", "lo,eth1"}};
  }
  EXPECT_THAT(findings(facts), IsEmpty());
  with_mpich(facts);
  for (RankFacts& rank : facts.ranks) rank.environment = {{"UCX_NET_DEVICES", "eth0"}};
  EXPECT_THAT(findings(facts), IsEmpty());
}

TEST(Doctor, CountsPairsThatAFirewallParts) {
  Facts facts = healthy();
  facts.trials = {{"a.lyon", "b.lyon", "10.0.0.2", "No route to host"},
                  {"b.lyon", "a.lyon", "10.0.0.1", "No route to host"}};
  EXPECT_TRUE(has_unreached(facts));
  const std::vector<Found> found = findings(facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().finding.what,
            "a.lyon cannot connect to b.lyon at 10.0.0.2: No route to host; likewise 1 more pair "
            "of hosts");
}

TEST(Doctor, KnowsSubnets) {
  EXPECT_EQ(subnet_of({"eth0", "10.77.3.200", 24}), "10.77.3.0/24");
  EXPECT_EQ(subnet_of({"eth0", "10.77.3.200", 26}), "10.77.3.192/26");
  EXPECT_EQ(subnet_of({"eth0", "10.77.3.200", 32}), "10.77.3.200/32");
  EXPECT_EQ(subnet_of({"eth0", "10.77.3.200", 0}), "0.0.0.0/0");
  EXPECT_EQ(subnet_of({"eth0", "", 24}), "");
}

TEST(Doctor, RanksSendTheirFactsAsJson) {
  Facts facts = healthy();
  preload(facts.ranks[0], {"/x/libespalier_pmpi.so", true, "libmpi.so.40"});
  const std::string sent = json_text(facts.ranks[0]);
  const RankFacts received = rank_facts(sent);
  EXPECT_EQ(json_text(received), sent);
  EXPECT_EQ(received.scratch.path, "/tmp");
  EXPECT_EQ(received.variable("ESPALIER_PLAN"), "plan.json");
  EXPECT_EQ(received.interfaces.front().prefix_bits, 24);
  EXPECT_EQ(json_text(trial_facts(json_text(kOnlyFirstNetwork))), json_text(kOnlyFirstNetwork));
}

TEST(Doctor, KnowsVersionsOfMpi) {
  EXPECT_EQ(mpi_of("mpirun (Open MPI) 4.1.4\n\nReport bugs to ..."), "Open MPI 4.1.4");
  EXPECT_EQ(mpi_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI 4.1.4");
  EXPECT_EQ(mpi_of("HYDRA build details:\n    Version:                 4.0.2\n"), "MPICH 4.0.2");
  EXPECT_EQ(mpi_of("MPICH Version:      4.0.2\nMPICH Release date: ..."), "MPICH 4.0.2");
  EXPECT_EQ(mpi_of("bash: mpirun: not found"), "");
}

TEST(Doctor, FoldersAreLookedAt) {
  const FolderFacts there = gather_folder(::testing::TempDir());
  EXPECT_TRUE(there.is_writable) << there.fault;
  EXPECT_GT(there.free_bytes, 0);
  EXPECT_EQ(gather_folder(::testing::TempDir() + "no/such").fault, "does not exist");
  EXPECT_TRUE(gather_folder(::testing::TempDir() + "no/such", true).is_writable);
}

TEST(Doctor, ReportsFindingsWithTheirCures) {
  Facts facts = healthy();
  facts.ranks[0].open_files = 20;
  const std::vector<Found> found = findings(facts);
  Report report = report_of(facts, found);
  EXPECT_THAT(report.text(),
              HasSubstr(" of 2 hosts: 1 finding\n\nopen-files: a process on a.lyon may "
                        "open 20 files\n  why   "));
  EXPECT_THAT(report.text(), HasSubstr("\n  cure  ulimit -n 4096\n"));
  EXPECT_EQ(report.json().at("findings")[0].at("check"), "open-files");
  EXPECT_EQ(report.json().at("interfaces")[1].dump(),
            R"({"host":"b.lyon","interface":"eth0","address":"10.0.0.2","subnet":"10.0.0.0/24"})");
  EXPECT_EQ(status_of(found), ExitStatus::kCheckFailed);
  EXPECT_EQ(status_of({}), ExitStatus::kDone);
}

}  // namespace
}  // namespace espalier::cli::doctor::checks_test
