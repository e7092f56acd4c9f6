"""`bench/run --check`: compares rows with floor.c, which does the least work of the same effect, in the same run.

A ratio does not depend on how fast the machine is, and little on what else it does: the two programs run in turn, and
the median of the ratios of neighbouring runs counts. A bound is about twice what was measured when it was set: it finds
a cost that has doubled, not one of a tenth.
"""
import statistics

import wires

RUNS = 7
CALLS = 40
DELTAS = 100000


def floor_cost(tools, bench, *argv):
    return tools.run_process([tools.FLOOR] + [str(word) for word in argv], bench.env, bench.work)


def start(tools, bench):
    _, ours = tools.version(bench, tools.OURS)
    return ours.cpu, floor_cost(tools, bench, "nothing").cpu


def patch(tools, bench):
    """A patch of 1,000 hunks, beside a copy of the file that it changes."""
    _, ours = tools.patch_1000_hunks(bench, tools.OURS)
    return ours.cpu, floor_cost(tools, bench, "copy", bench.work / "big.txt", bench.work / "copy.txt").cpu


def call(tools, bench):
    """A command in a login shell, beside a login shell."""
    ours, cost = tools.tool_turns("cpu")(bench, tools.OURS)
    floor = floor_cost(tools, bench, "run", CALLS, "bash", "-lc", "true")
    return ours if cost.status == 0 else float("inf"), floor.cpu / CALLS


def delta(tools, bench):
    """A delta of 20 bytes, parsed, emitted as JSON and kept, beside the bytes of its event read and written."""
    replies = [{"reply": [{"repeat": DELTAS, "steps": [{"delta": "twenty bytes of it. "}]}]}]
    ours, cost = tools.over_hi(bench, tools.OURS, replies, DELTAS, "own")
    model = tools.Model(bench.folder, replies)
    try:
        host, port = model.url.split("/")[2].split(":")
        floor = floor_cost(tools, bench, "relay", host, port)
    finally:
        model.stop()
    return ours if cost.status == 0 and floor.status == 0 else float("inf"), floor.own / DELTAS


# Each returns the CPU of ours and of the floor.
CHECKS = [
    ("codex --version, beside a program that does nothing", start, 3),
    ("apply_patch of 1,000 hunks in 10 MB, beside a copy", patch, 9),
    ("a call of `true`, beside `bash -lc true`", call, 2.5),
    ("a small delta, beside the copy of its bytes", delta, 35),
    ("a turn of 100 on Chat Completions, beside Responses", wires.beside_responses(wires.turn, "chat"), 1.5),
    ("a turn of 100 on Messages, beside Responses", wires.beside_responses(wires.turn, "messages"), 1.5),
    ("a delta of Chat Completions, beside Responses", wires.beside_responses(wires.delta, "chat"), 1.5),
    ("a delta of Messages, beside Responses", wires.beside_responses(wires.delta, "messages"), 1.5),
]


def ratio(tools, measure):
    bench = tools.Bench()
    try:
        ours, floor = measure(tools, bench)
        return ours / max(floor, 1e-9)
    finally:
        bench.close()


def check(tools):
    """Prints a line for each check; returns the number of those that exceed their bound."""
    failed = 0
    for title, measure, bound in CHECKS:
        found = statistics.median(ratio(tools, measure) for _ in range(RUNS))
        failed += found > bound
        print("%s  %-60s %5.1f times the floor, bound %g" % ("ok  " if found <= bound else "OVER", title, found, bound),
              flush=True)
    return failed
