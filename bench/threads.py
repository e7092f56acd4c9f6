"""Many threads in one `codex app-server`, over its standard streams.

Rows for bench/run, the same for both programs, which share the protocol. They measure the server's process alone, from
/proc.
"""
import json
import os
import pathlib
import subprocess
import time

DELTAS = 2000
READ_SIZE = 1 << 20
UNUSED = {"reply": [{"message": "Hello."}]}


class Server:
    """A `codex app-server` that has been initialized."""

    def __init__(self, binary, bench, model_url, tools, settings=()):
        """settings: "key=value"."""
        (bench.home / "config.toml").write_text((tools.SERVED + tools.CONFIG).format(url=model_url))
        words = [word for setting in settings for word in ("-c", setting)]
        self.process = subprocess.Popen([binary, "app-server"] + words, env=bench.env, cwd=bench.work, bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.proc = pathlib.Path("/proc/%d" % self.process.pid)
        self.rest = []  # of a line that has not ended
        client = {"name": "bench", "title": "bench", "version": "1"}
        self.ask([{"id": "init", "method": "initialize", "params": {
            "clientInfo": client, "capabilities": {"experimentalApi": True}}}], b'"id":"init"')
        self.write([{"method": "initialized"}])

    def write(self, messages):
        os.writev(self.process.stdin.fileno(), [b"".join(json.dumps(m).encode() + b"\n" for m in messages)])

    def ask(self, messages, mark, wanted=None):
        """Sends the requests as the pipe accepts them; returns the `wanted` lines with that mark, or one each."""
        wanted = len(messages) if wanted is None else wanted
        found = []
        for start in range(0, len(messages), 200):
            self.write(messages[start:start + 200])
            self.read(found, mark, min(wanted, start + 1))
        self.read(found, mark, wanted)
        return found

    def read(self, found, mark, wanted):
        while len(found) < wanted:
            some = os.read(self.process.stdout.fileno(), READ_SIZE)
            if not some:
                raise SystemExit("bench: the app-server ended")
            self.rest.append(some)  # lines may have many MB: they are joined once
            if b"\n" in some:
                *lines, rest = b"".join(self.rest).split(b"\n")
                self.rest = [rest]
                found.extend(line for line in lines if mark in line)

    def cpu_seconds(self):
        """CPU of all threads, also of those that have ended, by the clock of the process (clock_getcpuclockid)."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def kib(self, key):
        return int((self.proc / "status").read_text().split(key + ":")[1].split()[0])

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait()


def start_threads(server, count):
    messages = [{"id": "start%d" % i, "method": "thread/start", "params": {}} for i in range(count)]
    return [json.loads(line)["result"]["thread"]["id"] for line in server.ask(messages, b'"id":"start')]


def turns(server, ids):
    """Starts a turn in each thread; returns the completions read: as many as threads, and those that came with them."""
    text = [{"type": "text", "text": "hi"}]
    messages = [{"id": "turn%d" % i, "method": "turn/start", "params": {"threadId": thread, "input": text}}
                for i, thread in enumerate(ids)]
    return server.ask(messages, b'"method":"turn/completed"')


def alone(row):
    """Rows of this engine only: the reference takes seconds for each, or does not answer all."""
    row.is_ours_alone = True
    return row


def run(tools, bench, binary, replies, prepare, measured, count, of="cpu"):
    """(CPU, or wall time, of each of the `count` items of `measured`, Cost)."""
    model = tools.Model(bench.folder, replies)
    server = Server(binary, bench, model.url, tools)
    try:
        prepared = prepare(server)
        before, began = server.cpu_seconds(), time.monotonic()
        measured(server, prepared)
        wall, cpu = time.monotonic() - began, server.cpu_seconds() - before
        return (wall if of == "wall" else cpu) / count, tools.Cost(cpu, cpu, server.kib("VmHWM"), server.stop())
    finally:
        server.process.kill()
        model.stop()


def start(tools, count):
    """`count` loaded threads without a turn, after a first turn: what it loads is not the threads' cost."""
    return alone(lambda bench, binary: run(tools, bench, binary, [UNUSED],
                                           lambda server: turns(server, start_threads(server, 1)),
                                           lambda server, _: start_threads(server, count), count))


def next_turn(tools, count):
    hello = [{"reply": [{"message": "Hello."}]}] * (count + 1)

    def prepare(server):
        ids = start_threads(server, 1)
        turns(server, ids)
        return ids

    def measured(server, ids):
        for _ in range(count):
            turns(server, ids)
    return lambda bench, binary: run(tools, bench, binary, hello, prepare, measured, count)


def first_turn(tools):
    """The first thread of a process that has been initialized, and its first turn."""
    return lambda bench, binary: run(tools, bench, binary, [UNUSED], lambda server: None,
                                     lambda server, _: turns(server, start_threads(server, 1)), 1)


def stream(tools, count):
    """`count` threads in parallel, each with DELTAS small deltas, after a first turn."""
    hello = [{"reply": [{"message": "Hello."}]}] * count
    deltas = [{"reply": [{"repeat": DELTAS, "steps": [{"delta": "twenty bytes of it. "}]}]}] * count

    def prepare(server):
        ids = start_threads(server, count)
        turns(server, ids)
        return ids
    return alone(lambda bench, binary: run(tools, bench, binary, hello + deltas, prepare, turns, count * DELTAS))


def large_deltas(tools, count):
    """A turn of `count` deltas of 64 KiB, after a first turn; the peak is that of the whole process."""
    deltas = [{"reply": [{"repeat": count, "steps": [{"delta": {"fill": 65536}}]}]}]

    def prepare(server):
        ids = start_threads(server, 1)
        turns(server, ids)
        return ids
    return lambda bench, binary: run(tools, bench, binary, [UNUSED] + deltas, prepare, turns, count)


def burst(tools, count):
    """Requests as fast as the pipe accepts them; each is answered."""
    messages = [{"id": "burst%d" % i, "method": "thread/loaded/list", "params": {}} for i in range(count)]
    return alone(lambda bench, binary: run(tools, bench, binary, [UNUSED], lambda server: None,
                                           lambda server, _: server.ask(messages, b'"id":"burst'), count))
