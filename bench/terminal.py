#!/usr/bin/env python3
"""Measures the terminal of codex on a pseudo terminal against the scripted model, by the kernel's accounting.

    bench/terminal.py [--check]            build/codex (or CODEX_BIN)
    CODEX_REF=/path/to/codex bench/terminal.py      also another codex, in the same run, with ratios

The rows: CPU until the first screen with the model's name; memory and threads 3 seconds later; time from a key to its
echo, and CPU for 100 keys; CPU, wake-ups and bytes while idle for 5 seconds, and while a turn waits for 10; CPU and
bytes for an answer of 20,000 deltas; CPU of resuming a session of 10,000 lines. --check fails if the program wakes up
while it is idle, or more than once a second while it counts.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = os.environ.get("CODEX_BIN", str(ROOT / "build" / "codex"))
REFERENCE = os.environ.get("CODEX_REF")
ROWS, COLUMNS = 40, 120
TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 60
KEYS, DELTAS, LINES, IDLE, WORKING = 200, 20000, 10000, 5, 10

CONFIG = """model = "bench-model"
model_provider = "mock"
check_for_update_on_startup = false
sandbox_mode = "danger-full-access"
approval_policy = "never"
[model_providers.mock]
name = "mock"
base_url = "{url}"
wire_api = "responses"
[analytics]
enabled = false
[projects."{cwd}"]
trust_level = "trusted"
"""
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62c", b"\x1b[?u": b"\x1b[?0u"}


class Model:
    def __init__(self, replies):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="codex-model-"))
        script = self.folder / "script.jsonl"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        argv = [OURS, "mock-model", "--script", str(script)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


class Session:
    """A codex on a pseudo terminal, which answers the queries of a start."""

    def __init__(self, program, url, args=(), home=None):
        base = pathlib.Path(os.environ.get("BENCH_TMPDIR", "/var/tmp"))
        self.own = home is None
        self.home = home or pathlib.Path(tempfile.mkdtemp(prefix="codex-home-", dir=base))
        self.cwd = self.home / "work"
        self.cwd.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(CONFIG.format(url=url, cwd=self.cwd))
        self.seen, self.written = b"", 0
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "CODEX_HOME": str(self.home),
               "TERM": "xterm-256color", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.chdir(self.cwd)
            os.execve(program, ["codex", *args, "--no-alt-screen", "--no-daemon"], env)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return b""
        self.written += len(data)
        self.seen = (self.seen + data)[-(1 << 20):]
        for query, answer in ANSWERS.items():
            for _ in range(data.count(query)):
                os.write(self.fd, answer)
        return data

    def until(self, pattern, patience=PATIENCE):
        end = time.monotonic() + patience
        while not re.search(pattern, self.seen):
            if time.monotonic() > end:
                raise TimeoutError(f"{pattern} never came: {self.seen[-2000:]}")
            self.read(0.2)

    def rest(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def type(self, text):
        os.write(self.fd, text.encode())

    def cpu_ms(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        schedstat = [path.read_text() for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/schedstat")]
        exact = sum(int(text.split()[0]) for text in schedstat if text) / 1e6
        return max(exact, (int(fields[11]) + int(fields[12])) * 1000 / TICK - 1000 / TICK)

    def status(self, name):
        total = 0
        for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/status"):
            total += int(re.search(rf"^{name}:\s+(\d+)", path.read_text(), re.M).group(1))
        return total

    def wakeups(self):
        return self.status("voluntary_ctxt_switches")

    def memory_mib(self):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.pid}/task").iterdir()))

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except ProcessLookupError:
            pass
        os.close(self.fd)
        if self.own:
            shutil.rmtree(self.home, ignore_errors=True)


def measure_start(program, result):
    model = Model([{"reply": [{"message": "ok"}], "times": "forever"}])
    session = Session(program, model.url)
    session.until(rb"bench-model")
    result["first paint, CPU ms"] = session.cpu_ms()
    session.rest(3)
    result["memory after 3 s, MiB"] = session.memory_mib()
    result["threads"] = session.threads()
    times = []
    before = session.cpu_ms()
    for i in range(KEYS):
        key = "abcdefghijklmnopqrstuvwxyz"[i % 26]
        session.seen = b""
        start = time.monotonic()
        session.type(key)
        session.until(key.encode())
        times.append((time.monotonic() - start) * 1000)
        session.rest(0.02)
    result["CPU for 100 keys, ms"] = (session.cpu_ms() - before) * 100 / KEYS
    times.sort()
    result["echo p50, ms"] = times[len(times) // 2]
    result["echo p99, ms"] = times[len(times) * 99 // 100]
    session.rest(2)
    cpu, wakeups, written = session.cpu_ms(), session.wakeups(), session.written
    session.rest(IDLE)
    result["idle 5 s: wake-ups"] = session.wakeups() - wakeups
    result["idle 5 s: CPU ms"] = session.cpu_ms() - cpu
    result["idle 5 s: bytes"] = session.written - written
    session.end()
    model.stop()


def measure_working(program, result):
    model = Model([{"reply": [{"start": True}, {"hang": True}], "times": "forever"}])
    session = Session(program, model.url, ["go"])
    session.until(rb"interrupt")
    session.rest(3)
    cpu, wakeups, written = session.cpu_ms(), session.wakeups(), session.written
    session.rest(WORKING)
    result["working 10 s: wake-ups"] = session.wakeups() - wakeups
    result["working 10 s: CPU ms"] = session.cpu_ms() - cpu
    result["working 10 s: bytes"] = session.written - written
    session.end()
    model.stop()


def measure_deltas(program, result):
    steps = [{"repeat": DELTAS // 4, "steps": [{"delta": "some "}, {"delta": "**words** "}, {"delta": "of line {i} "},
                                               {"delta": "here.\n\n"}]}, {"delta": "THEEND"}]
    model = Model([{"reply": steps, "times": "forever"}])
    session = Session(program, model.url)
    session.until(rb"bench-model")
    session.rest(1)
    cpu, written = session.cpu_ms(), session.written
    start = time.monotonic()
    session.type("go")
    session.rest(0.5)
    session.type("\r")
    session.until(rb"THEEND", 180)
    result["20,000 deltas, wall s"] = time.monotonic() - start - 0.5
    session.rest(1)
    result["20,000 deltas, CPU ms"] = session.cpu_ms() - cpu
    result["20,000 deltas, KiB written"] = (session.written - written) / 1024
    result["memory after them, MiB"] = session.memory_mib()
    session.end()
    model.stop()


def measure_resume(program, result):
    """The session is one of OURS with one turn, which is repeated with new numbers: both programs read it."""
    model = Model([{"reply": [{"message": f"Answer {i} with **some** words in it."} for i in range(50)]},
                   {"reply": [{"message": "ok"}], "times": "forever"}])
    first = Session(OURS, model.url, ["go"])
    first.until(rb"Answer 49")
    first.rest(1.5)
    home = first.home
    first.own = False
    first.end()
    [path] = list(home.glob("sessions/**/*.jsonl"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    head, turn = lines[:1], lines[1:]
    while len(head) < LINES:
        head += [dict(line) for line in turn]
    for number, line in enumerate(head):
        if "ordinal" in line:
            line["ordinal"] = number
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in head[:LINES]))
    session = Session(program, model.url, ["resume", "--last"], home)
    session.until(rb"bench-model")
    session.until(rb"Answer 4[0-9]")
    session.rest(3)
    result["resume of 10,000 lines, CPU ms"] = session.cpu_ms()
    result["memory after it, MiB"] = session.memory_mib()
    session.end()
    shutil.rmtree(home, ignore_errors=True)
    model.stop()


def measure(program):
    result = {}
    for part in (measure_start, measure_working, measure_deltas, measure_resume):
        try:
            part(program, result)
        except (TimeoutError, ValueError, OSError) as problem:
            print(f"{program}: {part.__name__}: {str(problem)[:300]}", file=sys.stderr)
    return result


def main():
    parser = argparse.ArgumentParser(description="Measures the terminal of codex.")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    ours = measure(OURS)
    reference = measure(REFERENCE) if REFERENCE else {}
    for name, value in ours.items():
        other = reference.get(name)
        ratio = f"{other / value:10.1f}x" if other is not None and value else ""
        print(f"{name:34} {value:10.1f} {'' if other is None else f'{other:12.1f}'} {ratio}")
    failed = options.check and (ours["idle 5 s: wake-ups"] > 0 or ours["working 10 s: wake-ups"] > WORKING + 1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
