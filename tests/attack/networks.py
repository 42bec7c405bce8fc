"""Small random platforms: relays, shared links, caps, overheads, latencies, parallel links, equal and unlike rates."""

import math

OPERATIONS = ["broadcast", "reduce", "allreduce"]


def rate(random, style):
    if style == "equal":
        return 1e9
    if style == "few":
        return random.choice([1e8, 2e8, 5e8, 1e9])
    return math.exp(random.uniform(math.log(1e6), math.log(1e10)))


def platform(random, most_hosts=6, relays=None, plain=False):
    """A platform as a dictionary. `plain`: direct links alone, in both directions, and connected."""
    hosts = [f"h{i}" for i in range(random.randint(2, most_hosts))]
    count = 0 if plain else random.choice([0, 0, 1, 2, 3]) if relays is None else relays
    switches = [f"s{i}" for i in range(count)]
    style = random.choice(["equal", "few", "any"])
    pairs = {}
    order = hosts + switches
    for i, node in enumerate(order[1:], 1):  # mostly connected
        if plain or random.random() < 0.97:
            pairs[random.choice(order[:i]), node] = True
    density = random.uniform(0.1, 0.9)
    for i, a in enumerate(order):
        for b in order[i + 1:]:
            if (a, b) not in pairs and random.random() < density and not (b in switches and a in switches and random.random() < 0.5):
                pairs[a, b] = True
    links = []
    for a, b in pairs:
        ends = (a, b) if random.random() < 0.5 else (b, a)
        both = plain or random.random() < 0.8
        link = {"from": ends[0], "to": ends[1], "bandwidth_Bps": rate(random, style)}
        links.append(link)
        if both and random.random() < 0.6:
            link["both_ways"] = True
        elif both:
            links.append({"from": ends[1], "to": ends[0], "bandwidth_Bps": rate(random, style)})
    for link in links:
        if random.random() < 0.3:
            link["latency_s"] = random.choice([1e-6, 1e-4, random.uniform(0, 0.1)])
        if random.random() < 0.2:
            link["overhead_s"] = random.choice([1e-6, 1e-5, random.uniform(0, 1e-3)])
    result = {"format": "espalier-platform", "version": 1, "name": "random", "links": links, "nodes": [
        {"name": node, **({"relay": True} if node in switches else {})} for node in order]}
    if not plain:
        _add_caps(random, result, style)
        _add_shared(random, result, style)
        if random.random() < 0.15:
            _add_parallel(random, result, style)
    return result


def _add_caps(random, result, style):
    if random.random() < 0.5:
        for node in result["nodes"]:
            for key in ("send_Bps", "receive_Bps"):
                if random.random() < 0.5:
                    node[key] = rate(random, style)


def _add_shared(random, result, style):
    arcs = [(link["from"], link["to"]) for link in result["links"]]
    arcs += [(link["to"], link["from"]) for link in result["links"] if link.get("both_ways")]
    shared = []
    for index in range(random.choice([0, 0, 1, 2]) if arcs else 0):
        chosen = random.sample(arcs, min(len(arcs), random.randint(1, 4)))
        shared.append({"name": f"trunk{index}", "bandwidth_Bps": rate(random, style), "links": [list(arc) for arc in chosen]})
    if shared:
        result["shared"] = shared


def _add_parallel(random, result, style):
    """A second link between two nodes, where no shared link could mean either."""
    named = {tuple(arc) for link in result.get("shared", []) for arc in link["links"]}
    open_links = [link for link in result["links"] if (link["from"], link["to"]) not in named]
    if open_links:
        link = random.choice(open_links)
        result["links"].append({"from": link["from"], "to": link["to"], "bandwidth_Bps": rate(random, style)})


def hosts_of(result):
    return [node["name"] for node in result["nodes"] if not node.get("relay")]
