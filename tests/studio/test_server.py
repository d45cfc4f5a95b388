"""Ten thousand bodies that nobody should send: each gets an answer, and none of them is a 500."""

import asyncio
import json
import random

from tests.studio.asgi import OWN, exchange

SCENE = {
    "task": "classification",
    "points": [[-1.0, -1.0, 0], [1.0, 1.0, 0], [-1.0, 1.0, 1], [1.0, -1.0, 1]],
    "kernel": "rbf(gamma=1)",
    "C": 1.0,
    "epsilon": 0.1,
    "nu": 0.5,
}
ODD = [None, True, False, 0, -1, 1e308, -1e-320, 10**400, "", "inf", "nan", "\u0000", "<img src=x onerror=alert(1)>",
       "rbf(", "rbf(gamma=-1)", "linear**99", "a" * 600, "(" * 90, "spectrum(p=2)", "poly(degree=3)", [], [[]], {},
       {"a": 1}, [[0, 0]], [[0, 0, 9]], [["x", 0, 0]], [[1e300, 0, 0]], [[0, 0, 0]] * 5, [[0.5, 0.5, True]],
       "\ud800"]  # fmt: skip
METHODS = ["picture", "complete", "trace"]


def body(rng):
    """A question with a few fields replaced, or the text of one with a few characters replaced."""
    told = dict(SCENE, text="rbf(ga", caret=6, algorithm="perceptron", printed=False)
    for _ in range(rng.choice((1, 1, 2, 3))):
        told[rng.choice([*told, "more"])] = rng.choice(ODD)
    content = json.dumps(told).encode()
    if rng.random() < 0.5:
        place = rng.randrange(len(content))
        content = (
            content[:place] + bytes(rng.choices(range(256), k=rng.randrange(4))) + content[place + rng.randrange(3) :]
        )
    return content


def test_ten_thousand_bodies(app):
    rng = random.Random(0)
    seen = {}

    async def all_of_them():
        for number in range(10_000):
            # A picture takes milliseconds, a refusal takes none: most are of the kind that is cheap to ask.
            method = METHODS[1] if number % 8 else rng.choice(METHODS)
            answer = await exchange(app, "POST", f"/api/lab/{method}", headers=OWN, body=body(rng))
            told = answer.json()
            seen[answer.status] = seen.get(answer.status, 0) + 1
            assert answer.status in (200, 400, 422)
            if answer.status != 200:
                assert set(told["error"]) >= {"message", "field", "position"}
                assert not told["error"].get("unexpected"), (method, told)

    asyncio.run(all_of_them())
    assert set(seen) == {200, 400, 422}
    assert min(seen.values()) > 500
