"""Odd names of nodes, groups, platforms and files: through every format and back they stay what they were, or one line
says that the format cannot hold them."""

from lab import Finding
from networks import hosts_of, platform

ODD = ["", " ", "  a", "a ", "a b", "a,b", "a;b", "a\tb", "a\nb", "a\r\nb", "\u0000", "\u0001", "\u007f", "\u0085", "\u2028", "\ufeff", "\ufeffa",
       "é", "e\u0301", "ß", "日本", "\U0001f333", "\u202eabc", "\u200b", "a\u00a0b", "\"", "\"\"", "'", "`", "\\", "\\n", "\\u0041", "/", "//", "a/b",
       "../x", ".", "..", "~", "-", "--", "--json", "-o", "#", "#a", "# name: x", "%s", "%n", "{}", "{rank}", "$(id)", "$HOME", "*", "?", "[1-3]",
       "a[1-3]", "<a>", "&amp;", "&", "]]>", "<!--", "-->", "->", "a -> b", "a->b", "a--b", "=1+1", "@x", "+1", "1", "007", "1e5", "0x10", "nan",
       "NaN", "inf", "null", "true", "name", "from", "to", "relay", "graph", "node", "edge", "subgraph", "strict", "digraph", "link:0", "pad:0",
       "shared:x", "send:a", "platform", "a:b", "a:", ":a", "a:b:c", "each", "all", "out-port of a", "x" * 200, "x" * 70_000, "é" * 5000, "a" * 255 + "/b"]
EXTENSIONS = ["json", "csv", "xml", "graphml", "dot"]


def odd_name(random):
    if random.random() < 0.7:
        return random.choice(ODD)
    return "".join(random.choice(["a", "b", "1", " ", "\"", "'", "\\", "/", ",", ":", "\n", "<", "&", "é", "\U0001f333", "#", "-", "\t", ";", "="])
                   for _ in range(random.randint(1, 8)))


def rename(random, case):
    """Gives one or more nodes, and perhaps the platform, groups and shared links, an odd name."""
    names = {node["name"]: node["name"] for node in case["nodes"]}
    for old in random.sample(list(names), random.randint(1, len(names))):
        new = odd_name(random)
        if new not in names.values():
            names[old] = new
    for node in case["nodes"]:
        node["name"] = names[node["name"]]
        if random.random() < 0.2:
            node["group"] = odd_name(random) or "g"
    for link in case["links"]:
        link["from"], link["to"] = names[link["from"]], names[link["to"]]
    for link in case.get("shared", []):
        link["links"] = [[names[a], names[b]] for a, b in link["links"]]
        if random.random() < 0.5:
            link["name"] = odd_name(random) + link["name"]
    if random.random() < 0.5:
        case["name"] = odd_name(random)


def of_file(random):
    while True:
        name = odd_name(random)
        if name not in ("", ".", "..", "-") and "\0" not in name and "/" not in name and len(name.encode()) < 200:
            return name


def facts(document):
    """What a platform file says, whatever the order of its links."""
    links = set()
    for link in document["links"]:
        for a, b in [("from", "to")] + ([("to", "from")] if link.get("both_ways") else []):
            links.add((link[a], link[b], link["bandwidth_Bps"], link.get("latency_s", 0), link.get("overhead_s", 0)))
    nodes = [(node["name"], node.get("relay", False), node.get("group"), node.get("send_Bps"), node.get("receive_Bps")) for node in document["nodes"]]
    shared = sorted((link["name"], link["bandwidth_Bps"], sorted(map(tuple, link["links"]))) for link in document.get("shared", []))
    return document["name"], nodes, sorted(links), shared


def attack(lab, random):
    case = platform(random, plain=random.random() < 0.6)
    rename(random, case)
    given = of_file(random) if random.random() < 0.3 else "p.json"
    path = f"./{given}"
    lab.write_json(given, case)
    made = lab.checked("convert", path, "--from", "json", "-o", "whole.json", outputs=["whole.json"])
    if made.status != 0:
        if made.status != 2 or not (unusual(case) or "given" in made.err):
            raise Finding(f"a platform with odd names is refused: {made.err[:300]!r}")
        return
    whole = lab.read_json("whole.json")
    if facts(whole)[1:] != facts(merged(case))[1:] or (case["name"] and whole["name"] != case["name"]):
        raise Finding(f"JSON changes odd names: {facts(whole)} is not {facts(case)}")
    there_and_back(lab, random, whole)
    use(lab, random, path, whole)


