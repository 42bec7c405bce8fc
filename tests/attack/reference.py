"""What the best plan is and whether a plan is one, by brute force and from docs/model.md alone.

Nothing here is translated from the C++: the matrix is built from the text of the page, the optimum is a linear program
over all spanning arborescences, one column each, and a plan is checked by following its edges. For a handful of hosts."""

import itertools
import math
import operator

MODELS = ["one-port", "one-port-unidirectional", "multi-port", "bounded-multi-port", "multi-port-processor"]


class TooLarge(Exception):
    """More arborescences than brute force can list."""


class Network:
    """A platform file's contents, as dictionaries by name and by (from, to)."""

    def __init__(self, platform):
        self.name = platform["name"]
        self.hosts = [node["name"] for node in platform["nodes"] if not node.get("relay")]
        self.relays = {node["name"] for node in platform["nodes"] if node.get("relay")}
        self.send = {node["name"]: node["send_Bps"] for node in platform["nodes"] if "send_Bps" in node}
        self.receive = {node["name"]: node["receive_Bps"] for node in platform["nodes"] if "receive_Bps" in node}
        self.arcs = {}
        for link in platform["links"]:
            ends = [(link["from"], link["to"])] + ([(link["to"], link["from"])] if link.get("both_ways") else [])
            for arc in ends:
                old = self.arcs.get(arc, (0.0, math.inf, math.inf))  # parallel links: bandwidths add
                self.arcs[arc] = (old[0] + link["bandwidth_Bps"], min(old[1], link.get("latency_s", 0.0)),
                                  min(old[2], link.get("overhead_s", 0.0)))
        self.shared = {(a, b): [] for a, b in self.arcs}
        for link in platform.get("shared", []):
            for a, b in link["links"]:
                self.shared[a, b].append((link["name"], link["bandwidth_Bps"]))

    def seconds_per_byte(self, arc, segment, latency_occupies):
        bandwidth, latency, overhead = self.arcs[arc]
        return 1 / bandwidth + (overhead + (latency if latency_occupies else 0)) / segment

    def columns(self, model, segment, latency_occupies=False):
        """For each arc {resource: seconds per byte}: the columns of the matrix A."""
        times = {arc: self.seconds_per_byte(arc, segment, latency_occupies) for arc in self.arcs}
        columns = {}
        for (u, v), time in times.items():
            column = {}
            if model == "one-port":
                if u not in self.relays:
                    column["out", u] = time
                if v not in self.relays:
                    column["in", v] = time
            elif model == "one-port-unidirectional":
                for node in (u, v):
                    if node not in self.relays:
                        column["port", node] = time
            elif model == "multi-port":
                if u not in self.relays:
                    fastest = min(other for (a, _), other in times.items() if a == u)
                    column["out", u] = 1 / self.send[u] if u in self.send else 0.8 * fastest
            elif model == "multi-port-processor":
                if u not in self.relays:
                    fastest = min(other for (a, _), other in times.items() if a == u)
                    column["port", u] = 1 / self.send[u] if u in self.send else 0.8 * fastest
                if v not in self.relays:
                    fastest = min(other for (_, b), other in times.items() if b == v)
                    column["port", v] = 1 / self.receive[v] if v in self.receive else 0.8 * fastest
            else:
                if u in self.send:
                    column["out", u] = 1 / self.send[u]
                if v in self.receive:
                    column["in", v] = 1 / self.receive[v]
            if model.startswith(("multi-port", "bounded")) or u in self.relays or v in self.relays:
                column["link", u, v] = time
            for name, bandwidth in self.shared[u, v]:
                column["shared", name] = 1 / bandwidth
            columns[u, v] = column
        return columns

    def paths(self, start):
        """All simple paths from a host over relays to another host, as lists of nodes."""
        found = []
        stack = [[start]]
        while stack:
            path = stack.pop()
            for u, v in self.arcs:
                if u != path[-1] or v in path:
                    continue
                if v in self.relays:
                    stack.append([*path, v])
                else:
                    found.append([*path, v])
        return found


def added(loads):
    total = {}
    for load in loads:
        for resource, seconds in load.items():
            total[resource] = total.get(resource, 0.0) + seconds
    return total


def load_of_path(columns, path):
    return added(columns[arc] for arc in zip(path, path[1:]))


def _undominated(loads):
    """The loads that are not at least another's on every resource."""
    kept = []
    for load in sorted(loads, key=lambda load: sum(load.values())):
        if not any(all(load.get(r, 0) >= s for r, s in other.items()) for other in kept):
            kept.append(load)
    return kept


