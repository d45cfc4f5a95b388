"""The worker is one process that is replaced when it takes too long or dies."""

import asyncio
import sys
import time

from mercer.studio.worker import _GRACE, LIMIT, Worker

ECHO = """
import json, sys, time
heard = []
for line in sys.stdin:
    asked = json.loads(line)
    heard.append(asked["method"])
    if asked["method"] == "heard":
        asked["told"] = heard
    if asked["method"] == "sleep":
        time.sleep(60)
    if asked["method"] == "die":
        sys.exit(3)
    if asked["method"] == "half":
        print('{"answer"', end="", flush=True)
        sys.exit(0)
    if asked["method"] == "compile":
        print('{"compiling": true}', flush=True)
        time.sleep(1.5)
    print(json.dumps({"answer": asked["told"]}), flush=True)
"""


SLOW_TO_START = ECHO.replace("    heard.append", "    if asked['method'] == 'warm': time.sleep(0.8)\n    heard.append")


def run(coroutine, process=ECHO):
    async def guarded():
        worker = Worker([sys.executable, "-c", process], limit=0.5)
        try:
            return await coroutine(worker)
        finally:
            await worker.stop()

    return asyncio.run(guarded())


def test_answers_belong_to_their_questions():
    async def ask(worker):
        return await asyncio.gather(*(worker.ask("echo", {"number": number}) for number in range(20)))

    assert run(ask) == [{"answer": {"number": number}} for number in range(20)]


def test_one_that_takes_too_long_is_replaced():
    async def ask(worker):
        slow = await worker.ask("sleep", {})
        return slow, await worker.ask("echo", {"after": 1}), worker.started

    slow, after, started = run(ask)
    assert slow["slow"]
    assert "5 seconds" in slow["error"]["message"]
    assert (after, started) == ({"answer": {"after": 1}}, 2)


def test_one_that_dies_is_replaced():
    async def ask(worker):
        return [await worker.ask(method, {}) for method in ("die", "half", "echo")], worker.started

    (died, half, fine), started = run(ask)
    assert "ended unexpectedly" in died["error"]["message"]
    assert "ended unexpectedly" in half["error"]["message"]
    assert (fine, started) == ({"answer": {}}, 3)


def test_a_question_that_is_given_up_leaves_no_answer_behind():
    async def ask(worker):
        await worker.ask("echo", {})
        task = asyncio.create_task(worker.ask("sleep", {}))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await worker.ask("echo", {"fresh": True})

    assert run(ask) == {"answer": {"fresh": True}}


def test_nothing_is_left_running():
    async def ask(worker):
        await worker.ask("echo", {})
        return worker

    worker = run(ask)
    assert not worker.warm


def test_one_that_compiles_is_waited_for_by_asking_again():
    async def ask(worker):
        await worker.ask("echo", {})
        times, answers = [], []
        while not answers or "waiting" in answers[-1]:
            began = time.monotonic()
            answers.append(await worker.ask("compile" if not answers else "echo", {"n": len(answers)}))
            times.append(time.monotonic() - began)
        return times, answers, worker.started

    times, answers, started = run(ask)
    assert answers[0] == {"waiting": True}
    assert answers[-1] == {"answer": {"n": len(answers) - 1}}  # its own, not that of the question given up
    assert max(times) < 1.2
    assert started == 1


def test_a_question_with_a_limit_of_its_own_waits_for_the_compiler():
    async def ask(worker):
        return await worker.ask("compile", {"n": 1}, 10.0)

    assert run(ask) == {"answer": {"n": 1}}


def test_nothing_takes_longer_than_five_seconds():
    assert LIMIT + _GRACE < 5.0


def test_the_lab_is_warmed_in_steps():
    async def ask(worker):
        asked = []

        async def heard(method, told, limit=None):
            asked.append((method, told["step"]))
            return {"answer": told["step"] < 3}

        worker.ask = heard
        await worker.warm_up()
        return asked

    assert run(ask) == [("warm_lab", step) for step in range(4)]


def test_a_page_that_has_just_opened_waits_for_its_first_picture_alone():
    async def ask(worker):
        warming = asyncio.create_task(worker.warm_up())
        await asyncio.sleep(0)  # it has the first turn
        told = await worker.ask("heard", {}, 10.0)
        warming.cancel()
        await asyncio.gather(warming, return_exceptions=True)
        return told

    assert run(ask) == {"answer": ["warm", "heard"]}


async def asked_again(worker, method, told):
    """As a page asks: again while there is no answer, for a while."""
    for tries in range(1, 13):
        answer = await worker.ask(method, told)
        if "waiting" not in answer:
            return answer, tries
    raise AssertionError("no answer")


def test_one_that_always_takes_too_long_is_told_so_though_the_process_is_new_each_time():
    async def ask(worker):
        return [await asked_again(worker, "sleep", {}) for _ in range(2)], worker.started

    answers, started = run(ask, SLOW_TO_START)
    assert ["5 seconds" in told["error"]["message"] for told, _ in answers] == [True, True]
    assert started == 2


def test_an_answer_that_came_late_is_given_to_whoever_asks_again():
    async def ask(worker):
        answer, tries = await asked_again(worker, "compile", {"n": 1})
        return answer, tries, await worker.ask("heard", {})

    answer, tries, heard = run(ask)
    assert answer == {"answer": {"n": 1}}
    assert tries > 1
    assert heard == {"answer": ["warm", "compile", "heard"]}
