"""Many subagents in one `codex app-server`, each of which is a thread.

Rows for bench/run, for this engine only. All agents wait in their first response until the last one has sent its
request, and then work in parallel: ROUNDS responses each with reasoning, a call and a message. All results must reach
the root.
"""
import json
import os
import time
import urllib.request

import threads

ROUNDS = 5
SETTINGS = ["features.subagent_tools=true", "max_active_subagents=256"]
FREE = {"sandbox": "danger-full-access", "approvalPolicy": "never"}
ROOT = "You are agent 0"
TEXT = "The words of a subagent that thinks about what it was asked to do. "


def child_rounds():
    """The round is determined by the step that the last call named."""
    for step in range(1, ROUNDS + 1):
        plan = {"plan": [{"step": "step-%d" % step, "status": "in_progress"}]}
        steps = [{"gate": "all"}] if step == 1 else []
        steps += [{"reasoning": "**Thinking** " + TEXT * 5, "chunks": 10}, {"message": TEXT * 10, "chunks": 20}]
        if step < ROUNDS:
            steps.append({"call": "update_plan", "arguments": plan})
        before = ["work of number"] + ["step-%d" % (step - 1)] * (step > 1)
        yield {"when": {"contains": before, "lacks": [ROOT, "step-%d" % step]}, "reply": steps, "times": "forever"}


def script(count, again=False):
    spawn = {"call": "subagent_spawn", "arguments": '{"prompt":"the work of number {i}"}', "call_id": "s{i}"}
    more = {"call": "subagent_send_message", "arguments": '{"agent_id":{i},"prompt":"go on"}', "call_id": "m{i}"}
    resumed = [{"reply": [{"repeat": count, "steps": [more]}]}] if again else []
    done = [{"when": {"contains": "go on", "lacks": ROOT}, "reply": [{"message": "Done."}], "times": "forever"}]
    ok = {"reply": [{"message": "ok"}], "times": "forever"}
    first = [] if again else [{"reply": [{"repeat": count, "steps": [spawn]}]}]
    return done * again + list(child_rounds()) + first + resumed + [ok]


def root_file(bench, thread):
    return next((bench.home / "sessions").rglob("*%s*" % thread))


def heard(bench, thread):
    """The agents whose completion is in the root's history, by outcome."""
    ends = {}
    # The file is being written: bytes after the last newline are an incomplete line.
    complete = root_file(bench, thread).read_bytes().rpartition(b"\n")[0]
    for line in complete.splitlines():
        payload = json.loads(line)["payload"]
        if payload.get("type") != "function_call_output" or not payload["call_id"].startswith("await-"):
            continue
        news = json.loads(payload["output"])
        if news["completion"]:
            ends[news["metadata"]["agent_id"]] = next(iter(news["completion"]))
    return ends


def ends_of(server, count, found=()):
    """Reads until so many turns have ended, those in `found` included."""
    server.read(list(found), b'"method":"turn/completed"', count)


def settle(server, bench, thread, count):
    """Runs turns of the root until it has received the results of all agents."""
    for _ in range(200):
        ends = heard(bench, thread)
        if len(ends) == count:
            return ends
        server.ask([{"id": "list", "method": "thread/loaded/list", "params": {}}], b'"id":"list"')
        time.sleep(0.05)
    raise SystemExit("bench: %d of %d results reached the root" % (len(ends), count))


def work(tools, count):
    """`count` agents in parallel, with their results collected; CPU of each of their responses."""
    def row(bench, binary):
        model = tools.Model(bench.folder, script(count))
        server = threads.Server(binary, bench, model.url, tools, SETTINGS)
        try:
            answer = server.ask([{"id": "start", "method": "thread/start", "params": FREE}], b'"id":"start"')
            thread = json.loads(answer[0])["result"]["thread"]["id"]
            threads.turns(server, [thread])
            before = server.cpu_seconds()
            urllib.request.urlopen(model.url.rsplit("/", 1)[0] + "/v1/gate/all", b"").read()
            ends_of(server, count)
            settle(server, bench, thread, count)
            cpu = server.cpu_seconds() - before
            return cpu / count / ROUNDS, tools.Cost(cpu, cpu, server.kib("VmHWM"), server.stop())
        finally:
            server.process.kill()
            model.stop()
    return threads.alone(row)


def killed(tools, count):
    """The same, but the engine is killed when half of them have ended; another one resumes all."""
    def row(bench, binary):
        model = tools.Model(bench.folder, script(count))
        server = threads.Server(binary, bench, model.url, tools, SETTINGS)
        try:
            answer = server.ask([{"id": "start", "method": "thread/start", "params": FREE}], b'"id":"start"')
            thread = json.loads(answer[0])["result"]["thread"]["id"]
            threads.turns(server, [thread])
            urllib.request.urlopen(model.url.rsplit("/", 1)[0] + "/v1/gate/all", b"").read()
            ends_of(server, count // 2)
        finally:
            server.process.kill()
            model.stop()
        before = set(heard(bench, thread))
        model = tools.Model(bench.folder, script(count, again=True))
        server = threads.Server(binary, bench, model.url, tools, SETTINGS)
        try:
            server.ask([{"id": "resume", "method": "thread/resume", "params": {"threadId": thread}}], b'"id":"resume"')
            ends_of(server, count + 1, threads.turns(server, [thread]))
            ends = settle(server, bench, thread, count)
            cost = tools.Cost(0, server.cpu_seconds(), server.kib("VmHWM"), server.stop())
            cost.said = "%d heard before the kill, %d of %d completed" % (
                len(before), sum(end == "Completed" for end in ends.values()), count)
            return cost.cpu / count, cost
        finally:
            server.process.kill()
            model.stop()
    return threads.alone(row)


def fork(tools, megabytes, count):
    """`count` idle forks of a history of so many MB: the private memory that each adds."""
    says = {"reply": [{"message": {"fill": 1 << 19}}]}
    forks = {"reply": [{"repeat": count, "steps": [{"call": "subagent_fork", "arguments": "{}"}]}]}
    settings = SETTINGS + ["model_context_window=100000000", "model_auto_compact_token_limit=100000000"]

    def row(bench, binary):
        model = tools.Model(bench.folder, [says] * (2 * megabytes) + [forks, {"reply": [{"message": "ok"}]}])
        server = threads.Server(binary, bench, model.url, tools, settings)
        try:
            answer = server.ask([{"id": "start", "method": "thread/start", "params": FREE}], b'"id":"start"')
            thread = json.loads(answer[0])["result"]["thread"]["id"]
            for _ in range(2 * megabytes):
                threads.turns(server, [thread])
            before, cpu = server.kib("RssAnon"), server.cpu_seconds()
            threads.turns(server, [thread])
            cpu = server.cpu_seconds() - cpu
            more = server.kib("RssAnon") - before
            cost = tools.Cost(cpu, cpu, server.kib("VmHWM"), server.stop())
            cost.said = "%d KiB more for each" % (more / count)
            return cpu / count, cost
        finally:
            server.process.kill()
            model.stop()
    return threads.alone(row)