def trees_of(network, columns, root, up, most=20000):
    """The loads of all arborescences from the root (`up`: to the root), a dictionary each."""
    choices = {host: [] for host in network.hosts if host != root}  # (the other end, load)
    for start in network.hosts:
        by_end = {}
        for path in network.paths(start):
            by_end.setdefault(path[-1], []).append(load_of_path(columns, path))
        for end, loads in by_end.items():
            host, other = (start, end) if up else (end, start)
            if host != root:
                choices[host] += [(other, load) for load in _undominated(loads)]
    if math.prod(len(options) for options in choices.values()) > most:
        raise TooLarge
    hosts = list(choices)
    trees = []
    for picks in itertools.product(*choices.values()):
        parent = {host: pick[0] for host, pick in zip(hosts, picks)}
        if all(_reaches(parent, host, root) for host in hosts):
            trees.append(added(pick[1] for pick in picks))
    return trees


def _reaches(parent, node, root):
    """Whether the way up from the node ends at the root."""
    for _ in range(len(parent) + 1):
        if node == root:
            return True
        if node not in parent:
            return False
        node = parent[node]
    return False


def best_throughput(network, model, operation, root, segment, latency_occupies=False):
    """The optimum of the packing, 0 where a host cannot be reached."""
    columns = network.columns(model, segment, latency_occupies)
    kinds = {"broadcast": [False], "reduce": [True], "allreduce": [True, False]}[operation]
    sides = [trees_of(network, columns, root, up) for up in kinds]
    if not all(sides):
        return 0.0
    if len(network.hosts) == 1:
        return math.inf
    resources = sorted({r for side in sides for tree in side for r in tree}, key=str)
    row = {resource: index for index, resource in enumerate(resources)}
    scale = max(seconds for side in sides for tree in side for seconds in tree.values())
    rows = len(resources) + (len(sides) == 2)
    lp_columns = []
    for number, side in enumerate(sides):
        for tree in side:
            column = [(row[resource], seconds / scale) for resource, seconds in tree.items()]
            if len(sides) == 2:  # the trees down may carry no more than those up
                column.append((rows - 1, 1.0 if number == 1 else -1.0))
            lp_columns.append((column, 1.0 if number == len(sides) - 1 else 0.0))
    limits = [1.0] * len(resources) + [0.0] * (len(sides) == 2)
    return maximum(lp_columns, limits) / scale


def best_tree(network, model, operation, root, segment, latency_occupies=False):
    """The throughput of the best single tree of a broadcast or reduce."""
    columns = network.columns(model, segment, latency_occupies)
    return max(1 / max(tree.values()) for tree in trees_of(network, columns, root, operation == "reduce"))


def maximum(columns, limits):
    """max c·x subject to A·x <= limits, x >= 0, for limits >= 0; columns: ([(row, value)], c). The revised simplex
    method, by Bland's rule where it does not progress. What its steps lose in digits is found by inverting the last
    basis anew: then it goes on from there, or the result is that of its dual."""
    rows = len(limits)
    columns = [([(row, value / largest) for row, value in column], c / largest)
               for column, c in columns for largest in [max(abs(value) for _, value in column)]]
    columns += [([(row, 1.0)], 0.0) for row in range(rows)]  # the slacks
    tolerance = 1e-11 * max(c for _, c in columns)  # less is in the digits that are lost
    basis = list(range(len(columns) - rows, len(columns)))
    inverse = _inverse([columns[index][0] for index in basis])
    fresh = True
    stalled = 0
    for _ in range(5000):
        values = [sum(map(operator.mul, row, limits)) for row in inverse]
        prices = [sum(columns[basis[i]][1] * inverse[i][j] for i in range(rows)) for j in range(rows)]
        gains = [c - sum(prices[row] * value for row, value in column) for column, c in columns]
        entering = max(range(len(columns)), key=gains.__getitem__)
        if gains[entering] <= tolerance and fresh:
            objective = sum(columns[b][1] * value for b, value in zip(basis, values))
            if min(values) < -1e-9 or max(abs(gains[b]) for b in basis) > 1e-9 * objective:
                raise ArithmeticError("the reference's own linear program is not solved")
            return objective
        if gains[entering] <= tolerance or stalled % 50 == 49:
            inverse = _inverse([columns[index][0] for index in basis])
            fresh = True
            stalled += 1
            continue
        if stalled > 2 * rows:
            entering = next(index for index, gain in enumerate(gains) if gain > tolerance)
        direction = [sum(inverse[i][row] * value for row, value in columns[entering][0]) for i in range(rows)]
        steps = [(max(0.0, values[i]) / direction[i], basis[i], i) for i in range(rows) if direction[i] > 1e-9]
        if not steps:
            raise ArithmeticError("the reference's own linear program is unbounded")
        step, _, leaving = min(steps)
        stalled = stalled + 1 if step <= 1e-13 else 0
        inverse[leaving] = [x / direction[leaving] for x in inverse[leaving]]
        for i in range(rows):
            if i != leaving and direction[i]:
                factor = direction[i]
                inverse[i] = [x - factor * y for x, y in zip(inverse[i], inverse[leaving])]
        basis[leaving] = entering
        fresh = False
    raise ArithmeticError("the reference's own linear program does not end")


