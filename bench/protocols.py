"""Rows of `codex acp` and of MCP servers for bench/run.

The npm adapter for ACP runs the reference as its child, so the rows of ACP add up all processes. The rows of MCP add
up the engine's own processes, without the servers. CPU is read from the processes' clocks while they live, memory from
VmHWM.
"""
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ADAPTER = os.environ.get("CODEX_ACP_ADAPTER", str(
    ROOT / "tests/e2e/node_modules/@agentclientprotocol/codex-acp/dist/index.js"))
SERVER = str(ROOT / "bench" / "mcp_server.sh")


def family(pid):
    """The processes below this one, itself included."""
    found = [pid]
    try:
        for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
    except FileNotFoundError:  # it has ended
        pass
    return found


def clock(pid):
    """CPU seconds of a process, ended threads included."""
    return time.clock_gettime((~pid << 3) | 2)


def peak_kib(pid):
    _, found, rest = pathlib.Path("/proc/%d/status" % pid).read_text().partition("VmHWM:")
    return int(rest.split()[0]) if found else 0  # it has ended and is not waited for yet


def own(pid):
    """Those of the family that run the same program as the first."""
    def program(it):
        try:
            return os.readlink("/proc/%d/exe" % it)
        except FileNotFoundError:  # it has ended
            return None
    return [it for it in family(pid) if program(it) == program(pid)]


def begin(argv, bench, **env):
    return subprocess.Popen(argv, env=dict(bench.env, **env), cwd=bench.work, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def end(process):
    for pid in reversed(family(process.pid)):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass
    process.stdin.close()
    process.stdout.close()
    process.wait()


def cost_of(tools, pids, since=0.0):
    cpu = sum(map(clock, pids)) - since
    return cpu, tools.Cost(cpu, cpu, sum(map(peak_kib, pids)), 0)


# ---- ACP ----

def acp(tools, until):
    """until: "initialize" or "prompt". The seconds of wall time are noted."""
    def row(bench, binary):
        model = tools.Model(bench.folder, [{"reply": [{"message": "Hello."}]}] * 2)
        (bench.home / "config.toml").write_text(tools.SERVED + tools.CONFIG.format(url=model.url))
        is_ours = binary == tools.OURS
        argv, env = ([binary, "acp"], {}) if is_ours else (["node", ADAPTER], {"CODEX_PATH": binary})
        before = time.monotonic()
        process = begin(argv, bench, **env)
        try:
            def request(number, method, params):
                tools.send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                return tools.wait_for(process, b'"id":%d' % number)["result"]
            request(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            if until == "prompt":
                session = request(2, "session/new", {"cwd": str(bench.work), "mcpServers": []})["sessionId"]
                request(3, "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})
            wall = time.monotonic() - before
            cpu, cost = cost_of(tools, family(process.pid))
            cost.said = "%.0f ms of wall time" % (wall * 1000)
            return cpu, cost
        finally:
            end(process)
            model.stop()
    return row


# ---- MCP ----

def config_of(count, **env):
    text = ""
    for i in range(count):
        text += '[mcp_servers.s%d]\ncommand = "%s"\n' % (i, SERVER)
        text += "env = {%s}\n" % ",".join('%s = "%s"' % pair for pair in env.items())
    return text


def served(tools, config, replies, work, more=""):
    """work(process, thread) after the start of a thread returns (seconds, Cost). more: settings outside of tables."""
    def row(bench, binary):
        model = tools.Model(bench.folder, replies)
        (bench.home / "config.toml").write_text(tools.SERVED + more + tools.CONFIG.format(url=model.url) + config)
        process = begin([binary, "app-server"], bench)
        try:
            client = {"name": "bench", "title": "bench", "version": "1"}
            tools.send(process, {"id": 1, "method": "initialize", "params": {"clientInfo": client}})
            tools.wait_for(process, b'"id":1')
            tools.send(process, {"method": "initialized"})
            tools.send(process, {"id": 2, "method": "thread/start", "params": {}})
            thread = tools.wait_for(process, b'"id":2')["result"]["thread"]["id"]
            return work(process, thread)
        finally:
            end(process)
            model.stop()
    return row


def turn(tools, process, thread):
    tools.send(process, {"id": 3, "method": "turn/start", "params": {
        "threadId": thread, "input": [{"type": "text", "text": "hi"}]}})
    tools.wait_for(process, b'"turn/completed"')


def mcp_start(tools, count):
    """A thread with that many servers, and one turn, which waits until they have started."""
    def work(process, thread):
        if count:
            tools.send(process, {"id": 9, "method": "mcpServerStatus/list", "params": {
                "threadId": thread, "detail": "toolsAndAuthOnly"}})
            tools.wait_for(process, b'"id":9')
        turn(tools, process, thread)
        return cost_of(tools, own(process.pid))
    return served(tools, config_of(count), [tools.message()], work)


def on_one_cpu(row):
    """The row with all processes on one CPU. A call is two wake-ups; in a virtual machine one of another, idle CPU
    costs 20 us of the process that writes, or nothing if that CPU happens to be busy."""
    def pinned(bench, binary):
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cpus)})
        try:
            return row(bench, binary)
        finally:
            os.sched_setaffinity(0, cpus)
    return pinned


def mcp_call(tools, count):
    """mcpServer/tool/call, one after the other."""
    def work(process, thread):
        def call(number):
            tools.send(process, {"id": number, "method": "mcpServer/tool/call", "params": {
                "threadId": thread, "server": "s0", "tool": "echo", "arguments": {}}})
            tools.wait_for(process, b'"id":%d' % number)
        call(100)
        before = sum(map(clock, own(process.pid)))
        for i in range(count):
            call(1000 + i)
        cpu, cost = cost_of(tools, own(process.pid), before)
        return cpu / count, cost
    return on_one_cpu(served(tools, config_of(1), [tools.message()], work))


def mcp_round(tools, count):
    """A call by the model, and the next request with its output, one after the other."""
    item = {"type": "function_call", "namespace": "mcp__s0", "name": "echo", "arguments": "{}"}
    steps = [{"reply": [{"item": dict(item, call_id="c%d" % i)}]} for i in range(count)]

    def work(process, thread):
        turn(tools, process, thread)
        before = sum(map(clock, own(process.pid)))
        turn(tools, process, thread)
        cpu, cost = cost_of(tools, own(process.pid), before)
        return cpu / count, cost
    return served(tools, config_of(1), [tools.message()] + steps + [tools.message()], work,
                  "mcp_optional_startup_grace_ms = 30000\n")


def mcp_slow(tools):
    """Wall time of the first turn beside a server that takes 4 s to start."""
    def work(process, thread):
        before = time.monotonic()
        turn(tools, process, thread)
        return time.monotonic() - before, cost_of(tools, own(process.pid))[1]
    return served(tools, config_of(1, DELAY=4), [tools.message()], work)
