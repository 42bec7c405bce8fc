"""Tests of the check of the documentation on small pages: it fails where a page is wrong, and mends what it can."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_docs import Page
from outputs import agree, lines_of, renewed
from pages import PageError, blocks_of, steps_of


class PageTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def checked(self, *lines):
        path = pathlib.Path(self.folder.name) / "page.md"
        path.write_text("\n".join(lines) + "\n")
        return Page(path, pathlib.Path(self.folder.name)).run(pathlib.Path(self.folder.name), dict(os.environ))


class Commands(PageTest):
    def test_a_true_page_has_no_faults(self):
        page = self.checked("Text.", "", "    $ echo one", "    one", "    $ echo two \\", "        three", "    two three", "",
                            "```", "$ for a in 1 2; do", "    echo $a", "done", "1", "2", "```")
        self.assertEqual(page.faults, [])
        self.assertEqual((page.counts["blocks"], page.counts["commands"], page.counts["compared"]), (2, 3, 3))

    def test_a_wrong_output_is_a_fault_that_names_the_line(self):
        page = self.checked("Text.", "", "    $ echo one", "    eleven")
        self.assertEqual(page.faults, ["page.md:3: 'echo one' prints something else (- shown, + printed)\n-eleven\n+one"])

    def test_missing_and_additional_lines_are_faults(self):
        self.assertEqual(len(self.checked("", "    $ echo one; echo two", "    one").faults), 1)
        self.assertEqual(len(self.checked("", "    $ echo one", "    one", "    two").faults), 1)
        self.assertEqual(len(self.checked("", "    $ echo one").faults), 1)

    def test_a_failure_is_a_fault_unless_the_page_shows_a_refusal(self):
        self.assertEqual(len(self.checked("", "    $ false").faults), 1)
        self.assertEqual(len(self.checked("", "    $ echo espalier: no; exit 139", "    espalier: no").faults), 1)
        self.assertEqual(self.checked("", "    $ echo espalier: no; exit 2", "    espalier: no").faults, [])

    def test_a_command_without_prompt_has_to_be_excepted(self):
        self.assertEqual(len(self.checked("", "    espalier study random -o results  # a minute").faults), 1)
        self.assertEqual(len(self.checked("", "    mpirun … espalier-mpi bench").faults), 1)
        page = self.checked("", "<!-- not run: takes minutes -->", "", "    espalier study random -o results")
        self.assertEqual((page.faults, page.counts["not run"], page.reasons["takes minutes"]), ([], 1, 1))

    def test_other_blocks_are_not_commands(self):
        page = self.checked("", "    espalier: net.json: wrong", "", "Text.", "", "    auto plan = share_plan();")
        self.assertEqual((page.faults, page.counts["blocks"]), ([], 0))

    def test_a_block_in_a_list_is_found(self):
        page = self.checked("- Text:", "", "      $ echo one", "      two")
        self.assertEqual(len(page.faults), 1)

    def test_a_comment_that_is_not_before_a_block_is_a_fault(self):
        self.assertEqual(len(self.checked("<!-- not run: slow -->", "Text.").faults), 1)
        self.assertEqual(len(self.checked("<!-- not run: slow -->").faults), 1)

    def test_a_command_that_does_not_end_is_a_fault(self):
        [block] = blocks_of("page.md", "\n    $ echo 'one\n    two\n")
        with self.assertRaises(PageError):
            steps_of(block)

    def test_files_and_commands_that_the_page_does_not_show(self):
        page = self.checked("<!-- file: in.txt -->", "", "    one", "    two", "", "    $ wc -l < in.txt", "    2", "",
                            "Text.", "", "<!-- run first: echo hidden > h.txt -->", "", "    $ cat h.txt", "    hidden", "",
                            "Text.", "", "<!-- file: n.csv -->", "", "    $ cat n.csv", "    a,b", "    $ wc -c < n.csv", "    4")
        self.assertEqual(page.faults, [])
        self.assertEqual(len(self.checked("<!-- run first: false -->", "", "    $ echo", "").faults), 1)

    def test_output_that_is_not_compared(self):
        page = self.checked("<!-- not compared: random -->", "", "    $ echo one", "    two")
        self.assertEqual((page.faults, page.counts["commands"], page.counts["compared"]), ([], 1, 0))


class Update(PageTest):
    def test_writes_what_came_and_nothing_else(self):
        page = self.checked("Text.", "", "    $ echo one; echo 2", "    eleven", "    $ echo three", "    3", "", "More.", "",
                            "      $ echo four", "      5")
        self.assertEqual(page.update(), 0)
        self.assertEqual(page.path.read_text().split("\n"), [
            "Text.", "", "    $ echo one; echo 2", "    one", "    2", "    $ echo three", "    three", "", "More.", "",
            "      $ echo four", "      four", ""])

    def test_leaves_to_a_person_what_it_cannot_mend(self):
        page = self.checked("", "    $ echo one", "    t… w", "    $ false")
        self.assertEqual(page.update(), 2)


class Masks(unittest.TestCase):
    def test_times_do_not_count_and_figures_do(self):
        shown = ["algorithm  trees  throughput  seconds", "grow           1      1.0000    0.002"]
        self.assertTrue(agree(shown, ["algorithm  trees  throughput  seconds", "grow           1      1.0000   10.931"]))
        self.assertFalse(agree(shown, ["algorithm  trees  throughput  seconds", "grow           2      1.0000    0.002"]))
        self.assertFalse(agree(["2.002"], ["2.003"]))  # a number that is in no column of seconds
        self.assertTrue(agree(["seconds       0.000"], ["seconds       0.014"]))
        self.assertTrue(agree(['{"trees": 1, "seconds": 0.1}'], ['{"trees": 1, "seconds": 1.2e-05}']))
        self.assertFalse(agree(['{"trees": 1, "seconds": 0.1}'], ['{"trees": 2, "seconds": 0.1}']))

    def test_seconds_of_csv(self):
        shown = ["platform,seconds,error", "p,0.1,"]
        self.assertTrue(agree(shown, ["platform,seconds,error", "p,0.2,"]))
        self.assertFalse(agree(shown, ["platform,seconds,error", "p,0.1,late"]))
        self.assertTrue(agree([shown[0], '"p, q",0.1,'], [shown[0], '"p, q",0.2,']))

    def test_rounding_does_not_count(self):
        self.assertTrue(agree(["gap  6.6e-10"], ["gap  1.2e-11"]))
        self.assertFalse(agree(["gap  6.6e-03"], ["gap  6.5e-03"]))
        self.assertTrue(agree(["5779199.999999997,x"], ["5779200.000000001,x"]))
        self.assertFalse(agree(["5779199.999999997,x"], ["5779299.999999997,x"]))

    def test_measurements_of_a_run(self):
        shown = ["16 MiB to 71 ranks, 15 trees, segments of 512 KiB: 887.9 ms",
                 "achieved 151.1644 Mbit/s against 7.1632 Gbit/s planned (2.1 %), optimum 7.1632 Gbit/s"]
        self.assertTrue(agree(shown, [shown[0].replace("887.9 ms", "1.012 s"), shown[1].replace("151.1644 Mbit/s", "9 Gbit/s")]))
        self.assertFalse(agree(shown, [shown[0].replace("15 trees", "16 trees"), shown[1]]))
        self.assertFalse(agree(shown, [shown[0], shown[1].replace("optimum 7", "optimum 8")]))
        self.assertTrue(agree(["achieved 3.9254 Gbit/s"], ["achieved 31.5 Mbit/s"]))
        self.assertFalse(agree(["achieved 3.9254 Gbit/s"], ["achieved nothing"]))

    def test_progress_and_what_mpirun_says_are_left_out(self):
        dashes = "-" * 74
        self.assertEqual(lines_of("espalier: optimal: 1.3 s\nespalier: optimal: 6.2 s, round 120, gap 2.40e-03\nresult\n"), ["result"])
        self.assertEqual(lines_of("espalier-mpi: message 1: 3 MiB, 1.2 Gbit/s, 2 s left\nresult\n"), ["result"])
        self.assertEqual(lines_of(f"espalier-mpi: no\n{dashes}\nPrimary job  terminated\nno\n{dashes}\n"), ["espalier-mpi: no"])
        self.assertEqual(lines_of("espalier: a.json: no progress for 3 s\n"), ["espalier: a.json: no progress for 3 s"])


class Ellipses(unittest.TestCase):
    REAL = ["a", "b", "c", "d", "e", "f"]

    def test_stand_for_any_lines(self):
        for shown in (["…"], ["a", "…"], ["…", "f"], ["a", "b", "…", "f"], ["a", "…", "c", "d", "…", "f"], ["a", "b", "…", *"cdef"]):
            self.assertTrue(agree(shown, self.REAL), shown)

    def test_the_other_lines_have_to_be_there_in_order(self):
        for shown in (["b", "…"], ["…", "e"], ["a", "…", "d", "c", "…", "f"], ["a", "b", "…", "b", "c", "d", "e", "f"], ["a", "…", "x", "…"]):
            self.assertFalse(agree(shown, self.REAL), shown)

    def test_within_a_line(self):
        self.assertTrue(agree(["one of: a, …"], ["one of: a, b, c"]))
        self.assertFalse(agree(["one of: a, …"], ["one of: b, c"]))

    def test_stay_where_they_were(self):
        self.assertEqual(renewed(["A", "…", "F"], self.REAL), ["a", "…", "f"])
        self.assertEqual(renewed(["…", "c", "D", "…"], self.REAL), ["…", "c", "d", "…"])
        self.assertIsNone(renewed(["a", "t…"], self.REAL))


if __name__ == "__main__":
    unittest.main()
