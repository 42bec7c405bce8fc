"""Tests that each attack finds what it looks for, on programs that do it wrong, and that its own reference is right.

    attack_test.py PROGRAMS"""

import json
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import damaged_files
import extreme_numbers
import false_plans
import full_disks
import lost_ranks
import odd_names
import optima
from lab import Ended, Finding, Lab, check_end
from reference import Network, best_throughput, best_tree, faults_of_plan, faults_of_schedule

PROGRAMS = pathlib.Path(sys.argv.pop()).resolve()


def network(nodes, links, **more):
    return Network({"name": "n", "nodes": [{"name": name, **({"relay": True} if name.isupper() else {})} for name in nodes],
                    "links": [{"from": a, "to": b, "bandwidth_Bps": rate, "both_ways": True} for a, b, rate in links], **more})


class Reference(unittest.TestCase):
    #   a --2-- b --4-- c
    CHAIN = network("abc", [("a", "b", 2), ("b", "c", 4)])

    def test_a_chain(self):
        for model, best in (("one-port", 2), ("multi-port", 2), ("bounded-multi-port", 2), ("one-port-unidirectional", 4 / 3),
                            ("multi-port-processor", 2)):
            self.assertAlmostEqual(best_throughput(self.CHAIN, model, "broadcast", "a", 1), best)
            self.assertAlmostEqual(best_tree(self.CHAIN, model, "broadcast", "a", 1), best)
        self.assertAlmostEqual(best_throughput(self.CHAIN, "one-port", "reduce", "c", 1), 2)

    def test_a_processor_sends_and_receives_in_turn(self):
        #   a --10-- b --10-- c, where b receives at 4 B/s and sends at 4 B/s: a byte takes 1/2 s there
        slow = network("abc", [("a", "b", 10), ("b", "c", 10)])
        slow.send, slow.receive = {"b": 4}, {"b": 4}
        self.assertAlmostEqual(best_throughput(slow, "multi-port-processor", "broadcast", "a", 1), 2)
        self.assertAlmostEqual(best_throughput(slow, "multi-port", "broadcast", "a", 1), 4)

    def test_equal_hosts(self):
        """docs/model.md: n equal hosts reduce to all at b·n / (2 (n - 1))."""
        for hosts in ("ab", "abc", "abcd"):
            n = len(hosts)
            equal = network(hosts, [(a, b, 6) for i, a in enumerate(hosts) for b in hosts[i + 1:]])
            self.assertAlmostEqual(best_throughput(equal, "one-port", "allreduce", "a", 1), 6 * n / (2 * (n - 1)))
            self.assertAlmostEqual(best_throughput(equal, "one-port", "broadcast", "a", 1), 6)

    def test_relays_shared_links_and_overheads(self):
        #   a --10-- S --10-- b, c --3-- S: the receiver's link is the limit
        star = network("abcS", [("a", "S", 10), ("b", "S", 10), ("c", "S", 3)])
        self.assertAlmostEqual(best_throughput(star, "bounded-multi-port", "broadcast", "a", 1), 3)
        trunk = network("abc", [("a", "b", 10), ("a", "c", 10)], shared=[{"name": "t", "bandwidth_Bps": 4, "links": [["a", "b"], ["a", "c"]]}])
        self.assertAlmostEqual(best_throughput(trunk, "bounded-multi-port", "broadcast", "a", 1), 2)
        slow = network("ab", [("a", "b", 1)])
        slow.arcs["a", "b"] = (1.0, 0.5, 3.0)
        self.assertAlmostEqual(best_throughput(slow, "one-port", "broadcast", "a", 4), 1 / (1 + 3 / 4))
        self.assertAlmostEqual(best_throughput(slow, "one-port", "broadcast", "a", 4, latency_occupies=True), 1 / (1 + 3.5 / 4))

    def test_several_trees_carry_more_than_one(self):
        #   README: lyon -> paris 10, paris -> berlin 2.5, lyon -> berlin 1
        three = Network({"name": "n", "nodes": [{"name": name} for name in ("lyon", "paris", "berlin")], "links": [
            {"from": a, "to": b, "bandwidth_Bps": rate} for a, b, rate in (("lyon", "paris", 10), ("paris", "berlin", 2.5), ("lyon", "berlin", 1))]})
        self.assertAlmostEqual(best_throughput(three, "bounded-multi-port", "broadcast", "lyon", 1), 3.5)
        self.assertAlmostEqual(best_tree(three, "bounded-multi-port", "broadcast", "lyon", 1), 2.5)
        self.assertEqual(best_throughput(three, "one-port", "broadcast", "berlin", 1), 0)

    PLAN = {"platform": "n", "operation": "broadcast", "source": "a", "model": "one-port", "nodes": ["a", "b", "c"], "slice_bytes": 1,
            "throughput_Bps": 2.0, "optimum_Bps": 2.0, "broadcast_trees": [{"rate_Bps": 2.0, "edges": [[0, 1], [1, 2]]}]}

    def test_plans(self):
        self.assertEqual(faults_of_plan(self.PLAN, self.CHAIN), [])
        for change in ({"throughput_Bps": 3.0}, {"source": "b"}, {"platform": "m"}, {"operation": "reduce"}, {"nodes": ["a", "b"]},
                       {"broadcast_trees": [{"rate_Bps": 2.0, "edges": [[0, 1], [0, 2]]}]},
                       {"broadcast_trees": [{"rate_Bps": 2.0, "edges": [[0, 1]]}]},
                       {"broadcast_trees": [{"rate_Bps": 2.0, "edges": [[2, 1], [1, 2]]}]},
                       {"throughput_Bps": 2.1, "broadcast_trees": [{"rate_Bps": 2.1, "edges": [[0, 1], [1, 2]]}]}):
            self.assertTrue(faults_of_plan({**self.PLAN, **change}, self.CHAIN), change)

    def test_schedules(self):
        schedule = {"period_s": 1.0, "throughput_Bps": 2.0, "slices": [2], "sends": [[0, 0, 1, 0.0, 1.0, 2.0], [0, 1, 2, 0.0, 0.5, 2.0]]}
        self.assertEqual(faults_of_schedule({**self.PLAN, "schedule": schedule}, self.CHAIN), [])
        for change in ({"throughput_Bps": 2.1}, {"period_s": 0.9}, {"slices": [3]}, {"sends": schedule["sends"][:1]},
                       {"sends": [[0, 0, 1, 0.0, 1.0, 2.0], [0, 1, 2, 0.0, 0.4, 2.0]]},
                       {"sends": [*schedule["sends"], [0, 1, 2, 0.4, 0.5, 2.0]]}):
            self.assertTrue(faults_of_schedule({**self.PLAN, "schedule": {**schedule, **change}}, self.CHAIN), change)


