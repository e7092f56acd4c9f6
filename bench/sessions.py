"""Rows about sessions on disk: the cost of resuming one, and of listing and searching many."""
import atexit
import datetime
import itertools
import json
import os
import time

import threads

THREAD = "01a1fb55-e849-7942-b12b-582c7876dc93"
SESSION = "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + THREAD + ".jsonl"


def turn(number):
    """The recorded lines of one turn: two commands, a patch, reasoning and a message."""
    turn_id = "01a1fb55-e849-7942-b12b-%012x" % number
    words = "and so on, with what there is to say about number %d; " % number * 4

    def event(**payload):
        return "event_msg", payload

    def item(**item):
        return event(type="item_completed", thread_id=THREAD, turn_id=turn_id, started_at_ms=1795218073808,
                     completed_at_ms=1795218073811, item=item)

    def said(role, text):
        kind = "output_text" if role == "assistant" else "input_text"
        return "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    def command(which):
        call_id = "call_%d_%d" % (number, which)
        output = "Wall time: 0.0001 seconds\nProcess exited with code 0\nOutput:\n" + words * 3
        yield "response_item", {"type": "function_call", "name": "exec_command", "call_id": call_id,
                                "arguments": json.dumps({"cmd": "grep -rn number_%d src" % number})}
        yield item(type="CommandExecution", id=call_id, process_id="12", cwd="file:///work", source="agent",
                   command=["/bin/bash", "-lc", "grep -rn number_%d src" % number], parsed_cmd=[],
                   status="completed", aggregated_output=words * 3, exit_code=0,
                   duration={"secs": 0, "nanos": 18579})
        yield "response_item", {"type": "function_call_output", "call_id": call_id, "output": output}

    yield event(type="task_started", turn_id=turn_id, started_at=1795218073)
    yield "turn_context", {"turn_id": turn_id, "cwd": "/work", "approval_policy": "never", "model": "gpt-5.5",
                           "sandbox_policy": {"type": "danger-full-access"}, "summary": "auto"}
    yield said("user", words)
    yield item(type="UserMessage", id="u%d" % number, content=[{"type": "text", "text": words, "text_elements": []}])
    yield event(type="user_message", message=words, images=[], local_images=[], text_elements=[])
    yield item(type="Reasoning", id="rs_%d" % number, summary_text=[words], raw_content=[])
    yield "response_item", {"type": "reasoning", "id": "rs_%d" % number, "encrypted_content": "ENC0" * 200,
                            "summary": [{"type": "summary_text", "text": words}]}
    yield from command(1)
    yield from command(2)
    yield event(type="token_count", info=None, rate_limits=None)
    yield item(type="AgentMessage", id="m%d" % number, content=[{"type": "Text", "text": words * 2}])
    yield event(type="agent_message", message=words * 2)
    yield said("assistant", words * 2)
    yield event(type="task_complete", turn_id=turn_id, last_agent_message=None, duration_ms=55)


def lines():
    yield "session_meta", {"id": THREAD, "session_id": THREAD, "timestamp": "2026-11-20T10:00:00.000Z",
                           "cwd": "/work", "originator": "bench", "cli_version": "0.1.0", "source": "exec",
                           "model_provider": "mock", "history_mode": "paginated"}
    number = 0
    while True:
        number += 1
        yield from turn(number)


def write_lines(home, records):
    """Returns the size in MB."""
    path = home / SESSION
    path.parent.mkdir(parents=True)
    with open(path, "w") as out:
        for ordinal, (kind, payload) in enumerate(records):
            line = {"timestamp": "2026-11-20T10:00:00.123Z", "ordinal": ordinal, "type": kind, "payload": payload}
            out.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path.stat().st_size / 1e6


def write_session(home, count):
    """A session of that many lines; returns its size in MB."""
    return write_lines(home, itertools.islice(lines(), count))


