"""Tests of the translation of platforms into wirings, and of refusals. Needs neither root nor a build."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from namespaces import check_fits
from wiring import CONTROL_BPS, Refusal, Wiring, describe, routes_of_plan, wiring_of


def platform(nodes: str, links: list[tuple], shared: list[dict] | None = None, **caps: dict) -> dict:
    """nodes: names, relays in capitals; links: (from, to, bytes/s), one-way."""
    return {"name": "test",
            "nodes": [{"name": name, "relay": name.isupper(), **caps.get(name, {})} for name in nodes.split()],
            "links": [{"from": a, "to": b, "bandwidth_Bps": rate, "both_ways": False, **dict(more)} for a, b, rate, *more in links],
            "shared": shared or []}


def both(a: str, b: str, rate: float, *more: tuple) -> list[tuple]:
    return [(a, b, rate, *more), (b, a, rate, *more)]


class Relays(unittest.TestCase):
    #   a --100-- S --50-- T --100-- b
    #             |        |
    #            200       30 (out), 40 (in)
    #             c        d
    def setUp(self):
        self.wiring = wiring_of(platform("a b c d S T", [
            *both("a", "S", 100), *both("c", "S", 200), *both("S", "T", 50), *both("T", "b", 100),
            ("d", "T", 30), ("T", "d", 40)], a={"send_Bps": 70}, b={"receive_Bps": 500}))

    def test_a_cable_and_a_cap_are_one_shaper_of_the_host(self):
        rates = [(host.name, host.out_Bps, host.in_Bps) for host in self.wiring.hosts]
        self.assertEqual(rates, [("a", 70, 100), ("b", 100, 100), ("c", 200, 200), ("d", 30, 40)])
        self.assertFalse(any(host.to_Bps for host in self.wiring.hosts))

    def test_between_relays_there_is_a_link_in_each_direction(self):
        self.assertEqual(sorted(self.wiring.links), [("link 'S' to 'T'", 50), ("link 'T' to 'S'", 50)])
        to_right = [name for name, _ in self.wiring.links].index("link 'S' to 'T'")
        for pair in [(0, 1), (0, 3), (2, 1), (2, 3)]:
            self.assertEqual(self.wiring.routes[pair], [to_right])
            self.assertEqual(self.wiring.routes[pair[::-1]], [1 - to_right])
        for pair in [(0, 2), (1, 3)]:
            self.assertEqual(self.wiring.routes[pair], [])

    def test_every_pair_has_a_route_and_there_are_no_notes(self):
        self.assertEqual(len(self.wiring.routes), 12)
        self.assertEqual(self.wiring.notes, [])


class Pairs(unittest.TestCase):
    def test_a_link_between_hosts_limits_that_pair(self):
        wiring = wiring_of(platform("a b c", [*both("a", "b", 10), *both("b", "c", 2e9), ("a", "c", 7)]))
        self.assertEqual(wiring.hosts[0].to_Bps, {1: 10, 2: 7})
        self.assertIsNone(wiring.hosts[0].out_Bps)

    def test_pairs_without_a_link_get_bandwidth_for_control_and_acknowledgements(self):
        wiring = wiring_of(platform("a b c", [("a", "b", 4e7), *both("b", "c", 10)]))
        self.assertEqual(wiring.hosts[1].to_Bps[0], 4e6)
        self.assertEqual(wiring.hosts[0].to_Bps[2], CONTROL_BPS)
        self.assertIn("3 pairs of hosts have no link", wiring.notes[0])

    def test_scale_slows_all_links(self):
        wiring = wiring_of(platform("a b S c", [*both("a", "b", 10), *both("c", "S", 4)], a={"send_Bps": 6}), scale=0.5)
        self.assertEqual((wiring.hosts[0].to_Bps[1], wiring.hosts[0].out_Bps, wiring.hosts[2].in_Bps), (5, 3, 2))


class SharedLinks(unittest.TestCase):
    def test_routes_contain_the_shared_link(self):
        shared = [{"name": "trunk", "bandwidth_Bps": 5, "links": [["a", "c"], ["b", "c"]]}]
        wiring = wiring_of(platform("a b c", [*both("a", "c", 10), *both("b", "c", 10), *both("a", "b", 10)], shared))
        self.assertEqual(wiring.links, [("shared link 'trunk'", 5)])
        self.assertEqual([pair for pair, route in sorted(wiring.routes.items()) if route], [(0, 2), (1, 2)])
        self.assertIn("shared link 'trunk': 4e-05 Mbit/s, used by 2 pairs", describe(wiring))

    def test_a_route_that_crosses_a_shared_link_twice(self):
        shared = [{"name": "trunk", "bandwidth_Bps": 5, "links": [["a", "S"], ["S", "b"]]}]
        wiring = wiring_of(platform("a b S", [*both("a", "S", 1), *both("S", "b", 1)], shared))
        self.assertEqual((wiring.routes[0, 1], wiring.routes[1, 0]), ([0, 0], []))
        with self.assertRaisesRegex(Refusal, "^the route from 'a' to 'b' crosses shared link 'trunk' twice; on a cluster it can cross it only once$"):
            check_fits(wiring, without_latency=False)


class Forwarding(unittest.TestCase):
    def crossed(self, wiring: Wiring, source: int, target: int) -> list[tuple[str, float]]:
        return [wiring.links[index] for index in wiring.routes[source, target]]

    #   a --10, 1 ms-- b --4, 2 ms--> c
    #   |
    #   d                                 c has no outgoing link
    def test_forwarded_traffic_shares_links_and_latencies_add_up(self):
        described = platform("a b c d", [*both("a", "b", 10, ("latency_s", 1)), ("b", "c", 4, ("latency_s", 2)),
                                         *both("a", "d", 7)], b={"send_Bps": 3, "receive_Bps": 2})
        wiring = wiring_of(described, scale=0.5, forward=True)
        self.assertEqual(self.crossed(wiring, 0, 2), [("link 'a' to 'b'", 5), ("link 'b' to 'c'", 2)])
        self.assertEqual(self.crossed(wiring, 0, 1), [("link 'a' to 'b'", 5)])
        self.assertEqual(self.crossed(wiring, 3, 2), [("link 'd' to 'a'", 3.5), *self.crossed(wiring, 0, 2)])
        self.assertEqual((wiring.delays_s[0, 1], wiring.delays_s[0, 2], wiring.delays_s[3, 2]), (1, 3, 3))
        self.assertEqual([(host.out_Bps, host.in_Bps) for host in wiring.hosts], [(None, None), (1.5, 1), (None, None), (None, None)])
        # c has no route to any host, and no other host's traffic crosses it.
        self.assertEqual([host.to_Bps for host in wiring.hosts], [{}, {}, dict.fromkeys([0, 1, 3], CONTROL_BPS), {}])
        self.assertEqual(wiring.notes, ["4 pairs of hosts have no link: their traffic goes over other hosts' links",
                                        "3 pairs of hosts have no link: they get 10 Mbit/s, or a tenth of the reverse link, "
                                        "for MPI's own messages"])

    #     b          a has links of 5, 9, 9 to b, c, d, which have links of 9 to e;
    #   / | \        another path, of three wider links, goes through f and g.
    #  a--c--e
    #   \ | /
    #     d
    def test_prefers_the_fewest_links_then_the_widest_then_the_first_hosts(self):
        links = [*both("a", "d", 9), *both("a", "c", 9), *both("a", "b", 5), *both("d", "e", 9), *both("c", "e", 9),
                 *both("b", "e", 9), *both("a", "f", 99), *both("f", "g", 99), *both("g", "e", 99)]
        wiring = wiring_of(platform("a b c d e f g", links), forward=True)
        self.assertEqual(self.crossed(wiring, 0, 4), [("link 'a' to 'c'", 9), ("link 'c' to 'e'", 9)])
        self.assertEqual(self.crossed(wiring, 4, 0), [("link 'e' to 'c'", 9), ("link 'c' to 'a'", 9)])
        self.assertEqual(self.crossed(wiring, 1, 5), [("link 'b' to 'a'", 5), ("link 'a' to 'f'", 99)])

    #   a --10-> b --50-- S --20--> c
    def test_a_cable_over_which_a_host_forwards_is_not_part_of_its_own_shaper(self):
        described = platform("a b c S", [("a", "b", 10), *both("b", "S", 50), ("S", "c", 20)], b={"send_Bps": 70})
        joined, forwarding = wiring_of(described), wiring_of(described, forward=True)
        self.assertEqual([(host.out_Bps, host.in_Bps) for host in joined.hosts], [(None, None), (50, None), (None, 20)])
        self.assertEqual([(host.out_Bps, host.in_Bps) for host in forwarding.hosts], [(None, None), (70, None), (None, 20)])
        self.assertEqual(self.crossed(joined, 1, 2), [])
        self.assertEqual(self.crossed(forwarding, 1, 2), [("link 'b' to 'S'", 50)])
        self.assertEqual(self.crossed(forwarding, 0, 2), [("link 'a' to 'b'", 10), ("link 'b' to 'S'", 50)])
        self.assertEqual(forwarding.hosts[0].to_Bps, {})

    def test_forwarding_changes_nothing_if_all_pairs_are_connected(self):
        for described in [platform("a b S c", [*both("a", "S", 1), *both("b", "S", 2), *both("c", "S", 3)]),
                          platform("a b c", [*both("a", "b", 1), *both("b", "c", 2), *both("a", "c", 3)]), RoutesOfAPlan.described]:
            self.assertEqual(wiring_of(described, planned={}, forward=True), wiring_of(described, planned={}))

    def test_prefers_relays_to_hosts_and_a_plans_route_to_both(self):
        described = platform("a b c S T", [link for ends in ["ab", "bc", "aS", "ST", "Tc"] for link in both(*ends, 1)])
        relayed = wiring_of(described, planned={}, forward=True)
        self.assertEqual(relayed.notes, [])
        self.assertEqual([name for name, _ in self.crossed(relayed, 0, 2)], [f"link '{a}' to '{b}'" for a, b in ["aS", "ST", "Tc"]])
        planned = wiring_of(described, planned={("a", "c"): ["a", "b", "c"]}, forward=True)
        self.assertEqual([name for name, _ in self.crossed(planned, 0, 2)], ["link 'a' to 'b'", "link 'b' to 'c'"])
        self.assertEqual(self.crossed(planned, 0, 1), [("link 'a' to 'b'", 1)])


class RoutesOfAPlan(unittest.TestCase):
    #   a --10-- S --10-- b      and a direct link of 3; c is connected to S and T
    #   a -- 7-- T -- 7-- b
    described = platform("a b c S T", [*both("a", "b", 3), *both("a", "S", 10), *both("S", "b", 10), *both("a", "T", 7),
                                       *both("T", "b", 7), *both("c", "S", 1), *both("c", "T", 1)])

    def plan(self, *trees: dict, half: str = "broadcast_trees") -> dict:
        return {"nodes": ["a", "b", "c"], half: list(trees)}

    def test_the_plans_route_is_taken(self):
        plan = self.plan({"edges": [[0, 1], [0, 2]], "via": {"0-1": ["T"], "0-2": ["S"]}})
        self.assertEqual(routes_of_plan(plan), {("a", "b"): ["a", "T", "b"], ("a", "c"): ["a", "S", "c"]})
        wiring = wiring_of(self.described, planned=routes_of_plan(plan))
        self.assertEqual([wiring.links[index] for index in wiring.routes[0, 1]], [("link 'a' to 'T'", 7), ("link 'T' to 'b'", 7)])

    def test_otherwise_the_route_with_the_fewest_links_is_taken(self):
        plan = self.plan({"edges": [[1, 0]]}, half="reduce_trees")
        wiring = wiring_of(self.described, planned=routes_of_plan(plan))
        self.assertEqual(wiring.routes[0, 1], [])
        self.assertEqual(wiring.hosts[0].to_Bps[1], 3)

    def test_takes_the_routes_of_all_blocks(self):
        plan = {"nodes": ["a", "b"], "blocks": [{"trees": [{"edges": [[0, 1]]}]}, {"trees": [{"edges": [[1, 0]]}]}]}
        self.assertEqual(routes_of_plan(plan), {("a", "b"): ["a", "b"], ("b", "a"): ["b", "a"]})

    def test_refuses_two_routes_in_the_plan(self):
        trees = [{"edges": [[0, 1]], "via": {"0-1": ["T"]}}, {"edges": [[0, 1]]}]
        with self.assertRaisesRegex(Refusal, "^the plan has two routes from 'a' to 'b'; a pair of hosts can have only one$"):
            routes_of_plan(self.plan(*trees))

    def test_refuses_a_route_that_the_platform_does_not_have(self):
        plan = self.plan({"edges": [[0, 1]], "via": {"0-1": ["S", "T"]}})
        with self.assertRaisesRegex(Refusal, "^the plan's route from 'a' to 'b' uses a link from 'S' to 'T', which the platform does not have$"):
            wiring_of(self.described, planned=routes_of_plan(plan))


class Refusals(unittest.TestCase):
    def refused(self, text: str, described: dict, without_latency: bool = False):
        with self.assertRaises(Refusal) as caught:
            check_fits(wiring_of(described), without_latency)
        self.assertEqual(str(caught.exception), text)

    def test_two_routes(self):
        self.refused("there are two routes from 'a' to 'b', directly and through 'S'; a cluster can have only one route between two hosts",
                     platform("a b S", [*both("a", "b", 1), *both("a", "S", 1), *both("S", "b", 1)]))
        self.refused("there are two routes from 'a' to 'b', through 'S' and through 'T'; a cluster can have only one route between two hosts",
                     platform("a b S T", [*both("a", "S", 1), *both("S", "b", 1), *both("a", "T", 1), *both("T", "b", 1)]))

    def test_long_latencies(self):
        described = platform("a b", both("a", "b", 1, ("latency_s", 0.002), ("overhead_s", 0.001)))
        self.refused("a route has a latency of 3 ms (with overheads), which a cluster cannot reproduce; ignore latencies with "
                     "--without-latency",
                     described)
        wiring = wiring_of(described)
        check_fits(wiring, without_latency=True)
        self.assertEqual(wiring.notes, ["latencies and overheads, up to 3 ms per route, are ignored"])

    def test_too_fast(self):
        self.refused("16000 Mbit/s is faster than a cluster's 10000 Mbit/s; slow down all links with --scale",
                     platform("a b", both("a", "b", 2e9)))

    def test_too_many(self):
        names = [f"h{i}" for i in range(65)]
        self.refused("65 hosts: a cluster can have at most 64",
                     platform(" ".join([*names, "S"]), [link for name in names for link in both(name, "S", 1)]))


if __name__ == "__main__":
    unittest.main()
