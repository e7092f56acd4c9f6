"""Many clients of one `codex proto --listen`, each with its own session, streaming or idle.

Rows for bench/run. They measure the engine's process alone, from /proc: CPU time, peak and resident memory, and
wake-ups.
"""
import json
import os
import pathlib
import selectors
import socket
import struct
import subprocess
import time

DELTAS = 2000
IDLE_SECONDS = 5
DONE = b'"type":"task_complete"'


class Engine:
    """A `codex proto` that listens."""

    def __init__(self, binary, bench, model_url, config, scheme="unix"):
        (bench.home / "config.toml").write_text(config.format(url=model_url))
        path = bench.folder / "socket"
        self.path = str(path)
        argv = [binary, "proto", "--listen", "%s://%s" % (scheme, path)]
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


class Streams:
    """Streams of gRPC, each a Session, on one connection of HTTP/2 with the largest windows."""

    DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE, END_HEADERS = 0, 1, 3, 4, 7, 8, 4

    def __init__(self, engine, count):
        self.socket = connect(engine)
        self.rest = b""
        window = struct.pack(">HI", 4, 2**31 - 1)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(self.SETTINGS, 0, 0, window) +
                            self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1 - 65535)))
        fields = [(":method", "POST"), (":scheme", "http"), (":path", "/codex.v1.Codex/Session"),
                  (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers")]
        head = b"".join(b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in field) for field in fields)
        self.ids = range(1, 2 * count, 2)
        for number in self.ids:
            self.socket.sendall(self.frame(self.HEADERS, self.END_HEADERS, number, head))

    @staticmethod
    def frame(kind, flags, stream, payload):
        return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload

    def ask(self, text):
        op = json.dumps({"type": "user_input", "items": [{"type": "text", "text": text}]}).encode()
        message = b"\x0a\x011\x12" + bytes([len(op)]) + op  # Submission {id: "1", op_json: op}
        for number in self.ids:
            self.socket.sendall(self.frame(self.DATA, 0, number, struct.pack(">BI", 0, len(message)) + message))

    def read_turns(self):
        """Reads the events of all streams until each has received task_complete."""
        tails = {number: b"" for number in self.ids}
        while tails:
            some = self.socket.recv(1 << 18)
            if not some:
                raise SystemExit("bench: the connection was closed")
            self.rest += some
            at = 0
            while len(self.rest) - at >= 9:
                length, kind = int.from_bytes(self.rest[at:at + 3], "big"), self.rest[at + 3]
                number = int.from_bytes(self.rest[at + 5:at + 9], "big")
                if len(self.rest) - at < 9 + length:
                    break
                if kind in (self.RST_STREAM, self.GOAWAY):
                    raise SystemExit("bench: a stream was cut off")
                if kind == self.DATA and number in tails:
                    seen = tails[number] + self.rest[at + 9:at + 9 + length]
                    tails[number] = seen[-len(DONE):]
                    if DONE in seen:
                        del tails[number]
                at += 9 + length
            self.rest = self.rest[at:]

    def close(self):
        self.socket.close()


class Sockets:
    """Clients of a socket that carries lines, each with a connection."""

    def __init__(self, engine, count):
        self.clients = [connect(engine) for _ in range(count)]

    def ask(self, text):
        for client in self.clients:
            ask(client, text)

    def read_turns(self):
        read_turns(self.clients)

    def close(self):
        for client in self.clients:
            client.close()


def crowd(count, tools, bench, binary, finish, scheme="unix"):
    """(CPU of one delta, Cost) when `count` clients stream DELTAS of them each, after a first turn of each."""
    hello = {"reply": [{"message": "Hello."}]}
    stream = {"reply": [{"repeat": DELTAS, "steps": [{"delta": "twenty bytes of it. "}]}]}
    model = tools.Model(bench.folder, [hello] * count + [stream] * count)
    engine = Engine(binary, bench, model.url, tools.SERVED + tools.CONFIG, scheme)
    try:
        clients = Sockets(engine, count) if scheme == "unix" else Streams(engine, count)
        clients.ask("hi")
        clients.read_turns()
        before = engine.cpu_seconds()
        clients.ask("more")
        clients.read_turns()
        cpu = engine.cpu_seconds() - before
        peak = engine.kib("VmHWM")
        finish("%.1f MB resident afterwards" % (engine.kib("VmRSS") / 1024))
        clients.close()
        return cpu / (count * DELTAS), tools.Cost(cpu, cpu, peak, engine.stop())
    finally:
        engine.process.kill()
        model.stop()


def idle(count, tools, bench, binary, finish, scheme="unix"):
    """CPU and wake-ups of an engine whose `count` clients have each completed a turn and are idle."""
    model = tools.Model(bench.folder, [{"reply": [{"message": "Hello."}]}] * count)
    engine = Engine(binary, bench, model.url, tools.SERVED + tools.CONFIG, scheme)
    try:
        clients = Sockets(engine, count) if scheme == "unix" else Streams(engine, count)
        clients.ask("hi")
        clients.read_turns()
        time.sleep(1)  # the model's connections are let go
        before, woken = engine.cpu_seconds(), engine.wakeups()
        time.sleep(IDLE_SECONDS)
        cpu, woken = engine.cpu_seconds() - before, engine.wakeups() - woken
        finish("%g wake-ups per second" % (woken / IDLE_SECONDS))
        peak = engine.kib("VmHWM")
        clients.close()
        return cpu / IDLE_SECONDS, tools.Cost(cpu, cpu, peak, engine.stop())
    finally:
        engine.process.kill()
        model.stop()


def grpc(measure):
    """The same measurement with streams of gRPC, on one connection."""
    return lambda *args: measure(*args, scheme="http+unix")
