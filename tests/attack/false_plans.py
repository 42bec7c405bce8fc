"""Plans and schedules that were changed: does verify accept one that carries less than it says, or does not span?"""

import copy
import json

from lab import Finding
from networks import OPERATIONS, hosts_of, platform
from reference import MODELS, Network, faults_of_plan, faults_of_schedule

CHANGES_PER_PLAN = 6
ALGORITHMS = ["optimal", "optimal", "optimal", "best-tree", "grow", "lp-prune", "binomial", "chain", "two-tree-complete"]


def attack(lab, random):
    scheduled = random.random() < 0.3
    case = platform(random, plain=scheduled)
    network = Network(case)
    root = random.choice(hosts_of(case))
    words = ["--source", root, "--segment", str(random.choice([1024, 65536]))]
    words += ["--operation", random.choice(OPERATIONS)]
    if scheduled:
        words += ["--schedule"]
    else:
        words += ["--model", random.choice(MODELS)]
        words += ["--algorithm", random.choice(ALGORITHMS)] + (["--latency", "occupies"] if random.random() < 0.2 else [])
    lab.write_json("platform.json", case)
    made = lab.checked("plan", "platform.json", *words, "-q", "-o", "plan.json", outputs=["plan.json"])
    if made.status != 0:
        return False
    plan = lab.read_json("plan.json")
    judge(lab, network, plan, "unchanged", must_pass=True)
    for _ in range(CHANGES_PER_PLAN):
        changed = copy.deepcopy(plan)
        change = random.choice(SCHEDULE_CHANGES if scheduled and random.random() < 0.7 else CHANGES)
        change(random, changed)
        judge(lab, network, changed, change.__name__)
    return True


def judge(lab, network, plan, change, must_pass=False):
    lab.write_json("changed.json", plan)
    ended = lab.checked("verify", "changed.json", "--platform", "platform.json", "--no-proof", "--json", names=["changed.json"])
    ours = faults_of(plan, network)
    if ended.status == 0 and ours:
        raise Finding(f"verify accepts a plan after '{change}': {ours}")
    if ended.status != 0 and must_pass:
        raise Finding(f"verify refuses the program's own plan: {ended.err}")
    if ended.status == 0:
        stated = json.loads(ended.out)["throughput_Bps"]
        if abs(stated - plan["throughput_Bps"]) > 1e-5 * plan["throughput_Bps"]:
            raise Finding(f"verify finds no fault after '{change}', and a throughput of {stated}")


def faults_of(plan, network):
    try:
        faults = faults_of_plan(plan, network)
        if plan["optimum_Bps"] is not None and plan["optimum_Bps"] < plan["throughput_Bps"] * (1 - 1e-4):
            faults.append("an optimum below the throughput")
        if not faults and "schedule" in plan:
            faults = faults_of_schedule(plan, network)
        return faults
    except (KeyError, IndexError, ValueError, ZeroDivisionError) as error:
        return [f"{type(error).__name__} {error}"]


def trees(plan):
    return plan.get("reduce_trees", []) + plan.get("broadcast_trees", [])


def faster_tree(random, plan):
    tree = random.choice(trees(plan))
    more = tree["rate_Bps"] * random.choice([1e-4, 0.01, 0.5, 3])
    tree["rate_Bps"] += more
    if plan["operation"] != "allreduce":
        plan["throughput_Bps"] += more


def faster_plan(random, plan):
    factor = 1 + random.choice([1e-4, 0.01, 1])
    for tree in trees(plan):
        tree["rate_Bps"] *= factor
    plan["throughput_Bps"] *= factor
    if plan["optimum_Bps"] is not None:
        plan["optimum_Bps"] *= factor


def higher_throughput(random, plan):
    plan["throughput_Bps"] *= 1 + random.choice([1e-4, 0.01, 1])


def lower_optimum(random, plan):
    plan["optimum_Bps"] = plan["throughput_Bps"] * (1 - random.choice([1e-3, 0.1, 0.9]))


def other_end(random, plan):
    edge = random.choice(random.choice(trees(plan))["edges"])
    edge[random.randrange(2)] = random.randrange(len(plan["nodes"]))


def turned_edge(random, plan):
    random.choice(random.choice(trees(plan))["edges"]).reverse()


def missing_edge(random, plan):
    edges = random.choice(trees(plan))["edges"]
    edges.pop(random.randrange(len(edges)))


