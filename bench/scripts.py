"""Scripts of the tool exec: what one costs, and the process that runs it.

Rows for bench/run, beside the reference. CODEX_CODE_MODE_HOST_PATH and CODEX_CODE_MODE_ENGINE choose the host and its
JavaScript engine.
"""
import os
import pathlib
import subprocess
import time

MODEL = ("-m", "gpt-6-sol")
KEPT = ("CODEX_CODE_MODE_HOST_PATH", "CODEX_CODE_MODE_ENGINE")
WAITING = '// @exec: {"yield_time_ms": 500}\ntext(1); await new Promise(() => {})'


def script(source):
    return {"reply": [{"custom": "exec", "input": source}]}


def choose(bench):
    bench.env.update({name: os.environ[name] for name in KEPT if name in os.environ})


def calls(here, count, source):
    """Each script, engine and host, less a run that only says hello."""
    def row(bench, binary):
        choose(bench)
        replies = [script(source)] * count + [here.message()]
        return here.over_hi(bench, binary, replies, count, "cpu", more=MODEL)
    return row


def descendants(pid):
    for task in pathlib.Path("/proc/%d/task" % pid).glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield int(child)
            yield from descendants(int(child))


def is_host(pid):
    try:
        return b"code-mode-" in pathlib.Path("/proc/%d/cmdline" % pid).read_bytes()
    except OSError:
        return False


def memory_of(pid):
    """KiB of a process, with its share of the pages that others have as well: a host and its child share most."""
    for line in pathlib.Path("/proc/%d/smaps_rollup" % pid).read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def switches(pid):
    return sum(int(line.split()[1]) for task in pathlib.Path("/proc/%d/task" % pid).iterdir()
               for line in (task / "status").read_text().splitlines() if "ctxt_switches" in line)


def cpu_of(pid):
    """Seconds by the scheduler's clock."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path("/proc/%d/task" % pid).iterdir()) / 1e9


def host(here):
    """The processes of a script that waits: their CPU and memory; the note has their wake-ups in an idle second."""
    def row(bench, binary):
        choose(bench)
        model = here.Model(bench.folder, [script(WAITING), {"reply": [{"start": True}, {"hang": True}]}])
        (bench.home / "config.toml").write_text(here.CONFIG.format(url=model.url))
        argv = [binary, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *MODEL, "hi"]
        process = subprocess.Popen(argv, env=bench.env, cwd=bench.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not any(map(is_host, descendants(process.pid))):
                time.sleep(0.05)
            time.sleep(3)
            found = [pid for pid in descendants(process.pid) if is_host(pid)]
            before = sum(map(switches, found))
            time.sleep(1)
            cost = here.Cost(0, sum(map(cpu_of, found)), sum(map(memory_of, found)), 0)
            cost.said = "%d switches in an idle second" % (sum(map(switches, found)) - before)
            return cost.cpu, cost
        finally:
            process.kill()
            process.wait()
            model.stop()
    return row