def merged(case):
    """The case with parallel links as one (the reader's rule)."""
    links = {}
    for link in case["links"]:
        for a, b in [("from", "to")] + ([("to", "from")] if link.get("both_ways") else []):
            arc = links.setdefault((link[a], link[b]), {"from": link[a], "to": link[b], "bandwidth_Bps": 0, "latency_s": 1e9, "overhead_s": 1e9})
            arc["bandwidth_Bps"] += link["bandwidth_Bps"]
            for key in ("latency_s", "overhead_s"):
                arc[key] = min(arc[key], link.get(key, 0))
    return {**case, "links": list(links.values())}


def unusual(case):
    """Whether a name may be refused: empty, not printable, or too long."""
    names = [node["name"] for node in case["nodes"]] + [node["group"] for node in case["nodes"] if "group" in node]
    names += [link["name"] for link in case.get("shared", [])] + [case["name"]]
    return any(not name or not name.isprintable() or len(name) > 1000 or "//" in name or name.startswith("/") or name.endswith("/") for name in names)


def kept(extension, said):
    """What a format keeps of what a platform says (docs/formats.md); only JSON keeps everything."""
    name, nodes, links, shared = said
    if extension in ("dot", "graphml"):
        return name, nodes, links
    if extension == "xml":
        # Caps become shared links, which limit the links that they are on.
        return [node[:2] for node in nodes], [(a, b, latency) for a, b, _, latency, _ in links]
    return name, nodes, links, shared


def there_and_back(lab, random, whole):
    extension = random.choice(EXTENSIONS)
    to = ["--to", random.choice(["edges", "matrix"])] if extension == "csv" else []
    name = f"there.{extension}"
    written = lab.checked("convert", "whole.json", *to, "-o", name, outputs=[name])
    if written.status != 0:
        return
    back = lab.checked("convert", name, *(["--from", to[1]] if to else []), "-o", "back.json", outputs=["back.json"])
    if back.status != 0:
        raise Finding(f"{name} was written, but is not read: {back.err[:500]!r}")
    sent, came = kept(extension, facts(whole)), kept(extension, facts(lab.read_json("back.json")))
    if "edges" in to:  # an edge list has no list of nodes; they come in the order in which links name them
        sent[1].sort(key=str)
        came[1].sort(key=str)
    if sent != came:
        raise Finding(f"{name} changes the platform: {sent} becomes {came}")


def use(lab, random, path, whole):
    """The commands that print names or read them from options."""
    source = random.choice(hosts_of(whole))
    if len(source.encode()) > 100_000 or "\0" in source:
        return
    made = lab.checked("plan", path, "--from", "json", f"--source={source}", "--algorithm", "grow", "-q", "-o", "plan.json", outputs=["plan.json"])
    if made.status == 3:
        return
    if made.status != 0:
        raise Finding(f"the host {source!r} cannot be the source: {made.err[:500]!r}")
    plan = lab.read_json("plan.json")
    if plan["nodes"] != hosts_of(whole) or plan["source"] != source:
        raise Finding(f"the plan names other hosts: {plan['nodes']}")
    known = ["plan.json", "--platform", "whole.json"]
    commands = [(["verify", *known, "--json"], []), (["simulate", *known, "--message", "1MiB", "--nodes"], []),
                (["show", *known], []), (["show", *known, "-o", "p.svg"], ["p.svg"]), (["show", "whole.json", "-o", "q.svg"], ["q.svg"]),
                (["explain", "whole.json", "--plan", "plan.json", "--json"], []), (["bound", "whole.json", f"--source={source}", "--csv"], []),
                (["compare", "whole.json", f"--source={source}", "--algorithm", "grow", "--csv"], [])]
    for words, outputs in random.sample(commands, 2):
        ended = lab.checked(*words, outputs=outputs)
        if ended.status != 0:
            raise Finding(f"'{ended.command()}' ended with status {ended.status}: {ended.err[:500]!r}")