def doubled_edge(random, plan):
    edges = random.choice(trees(plan))["edges"]
    edges.append(list(random.choice(edges)))


def swapped_edges(random, plan):
    """Edges of two trees change places."""
    first, second = random.choice(trees(plan)), random.choice(trees(plan))
    i, j = random.randrange(len(first["edges"])), random.randrange(len(second["edges"]))
    first["edges"][i], second["edges"][j] = second["edges"][j], first["edges"][i]


def other_path(random, plan):
    tree = random.choice(trees(plan))
    via = tree.get("via", {})
    key = random.choice(list(via)) if via else "{}-{}".format(*random.choice(tree["edges"]))
    path = random.choice([[], [random.choice(plan["nodes"])], ["s0"], ["s1", "s0"], [*via.get(key, []), "s2"]])
    tree["via"] = {**via, key: path}
    if random.random() < 0.3:
        tree.pop("via")


def other_source(random, plan):
    plan["source"] = random.choice(plan["nodes"])


def other_order(random, plan):
    random.shuffle(plan["nodes"])


def other_segment(random, plan):
    plan["slice_bytes"] = random.choice([1, 1024, 65536, 1 << 30])


def other_model(random, plan):
    plan["model"] = random.choice(MODELS)


def other_operation(random, plan):
    plan["operation"] = random.choice(OPERATIONS)


def other_latency(random, plan):
    plan["latency_occupies"] = not plan.get("latency_occupies", False)


def doubled_tree(random, plan):
    key = random.choice([key for key in ("reduce_trees", "broadcast_trees") if key in plan])
    plan[key].append(copy.deepcopy(random.choice(plan[key])))
    if random.random() < 0.7:
        plan["throughput_Bps"] = sum(tree["rate_Bps"] for tree in plan[key])


def negative_rate(random, plan):
    key = random.choice([key for key in ("reduce_trees", "broadcast_trees") if key in plan])
    extra = copy.deepcopy(plan[key][0])
    extra["rate_Bps"] = -plan["throughput_Bps"] * random.random()
    plan[key][0]["rate_Bps"] -= extra["rate_Bps"]
    plan[key].append(extra)


def split_tree(random, plan):
    """The same plan, in one tree more."""
    key = random.choice([key for key in ("reduce_trees", "broadcast_trees") if key in plan])
    half = copy.deepcopy(random.choice(plan[key]))
    plan[key].append(half)
    original = plan[key][[tree["edges"] for tree in plan[key]].index(half["edges"])]
    half["rate_Bps"] = original["rate_Bps"] * random.random()
    original["rate_Bps"] -= half["rate_Bps"]


def sends(plan):
    return plan.get("schedule", {}).get("sends") or [[0, 0, 1, 0.0, 1.0, 1.0]]


def shifted_send(random, plan):
    send = random.choice(sends(plan))
    send[3] += plan["schedule"]["period_s"] * random.choice([-0.5, -0.01, 0.01, 0.5])


def shorter_send(random, plan):
    random.choice(sends(plan))[4] *= random.choice([0.5, 0.99, 1.01])


def lighter_send(random, plan):
    random.choice(sends(plan))[5] *= random.choice([0.5, 0.99, 1.01])


def missing_send(random, plan):
    sends(plan).pop(random.randrange(len(sends(plan))))


def other_send(random, plan):
    random.choice(sends(plan))[random.randrange(3)] = random.randrange(3)


def shorter_period(random, plan):
    factor = random.choice([0.5, 0.99])
    plan["schedule"]["period_s"] *= factor
    plan["schedule"]["throughput_Bps"] /= factor


def higher_schedule(random, plan):
    plan["schedule"]["throughput_Bps"] *= random.choice([1.01, 2])


def more_segments(random, plan):
    slices = plan["schedule"]["slices"]
    slices[random.randrange(len(slices))] += 1


CHANGES = [faster_tree, faster_plan, higher_throughput, lower_optimum, other_end, turned_edge, missing_edge, doubled_edge,
           swapped_edges, other_path, other_source, other_order, other_segment, other_model, other_operation, other_latency,
           doubled_tree, negative_rate, split_tree]
SCHEDULE_CHANGES = [shifted_send, shorter_send, lighter_send, missing_send, other_send, shorter_period, higher_schedule,
                    more_segments]