def _inverse(columns):
    """The inverse of the matrix with these columns, by Gauss and Jordan with the largest pivots."""
    rows = len(columns)
    matrix = [[0.0] * rows + [float(i == j) for j in range(rows)] for i in range(rows)]
    for j, column in enumerate(columns):
        for row, value in column:
            matrix[row][j] = value
    for j in range(rows):
        best = max(range(j, rows), key=lambda i: abs(matrix[i][j]))
        matrix[j], matrix[best] = matrix[best], matrix[j]
        pivot = matrix[j][j]
        matrix[j] = [x / pivot for x in matrix[j]]
        for i in range(rows):
            if i != j and matrix[i][j]:
                factor = matrix[i][j]
                matrix[i] = [x - factor * y for x, y in zip(matrix[i], matrix[j])]
    return [row[rows:] for row in matrix]


def faults_of_plan(plan, network):
    """Why the plan is none for the network, or carries less than it says; empty where all is well."""
    faults = []
    nodes = plan["nodes"]
    if plan["platform"] != network.name or sorted(nodes) != sorted(network.hosts):
        return ["for another platform"]
    root = nodes.index(plan["source"])
    columns = network.columns(plan["model"], plan["slice_bytes"], plan.get("latency_occupies", False))
    loads = []
    for key, up in (("reduce_trees", True), ("broadcast_trees", False)):
        trees = plan.get(key, [])
        if bool(trees) != (plan["operation"] in (("reduce", "allreduce") if up else ("broadcast", "allreduce"))):
            faults.append(f"{key} for a {plan['operation']}")
        rates = [tree["rate_Bps"] for tree in trees]
        if trees and abs(sum(rates) - plan["throughput_Bps"]) > 2e-6 * plan["throughput_Bps"]:
            faults.append(f"the rates of {key} sum to {sum(rates)}")
        for tree in trees:
            faults += _faults_of_tree(tree, len(nodes), root, up)
            for edge in tree["edges"]:
                path = [nodes[edge[0]], *tree.get("via", {}).get(f"{edge[0]}-{edge[1]}", []), nodes[edge[1]]]
                if all(arc in network.arcs for arc in zip(path, path[1:])):
                    load = load_of_path(columns, path)
                    loads.append({resource: tree["rate_Bps"] * seconds for resource, seconds in load.items()})
                else:
                    faults.append(f"no links along {path}")
    if min((tree["rate_Bps"] for key in ("reduce_trees", "broadcast_trees") for tree in plan.get(key, [])), default=1) <= 0:
        faults.append("a rate that is not positive")
    busiest = max(added(loads).values(), default=0.0)
    if busiest > 1 + 1e-5:
        faults.append(f"a resource is loaded to {busiest}")
    return faults


def _faults_of_tree(tree, count, root, up):
    parent = {}
    for sender, receiver in tree["edges"]:
        child, above = (sender, receiver) if up else (receiver, sender)
        if child in parent or child == root:
            return ["a host has two parents"]
        parent[child] = above
    if len(parent) != count - 1 or not all(_reaches(parent, node, root) for node in range(count)):
        return ["a tree does not span"]
    return []


def faults_of_schedule(plan, network):
    """Why the plan's periodic schedule cannot be followed, or carries less than it says."""
    schedule = plan["schedule"]
    nodes = plan["nodes"]
    columns = network.columns("one-port", plan["slice_bytes"], plan.get("latency_occupies", False))
    period = schedule["period_s"]
    slack = 1e-6 * period
    faults = []
    busy = {}
    carried = {}
    for tree, sender, receiver, start, seconds, size in schedule["sends"]:
        arc = (nodes[sender], nodes[receiver])
        if start < -slack or start + seconds > period + slack:
            faults.append("a send outside the period")
        if seconds < size * columns[arc]["out", arc[0]] - slack:
            faults.append("a send in less time than it takes")
        busy.setdefault(("out", sender), []).append((start, start + seconds))
        busy.setdefault(("in", receiver), []).append((start, start + seconds))
        carried[tree, sender, receiver] = carried.get((tree, sender, receiver), 0.0) + size
    for intervals in busy.values():
        intervals.sort()
        if any(after[0] < before[1] - slack for before, after in zip(intervals, intervals[1:])):
            faults.append("a port in two sends at once")
    first = 0
    for trees in [plan[key] for key in ("reduce_trees", "broadcast_trees") if key in plan]:
        for index, tree in enumerate(trees, first):
            due = schedule["slices"][index] * plan["slice_bytes"]
            for sender, receiver in tree["edges"]:
                if carried.get((index, sender, receiver), 0.0) < due * (1 - 1e-5):
                    faults.append("an edge carries less than its segments")
        reached = sum(schedule["slices"][first:first + len(trees)]) * plan["slice_bytes"] / period
        if reached < schedule["throughput_Bps"] * (1 - 1e-5):
            faults.append("less throughput than stated")
        first += len(trees)
    return faults