class Ends(unittest.TestCase):
    def finds(self, status, out="", err="", words=("espalier", "bound", "p.json", "--json"), names=None):
        try:
            check_end(Ended(list(words), status, out, err, 0.0), names)
        except Finding:
            return True
        return False

    def test_what_is_a_finding(self):
        refusal = "espalier: p.json: no\n"
        self.assertFalse(self.finds(0, "{}"))
        self.assertFalse(self.finds(2, err=refusal, names=["p.json"]))
        self.assertFalse(self.finds(2, err="espalier: note: merged\n" + refusal))
        for status, out, err in ((1, "", refusal), (-11, "", ""), (134, "", refusal), (2, "", ""), (2, "", refusal * 2), (2, "", "no\n"),
                                 (2, "", "espalier: a\x07\n"), (0, "{", ""), (0, "{\"a\": NaN}", ""), (0, "{}", refusal)):
            self.assertTrue(self.finds(status, out, err), (status, out, err))
        self.assertTrue(self.finds(2, err=refusal, names=["q.json"]))


class WrongPrograms(unittest.TestCase):
    """Each attack on a program that does what it looks for."""

    def found(self, kind, script, most=40, program="espalier"):
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder) / "programs"
            programs.mkdir()
            for name in ("espalier", "espalier-mpi"):
                (programs / name).symlink_to(PROGRAMS / name)
            (programs / program).unlink()
            (programs / program).write_text("#!/bin/bash\nreal=" + str(PROGRAMS / program) + "\n" + script + "\n")
            (programs / program).chmod(0o755)
            for seed in range(most):
                case = pathlib.Path(folder) / str(seed)
                case.mkdir()
                try:
                    kind.attack(Lab(case, programs), random.Random(seed))
                except Finding as finding:
                    return str(finding)
        return ""

    def test_a_crash_and_a_half_output(self):
        self.assertIn("status -11", self.found(damaged_files, "kill -SEGV $$"))
        self.assertIn("wrote", self.found(damaged_files, 'for f; do case $last in -o) echo half > "$f";; esac; last=$f; done; echo "espalier: $2: no" >&2; exit 2'))

    def test_an_optimum_that_is_none(self):
        self.assertIn("but the optimum is", self.found(optima, 'if [ "$1" = plan ]; then exec "$real" "$@" --max-trees 1; fi; exec "$real" "$@"'))

    def test_a_verify_that_accepts_all(self):
        accepts = """if [ "$1" = verify ]; then sed -E 's/.*("throughput_Bps": [^,]*).*/{\\1}/' "$2"; exit 0; fi; exec "$real" "$@" """
        self.assertIn("verify accepts", self.found(false_plans, accepts))

    def test_names_that_change(self):
        renames = 'if [ "$1" = convert ]; then "$real" "$@" || exit; sed -i "s/\\"h0\\"/\\"H0\\"/g" "${@: -1}"; exit 0; fi; exec "$real" "$@"'
        self.assertIn("changes", self.found(odd_names, renames))

    def test_numbers_that_are_none(self):
        self.assertIn("prints nan", self.found(extreme_numbers, 'case "$*" in *--json*) exec "$real" "$@";; esac; echo "makespan nan s"'))

    def test_a_write_in_place(self):
        writes = 'if [ "${@: -2:1} ${PWD##*/}" = "-o disk" ]; then "$real" "${@:1:$#-1}" - > "${@: -1}" 2>/dev/null; echo "espalier: full" >&2; exit 2; fi; exec "$real" "$@"'
        self.assertIn("failed and", self.found(full_disks, writes))

    def test_a_run_that_waits_for_ever(self):
        if not (PROGRAMS / "espalier-mpi").exists():
            self.skipTest("built without MPI")
        lost_ranks.SLACK_S = 1
        self.assertIn("did not end", self.found(lost_ranks, "[ $OMPI_COMM_WORLD_RANK = 0 ] && cat plan > /dev/null\nsleep 100", program="espalier-mpi"))


class Cases(unittest.TestCase):
    def test_the_same_seed_makes_the_same_case(self):
        from networks import platform
        self.assertEqual(json.dumps(platform(random.Random("x"))), json.dumps(platform(random.Random("x"))))


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    unittest.main()
