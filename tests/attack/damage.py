"""Damages text: bytes, lines, and the structure of JSON."""

import json

VALUES = [None, True, False, 0, -1, 1, 2, 1e308, -1e308, 1e-308, 5e-324, 2**31, 2**53 + 1, 2**64, -2**63, 0.1, "", "a", "x" * 5000, "10 Gbit/s",
          "NaN", "1e999 B/s", "-1 s", "\u0000", "\ud7ff\ue000\U0010ffff", [], {}, [[]], [None], {"": None}, "<&>\"'", "../../x", "-", ","]
TOKENS = [b"{", b"}", b"[", b"]", b"\"", b",", b":", b"\n", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"<", b">", b"/>", b"&amp;", b"&x;",
          b"-", b"--", b"#", b"nan", b"inf", b"1e999", b"-1", b"0", b"99999999999999999999", b"1e-400", b"null", b"\\u0000", b"\\", b"'",
          b"<!--", b"]]>", b"..", b"[1-99999999]", b"*a", b"&a", b"%s%n"]


def damaged(random, content):
    """The bytes with one to three kinds of damage."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if random.random() < 0.5:
            content = damaged_json(random, content) or damaged_bytes(random, content)
        else:
            content = damaged_bytes(random, content)
    return content


def damaged_bytes(random, content):
    place = random.randrange(len(content) + 1)
    length = min(len(content) - place, int(random.choice([1, 2, 10, 100]) * random.random()) + 1)
    what = random.randrange(7)
    if what == 0 and content:
        at = random.randrange(len(content))
        return content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1:]
    if what == 1:
        return content[:place] + content[place + length:]
    if what == 2:
        return content[:place] + content[place:place + length] * random.choice([2, 3, 50]) + content[place + length:]
    if what == 3:
        return content[:place] + random.choice(TOKENS) + content[place:]
    if what == 4:
        return content[:place] + random.choice(TOKENS) + content[place + length:]
    if what == 5:
        return content[:place]
    lines = content.split(b"\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    lines[i], lines[j] = lines[j], random.choice([lines[i], lines[j]])
    return b"\n".join(lines)


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, index))


def damaged_json(random, content):
    """The document with one value, key or element changed; None where it is no JSON."""
    try:
        document = json.loads(content)
    except ValueError:
        return None
    places = [place for place in _places(document) if place]
    if not places:
        return None
    *path, last = random.choice(places)
    inner = document
    for key in path:
        inner = inner[key]
    what = random.randrange(6)
    if what <= 1:
        inner[last] = random.choice(VALUES)
    elif what == 2:
        del inner[last]
    elif what == 3 and isinstance(inner[last], (int, float)):
        inner[last] *= random.choice([-1, 0.5, 2, 10, 1e6, 1e-6, 1e300])
    elif what == 4 and isinstance(inner, list):
        inner.insert(random.randrange(len(inner) + 1), inner[last])
    elif isinstance(inner, list):
        random.shuffle(inner)
    else:
        inner[random.choice(["x", "name", "", last + "s"])] = inner[last]
    return json.dumps(document).encode()
