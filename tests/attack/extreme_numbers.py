"""Rates, times, sizes and options at the ends of what numbers can be: a result without nan and inf, or a refusal."""

import re

from lab import Finding
from networks import OPERATIONS, hosts_of, platform
from reference import MODELS

RATES = [1e-300, 5e-324, 1e-30, 1e-9, 1e-3, 1, 1e3, 1e9, 1e12, 1e15, 1e18, 1e30, 1e100, 1e300, 1.7976931348623157e308]
TIMES = [0, 5e-324, 1e-300, 1e-18, 1e-9, 1e-3, 1, 1e3, 1e9, 1e18, 1e100, 1e300]
SIZES = ["1", "2", "3B", "1KiB", "1MB", "4294967295", "4294967296", "1TiB", "1024TiB", "9223372036854775807", "9223372036854775808",
         "18446744073709551615", "18446744073709551616", "1e18", "1e30", "0", "-1", "0.5", "nan", "inf", "1e-5 B", ""]
DURATIONS = ["0 s", "1e-300 s", "1 ns", "1 s", "1e9 s", "1e300 s", "1e999 s", "-1 s", "nan s"]
COUNTS = ["0", "1", "2", "3", "1000", "4294967295", "4294967296", "18446744073709551615", "18446744073709551616", "-1", "1e3", "nan", ""]
# A number that is none, in a text or a table; not in a name or in the message that refuses it.
NO_NUMBER = re.compile(r"(?<![\w'\"-])-?(nan|inf)(?![\w'\"])", re.I)


def attack(lab, random):
    random.choice([of_platform, of_platform, of_generator, of_formulas])(lab, random)


def check(ended):
    match = NO_NUMBER.search(ended.out)
    if match:
        raise Finding(f"'{ended.command()}' prints {match[0]}: {ended.out[max(0, match.start() - 100):match.end() + 20]!r}")
    if re.search(r"\d{40}", ended.out + ended.err):
        raise Finding(f"'{ended.command()}' prints a number of over 40 digits")
    return ended


def of_platform(lab, random):
    case = platform(random)
    # Neighbours in the list, so that many cases are within the ratio that a platform may have.
    first = random.randrange(len(RATES))
    rates = RATES[first:first + random.choice([1, 2, 3, len(RATES)])]
    for link in case["links"]:
        link["bandwidth_Bps"] = random.choice(rates)
        for key in ("latency_s", "overhead_s"):
            if random.random() < 0.4:
                link[key] = random.choice(TIMES)
    for link in case.get("shared", []):
        link["bandwidth_Bps"] = random.choice(rates)
    for node in case["nodes"]:
        for key in ("send_Bps", "receive_Bps"):
            if key in node:
                node[key] = random.choice(rates)
    lab.write_json("p.json", case)
    problem = ["p.json", "--source", random.choice(hosts_of(case)), "--model", random.choice(MODELS), "--operation", random.choice(OPERATIONS),
               "--segment", random.choice(SIZES[:10]), "--time-limit", "2s"]
    made = check(lab.checked("plan", *problem, "-o", "plan.json", "--json", outputs=["plan.json"]))
    words = random.choice([["bound", *problem, "--json"], ["bound", *problem], ["compare", *problem, "--algorithm", "optimal,grow,ecef,k-chain"],
                           ["explain", *problem, "--top", "2"], ["show", "p.json"], ["show", "p.json", "--json"], ["convert", "p.json", "-o", "q.xml"],
                           ["plan", *problem, "--message", random.choice(SIZES), "-o", "other.json"],
                           ["plan", *problem, "--max-trees", random.choice(COUNTS), "--max-depth", random.choice(COUNTS), "-o", "other.json"],
                           ["plan", *problem, "--max-latency", random.choice(DURATIONS), "-o", "other.json"]])
    check(lab.checked(*words, outputs=["other.json", "q.xml"]))
    if made.status in (0, 4):
        check(lab.checked("verify", "plan.json", "--platform", "p.json", "--time-limit", "2s", "--json"))
        words = ["--message", random.choice(SIZES), "--time-limit", "1s"]
        for option, values in (("--segment", SIZES), ("--window", COUNTS), ("--receives", COUNTS), ("--overhead", DURATIONS)):
            if random.random() < 0.3:
                words += [option, random.choice(values)]
        words += ["--sharing", random.choice(["turns", "edges", "sends"])] + random.choice([[], ["--json"], ["--nodes"], ["--until-received"]])
        check(lab.checked("simulate", "plan.json", "--platform", "p.json", *words))


def of_generator(lab, random):
    words = random.choice([
        ["random", "--nodes", random.choice(COUNTS[:5]), "--density", random.choice(["0", "1", "2", "-1", "nan", "1e-300", "0.5"]),
         "--heterogeneity", random.choice(["0", "1", "10", "1e300", "nan", "-1"])],
        ["star", "--hosts", random.choice(COUNTS[:4]), "--bandwidth", random.choice(["1e-300 B/s", "1e300 B/s", "1e999 B/s", "0 B/s", "-1 B/s", "1 B/s"]),
         "--latency", random.choice(DURATIONS), "--slow-hosts", random.choice(["1/1e300", "0.5/0", "0.5/nan", "1e-300/2", "0.5/1"])],
        ["torus", "--dims", random.choice(["0x1", "1x1", "2x2x2x2", "18446744073709551616x2", "99999x99999", "x", "3"])],
        ["fat-tree", "--ports", random.choice(["0", "1", "2", "3", "1000000", "4294967296"]), "--oversubscription", random.choice(["0", "1e300", "nan", "2"])],
        ["dragonfly", "--hosts", random.choice(COUNTS), "--routers", random.choice(COUNTS), "--global-ports", random.choice(COUNTS)],
        ["multi-region", "--regions", random.choice(COUNTS[:4]), "--hosts", random.choice(COUNTS[:4]),
         "--wan", random.choice(["1 B/s..1e300 B/s", "1e300 B/s..1 B/s", "0 B/s", "1e-300 B/s..1 B/s", "1Gbit/s"])],
        ["two-clusters", "--hosts", random.choice(["0", "1", "2,99999999999", "1,1"]), "--thin", random.choice(["1e-300 B/s", "1e300 B/s"])]])
    made = check(lab.checked("generate", *words, "--seed", random.choice(COUNTS), "-o", "g.json", outputs=["g.json"]))
    if made.status == 0:
        check(lab.checked("bound", "g.json", "--source", hosts_of(lab.read_json("g.json"))[0], "--time-limit", "2s", "--json"))


def of_formulas(lab, random):
    numbers = [0, 5e-324, 1e-300, 1e-9, 1, 1e9, 1e300]
    lab.write_json("p.json", {"model": "loggp", **{key: random.choice(numbers) for key in ("latency_s", "overhead_s", "gap_s", "gap_per_byte_s")}})
    known = random.choice([["--preset", "frodo"], ["--parameters", "p.json"]])
    operation = random.choice(["broadcast", "reduce", "barrier", "alltoall"])
    check(lab.checked("predict", *known, "--operation", operation, "--ranks", random.choice(COUNTS), "--message", random.choice(SIZES),
                      "--segment", random.choice([*SIZES, "best"]), *random.choice([[], ["--json"]])))
    check(lab.checked("decide", *known, "--operation", operation, "--ranks", random.choice([*COUNTS, "1..3", "4,8", "3..18446744073709551615"]),
                      "--sizes", random.choice([*SIZES, "1..1e18:10", "1KiB,1MiB", "1..1TiB:1.0001"]), *random.choice([["--csv"], ["--json"]])))
