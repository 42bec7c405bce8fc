"""Small random platforms: is the optimum that of the linear program over all arborescences, and the plan one?"""

import json

from lab import Finding
from networks import OPERATIONS, hosts_of, platform
from reference import MODELS, Network, TooLarge, best_throughput, best_tree, faults_of_plan

GAP = 3e-6  # the program's own is 1e-6


def attack(lab, random):
    case = platform(random)
    network = Network(case)
    root = random.choice(hosts_of(case))
    model = random.choice(MODELS)
    operation = random.choice(OPERATIONS)
    segment = random.choice([1024, 65536, 524288])
    occupies = random.random() < 0.2
    try:
        best = best_throughput(network, model, operation, root, segment, occupies)
    except TooLarge:
        return False
    lab.write_json("platform.json", case)
    problem = ["platform.json", "--source", root, "--model", model, "--operation", operation, "--segment", str(segment)]
    if occupies:
        problem += ["--latency", "occupies"]
    ended = lab.checked("plan", *problem, "-q", "--json", "-o", "plan.json", outputs=["plan.json"])
    if best == 0:
        if ended.status != 3:
            raise Finding(f"no plan is possible, but '{ended.command()}' ended with status {ended.status}")
        return True
    plan = compare_plan(lab, ended, network, best, "optimal")
    if operation != "allreduce" and single_paths(network):  # of several paths, exact-tree takes the fastest (decision 0007)
        exact = lab.checked("plan", *problem, "-q", "--json", "--algorithm", "exact-tree", "-o", "tree.json", outputs=["tree.json"])
        compare_tree(lab, exact, network, best_tree(network, model, operation, root, segment, occupies))
    bound = lab.checked("bound", *problem, "-q", "--json")
    if not best * (1 - 1e-7) <= lab_json(bound)["bound_Bps"] <= best * (1 + GAP):
        raise Finding(f"'{bound.command()}': a bound of {lab_json(bound)['bound_Bps']}, but the optimum is {best}")
    verified = lab.checked("verify", "plan.json", "--platform", "platform.json", "--json")
    if verified.status != 0 or abs(lab_json(verified)["throughput_Bps"] - plan["throughput_Bps"]) > 1e-6 * best:
        raise Finding(f"'{verified.command()}': {verified.out} {verified.err}")
    return True


def single_paths(network):
    """Whether there is at most one path between any two hosts."""
    ends = [(path[0], path[-1]) for host in network.hosts for path in network.paths(host)]
    return len(ends) == len(set(ends))


def lab_json(ended):
    if ended.status != 0:
        raise Finding(f"'{ended.command()}' ended with status {ended.status}: {ended.err}")
    return json.loads(ended.out)


def compare_plan(lab, ended, network, best, what):
    row = lab_json(ended)["rows"][-1]
    plan = lab.read_json("plan.json")
    faults = faults_of_plan(plan, network)
    if faults:
        raise Finding(f"'{ended.command()}' made a plan with faults: {faults}")
    if not best * (1 - GAP) <= plan["throughput_Bps"] <= best * (1 + 1e-7):
        raise Finding(f"'{ended.command()}': {what} reaches {plan['throughput_Bps']}, but the optimum is {best}")
    if not best * (1 - 1e-7) <= row["bound_Bps"] <= best * (1 + GAP):
        raise Finding(f"'{ended.command()}': a bound of {row['bound_Bps']}, but the optimum is {best}")
    return plan


def compare_tree(lab, ended, network, best):
    lab_json(ended)
    plan = lab.read_json("tree.json")
    faults = faults_of_plan(plan, network)
    if faults:
        raise Finding(f"'{ended.command()}' made a plan with faults: {faults}")
    if abs(plan["throughput_Bps"] - best) > GAP * best:
        raise Finding(f"'{ended.command()}': the tree reaches {plan['throughput_Bps']}, but the best tree {best}")