def greet(here, process):
    client = {"name": "bench", "title": "bench", "version": "1"}
    here.send(process, {"id": 1, "method": "initialize", "params": {
        "clientInfo": client, "capabilities": {"experimentalApi": True}}})
    here.wait_for(process, b'"id":1')
    here.send(process, {"method": "initialized"})


def asking(here, method, params, then=lambda: None):
    """Talks to an app-server: one request, and its answer."""
    def talk(process):
        greet(here, process)
        here.send(process, {"id": 2, "method": method, "params": params})
        here.wait_for(process, b'"id":2')
        then()
    return talk


def configure(here, bench):
    """No model is asked."""
    (bench.home / "config.toml").write_text(here.SERVED + here.CONFIG.format(url="http://127.0.0.1:9/v1"))


def resume(here, count):
    """The cost of thread/resume beyond that of an app-server that lists its threads. Peak of the whole process."""
    def row(bench, binary):
        size = write_session(bench.home, count)
        configure(here, bench)
        base = here.run_process([binary, "app-server"], bench.env, bench.work,
                                talk=asking(here, "thread/loaded/list", {}))
        params = {"threadId": THREAD, "excludeTurns": True}
        cost = here.run_process([binary, "app-server"], bench.env, bench.work,
                                talk=asking(here, "thread/resume", params))
        cost.status = cost.status or base.status
        cost.said = "the file has %.1f MB" % size
        return max(cost.own - base.own, 1e-6), cost
    return row


# ---- many ----

A_DAY = 25  # sessions


