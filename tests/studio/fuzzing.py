"""Bodies that nobody means: fields of the right name with wrong content, right ones changed a little, and rubbish."""

import json
import random

RUBBISH = [
    None, True, False, 0, -1, 1.5, 1e308, -1e-320, 10**400, "", "x", "inf", "nan", "\x00", "\ud7ff\ue000", "é" * 50,
    "<img src=x onerror=alert(1)>", "../../etc/passwd", "rbf(", "rbf(gamma=1e400)", "linear**99", "(" * 60, "0-1",
    "1 2 3",
    "(S (a) b)", "C1CC", "c1ccccc1", [], [[]], [None], [[0, 0]], [[0, 0, 9]], [["a", "b", "c"]], {}, {"a": {"b": []}},
    "on('a', rbf)", "exp(-dist**2)", "dot**dot**dot", "1/0", "log(-1)", "{\"a\": 1}", "a=1, b=", "%s%n", "9" * 400,
]  # fmt: skip


def bodies(seed, known, count):
    """`count` bodies for a method whose questions look like those of `known`."""
    rng = random.Random(seed)
    for _ in range(count):
        told = dict(rng.choice(known))
        for _ in range(rng.randint(0, 3)):
            name = rng.choice([*told, rng.choice(["", "points", "kernel", "__class__", "C", "extra"])])
            told[name] = _changed(rng, told.get(name))
        body = json.dumps(told).encode()
        if rng.random() < 0.1:
            body = damaged(rng, body)
        yield body


def _changed(rng, value):
    if rng.random() < 0.4 and isinstance(value, str) and value:
        place = rng.randrange(len(value))
        return value[:place] + rng.choice(["", "(", ")", "=", "9", " ", ",", "'", "\u0301"]) + value[place + 1 :]
    if rng.random() < 0.4 and isinstance(value, list) and value:
        changed = json.loads(json.dumps(value))
        place = rng.randrange(len(changed))
        if isinstance(changed[place], list) and changed[place] and rng.random() < 0.7:
            changed[place][rng.randrange(len(changed[place]))] = rng.choice(RUBBISH)
        else:
            changed[place] = rng.choice(RUBBISH)
        return changed
    return rng.choice(RUBBISH)


def damaged(rng, body):
    """Some bytes elsewhere than they were."""
    place = rng.randrange(max(len(body), 1))
    return (
        body[:place] + bytes(rng.randrange(256) for _ in range(rng.randint(0, 3))) + body[place + rng.randint(0, 2) :]
    )
