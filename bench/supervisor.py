"""The cost of a tool call in the engine and its supervisor, without the command.

Rows for bench/run. The supervisor is a child of the engine, and the commands are children of the supervisor. The
accounting of ended processes does not separate them, so both are read from /proc while they run.
"""
import pathlib

import clients

CALLS = 200
SANDBOXED = """sandbox_mode = "workspace-write"
sandbox_backend = "landlock"
approval_policy = "never"
"""


def supervisor_of(engine):
    pid = engine.process.pid
    children = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()
    if len(children) != 1:
        raise SystemExit("bench: the engine has %d children, and should have its supervisor only" % len(children))
    return pathlib.Path("/proc") / children[0]


def cpu_seconds(supervisor):
    return int((supervisor / "schedstat").read_text().split()[0]) / 1e9


def turn(client, text):
    clients.ask(client, text)
    clients.read_turns([client])


def tool_call(tools, settings):
    """A row of this engine only: CPU of each of CALLS calls of `true`, one per response, after a first one."""
    def row(bench, binary):
        call, done = tools.call("true"), tools.message()
        model = tools.Model(bench.folder, [call, done] + [call] * CALLS + [done])
        engine = clients.Engine(binary, bench, model.url, settings + tools.CONFIG)
        try:
            with clients.connect(engine) as client:
                turn(client, "hi")
                supervisor = supervisor_of(engine)
                before = engine.cpu_seconds(), cpu_seconds(supervisor)
                turn(client, "more")
                own, kept = engine.cpu_seconds() - before[0], cpu_seconds(supervisor) - before[1]
                peak = engine.kib("VmHWM")
            cost = tools.Cost(own, own + kept, peak, engine.stop())
            return cost.cpu / CALLS, cost
        finally:
            engine.process.kill()
            model.stop()
    row.is_ours_alone = True
    return row
