"""Many clients of one `codex proto --listen`, each with its own session, streaming or idle.

Rows for bench/run. They measure the engine's process alone, from /proc: CPU time, peak and resident memory, and
wake-ups.
"""
import json
import os
import pathlib
import selectors
import socket
import subprocess
import time

DELTAS = 2000
IDLE_SECONDS = 5
DONE = b'"type":"task_complete"'


class Engine:
    """A `codex proto` that listens."""

    def __init__(self, binary, bench, model_url, config):
        (bench.home / "config.toml").write_text(config.format(url=model_url))
        path = bench.folder / "socket"
        self.path = str(path)
        argv = [binary, "proto", "--listen", "unix://%s" % path]
        self.process = subprocess.Popen(argv, env=bench.env, cwd=bench.work, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("listening on "):
                break
        else:
            raise SystemExit("bench: codex proto did not start")
        self.proc = pathlib.Path("/proc/%d" % self.process.pid)

    def _sum(self, file, take):
        total = 0
        for task in (self.proc / "task").iterdir():
            total += take((task / file).read_text())
        return total

    def cpu_seconds(self):
        """CPU by the scheduler's clock in nanoseconds, because /proc/PID/stat counts hundredths of a second."""
        return self._sum("schedstat", lambda text: int(text.split()[0])) / 1e9

    def wakeups(self):
        return self._sum("status", lambda text: int(text.split("voluntary_ctxt_switches:")[1].split()[0]))

    def kib(self, key):
        return int((self.proc / "status").read_text().split(key + ":")[1].split()[0])

    def stop(self):
        self.process.terminate()
        status = self.process.wait()
        self.process.stderr.close()
        return status


def connect(engine):
    client = socket.socket(socket.AF_UNIX)
    client.connect(engine.path)
    return client


def ask(client, text):
    op = {"type": "user_input", "items": [{"type": "text", "text": text}]}
    client.sendall(json.dumps({"id": "1", "op": op}).encode() + b"\n")


def read_turns(clients):
    """Reads the events of all clients until each has received task_complete. Returns the number of bytes."""
    total = 0
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ, [b""])
        while selector.get_map():
            for key, _ in selector.select(60):
                some = key.fileobj.recv(1 << 18)
                total += len(some)
                seen = key.data[0] + some
                key.data[0] = seen[-len(DONE):]
                if DONE in seen:
                    selector.unregister(key.fileobj)
                elif not some:
                    raise SystemExit("bench: a client was cut off")
    return total


def crowd(count, tools, bench, binary, finish):
    """(CPU of one delta, Cost) when `count` clients stream DELTAS of them each, after a first turn of each."""
    hello = {"reply": [{"message": "Hello."}]}
    stream = {"reply": [{"repeat": DELTAS, "steps": [{"delta": "twenty bytes of it. "}]}]}
    model = tools.Model(bench.folder, [hello] * count + [stream] * count)
    engine = Engine(binary, bench, model.url, tools.SERVED + tools.CONFIG)
    try:
        clients = [connect(engine) for _ in range(count)]
        for client in clients:
            ask(client, "hi")
        read_turns(clients)
        before = engine.cpu_seconds()
        for client in clients:
            ask(client, "more")
        read_turns(clients)
        cpu = engine.cpu_seconds() - before
        peak = engine.kib("VmHWM")
        finish("%.1f MB resident afterwards" % (engine.kib("VmRSS") / 1024))
        for client in clients:
            client.close()
        return cpu / (count * DELTAS), tools.Cost(cpu, cpu, peak, engine.stop())
    finally:
        engine.process.kill()
        model.stop()


def idle(count, tools, bench, binary, finish):
    """CPU and wake-ups of an engine whose `count` clients have each completed a turn and are idle."""
    model = tools.Model(bench.folder, [{"reply": [{"message": "Hello."}]}] * count)
    engine = Engine(binary, bench, model.url, tools.SERVED + tools.CONFIG)
    try:
        clients = [connect(engine) for _ in range(count)]
        for client in clients:
            ask(client, "hi")
        read_turns(clients)
        time.sleep(1)  # the model's connections are let go
        before, woken = engine.cpu_seconds(), engine.wakeups()
        time.sleep(IDLE_SECONDS)
        cpu, woken = engine.cpu_seconds() - before, engine.wakeups() - woken
        finish("%g wake-ups per second" % (woken / IDLE_SECONDS))
        peak = engine.kib("VmHWM")
        for client in clients:
            client.close()
        return cpu / IDLE_SECONDS, tools.Cost(cpu, cpu, peak, engine.stop())
    finally:
        engine.process.kill()
        model.stop()