def write_sessions(home, count):
    """Sessions of one turn each, A_DAY a day from the newest day back, as another program left them."""
    body = []
    for ordinal, (kind, payload) in zip(range(20), lines()):
        body.append(json.dumps({"timestamp": "2026-11-20T10:00:00.123Z", "ordinal": ordinal, "type": kind,
                                "payload": payload}, separators=(",", ":")))
    text = "\n".join(body) + "\n"
    newest = datetime.datetime(2026, 11, 19, 12)
    for number in range(count):
        at = newest - datetime.timedelta(days=number // A_DAY, minutes=number % A_DAY)
        thread = "%012x" % (int(at.timestamp()) * 1000) + "-7942-b12b-%012x" % number
        thread = thread[:8] + "-" + thread[8:]
        folder = home / "sessions" / at.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        said = text.replace(THREAD, thread).replace('"source":"exec"', '"source":"cli"')
        said = said.replace("what there is to say", "needle%dx" % number)
        path = folder / ("rollout-%s-%s.jsonl" % (at.strftime("%Y-%m-%dT%H-%M-%S"), thread))
        path.write_text(said)
        os.utime(path, (at.timestamp(), at.timestamp()))


def stored(here, count, ask, times):
    """Each request to an app-server about `count` sessions on disk, after it has indexed them."""
    def prepare(server):
        ask(server, 0)
        before = -1
        while server.cpu_seconds() != before:  # what goes on beside the answer, too
            before = server.cpu_seconds()
            time.sleep(0.3)

    def measured(server, _):
        for number in range(times):
            ask(server, number + 1)

    def row(bench, binary):
        write_sessions(bench.home, count)
        time.sleep(2.5)  # folders that were changed just now are looked at again
        return threads.run(here, bench, binary, [threads.UNUSED], prepare, measured, times)
    return threads.alone(row)


def list_page(server, number, **params):
    server.ask([{"id": "list%d" % number, "method": "thread/list", "params": params}], b'"id":"list%d"' % number)


def find_words(server, number):
    """Search terms that occur in one session."""
    params = {"searchTerm": "needle%dx" % (number * 97)}
    server.ask([{"id": "find%d" % number, "method": "thread/search", "params": params}], b'"id":"find%d"' % number)


def listing(here, count, **params):
    return stored(here, count, lambda server, number: list_page(server, number, **params), 50)


def search(here, count):
    return stored(here, count, find_words, 20)


def short_items(count):
    """A session of that many messages, short enough that no program summarises them."""
    yield "session_meta", {"id": THREAD, "session_id": THREAD, "timestamp": "2026-11-20T10:00:00.000Z",
                           "cwd": "/work", "originator": "bench", "cli_version": "0.1.0", "source": "exec",
                           "model_provider": "mock", "history_mode": "paginated"}
    for number in range(count):
        role, kind = ("assistant", "output_text") if number % 2 else ("user", "input_text")
        text = "what there is to say about number %d, in a few words" % number
        yield "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def request(here, items, calls):
    """Each of `calls` requests of a turn in a session with that many items."""
    ask = {"reply": [{"call": "no_such_tool", "arguments": {}}]}
    replies = [here.message()] + [ask] * (calls - 1) + [here.message()]

    def prepare(server):
        params = {"threadId": THREAD, "excludeTurns": True}
        server.ask([{"id": "resume", "method": "thread/resume", "params": params}], b'"id":"resume"')
        threads.turns(server, [THREAD])

    def row(bench, binary):
        write_lines(bench.home, short_items(items))
        return threads.run(here, bench, binary, replies, prepare, lambda server, _: threads.turns(server, [THREAD]),
                           calls)
    return row


_homes = {}  # of first_page: (count, program) -> a home that the program has indexed


def indexed_home(here, count, binary):
    """A home with sessions and the index that the program has made of them: for all runs, because that takes long."""
    if (count, binary) not in _homes:
        bench = here.Bench()
        atexit.register(bench.close)
        write_sessions(bench.home, count)
        time.sleep(2.5)
        server = threads.Server(binary, bench, "http://127.0.0.1:9/v1", here)
        list_page(server, 0)
        before = -1
        while server.cpu_seconds() - before > 0.002:
            before = server.cpu_seconds()
            time.sleep(1)
        server.stop()
        _homes[count, binary] = bench
    return _homes[count, binary]


def first_page(here, count):
    """CPU of a whole app-server that answers one thread/list, and of what it does in the half second after."""
    def row(_, binary):
        bench = indexed_home(here, count, binary)
        cost = here.run_process([binary, "app-server"], bench.env, bench.work,
                                talk=asking(here, "thread/list", {}, lambda: time.sleep(0.5)))
        return cost.own, cost
    return row


def first_answer(here, count, method, **params):
    """CPU of a whole app-server that has no index yet, from its start until it has answered one request."""
    def row(bench, binary):
        write_sessions(bench.home, count)
        configure(here, bench)
        cost = here.run_process([binary, "app-server"], bench.env, bench.work, talk=asking(here, method, params))
        return cost.own, cost
    return row


def repeats(here, count, times):
    """Each of `times` more pages, asked for as soon as the first is there: the index is still being made."""
    def measured(server, _):
        for number in range(times):
            list_page(server, number + 1)

    def row(bench, binary):
        write_sessions(bench.home, count)
        return threads.run(here, bench, binary, [threads.UNUSED], lambda server: list_page(server, 0), measured, times)
    return row


def index_whole(here, count):
    """Wall seconds from the first page until the process, which is asked nothing more, has no more work."""
    def row(bench, binary):
        write_sessions(bench.home, count)
        server = threads.Server(binary, bench, "http://127.0.0.1:9/v1", here)
        try:
            list_page(server, 0)
            start = last = time.monotonic()
            before = server.cpu_seconds()
            while time.monotonic() - last < 1.5:
                time.sleep(0.05)
                if server.cpu_seconds() - before > 0.002:
                    last, before = time.monotonic(), server.cpu_seconds()
            cpu = server.cpu_seconds()
            return max(last - start, 1e-6), here.Cost(cpu, cpu, server.kib("VmHWM"), server.stop())
        finally:
            server.process.kill()
    return row


def initialize(here, count):
    """CPU from the start of the program to the response."""
    def row(bench, binary):
        write_sessions(bench.home, count)
        configure(here, bench)
        cost = here.run_process([binary, "app-server"], bench.env, bench.work,
                                talk=lambda process: greet(here, process))
        return cost.cpu, cost
    return row
