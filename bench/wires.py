"""The cost of the wires beside that of Responses: of a turn in a session of 100, and of a delta.

The model is this process, which answers every request from memory, so that the rows differ by their wire alone.

As a program, `bench/wires.py build/codex` prints the instructions of a delta, which valgrind counts: other work on the
machine does not change them.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

TURNS, DELTAS = 100, 100000
TEXT = "twenty bytes of it. "

CONFIG = """model = "a-model"
model_context_window = 200000
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "{url}"
wire_api = "{wire}"
"""


def named(*events):
    return "".join("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event)) for event in events)


def plain(*chunks):
    return "".join("data: %s\n\n" % json.dumps(chunk) for chunk in chunks) + "data: [DONE]\n\n"


def item(value):
    return {"type": "response.output_item.done", "output_index": 0, "item": value}


def responses(deltas, call):
    end = {"type": "response.completed", "response": {"id": "r", "usage": None}}
    if call:
        return named(item({"type": "function_call", "name": "no_such_tool", "arguments": "{}", "call_id": call}), end)
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": TEXT}
    message = {"type": "message", "role": "assistant", "id": "m", "content": []}
    begin = {"type": "response.output_item.added", "output_index": 0, "item": message}
    whole = dict(message, content=[{"type": "output_text", "text": TEXT * deltas}])
    return named(begin) + named(delta) * deltas + named(item(whole), end)


def chat(deltas, call):
    def chunk(delta, reason=None):
        return {"id": "c", "object": "chat.completion.chunk", "created": 1700000000, "model": "a-model",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if call:
        function = {"name": "no_such_tool", "arguments": "{}"}
        calls = [{"index": 0, "id": call, "type": "function", "function": function}]
        return plain(chunk({"role": "assistant", "content": None, "tool_calls": calls}), chunk({}, "tool_calls"))
    delta = "data: %s\n\n" % json.dumps(chunk({"content": TEXT}))
    return delta * deltas + plain(chunk({}, "stop"))


def messages(deltas, call):
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": {"input_tokens": 1}}}
    tool = {"type": "tool_use", "id": call, "name": "no_such_tool", "input": {}}
    block = tool if call else {"type": "text", "text": ""}
    begin = {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}
    reason = {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn"}}
    stop = {"type": "content_block_stop", "index": 0}
    return named(start, begin) + named(delta) * deltas + named(stop, reason, {"type": "message_stop"})


WIRES = {"responses": responses, "chat": chat, "messages": messages}


class Server:
    """Answers the requests of one run, the last of them with `deltas`, the others with a call."""

    def __init__(self, wire, calls, deltas):
        answers = [WIRES[wire](0, "call_%d" % i).encode() for i in range(calls)] + [WIRES[wire](deltas, None).encode()]
        answers.reverse()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                answer = answers.pop()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/v1" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def run(tools, bench, wire, calls, deltas):
    server = Server(wire, calls, deltas)
    try:
        (bench.home / "config.toml").write_text(CONFIG.format(url=server.url, wire=wire))
        options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return tools.run_process([tools.OURS, "exec"] + options + ["hi"], bench.env, bench.work)
    finally:
        server.stop()


def over_hi(tools, bench, wire, calls, deltas):
    """CPU beyond that of a run with one short answer."""
    run(tools, bench, wire, 0, 1)
    base, cost = run(tools, bench, wire, 0, 1), run(tools, bench, wire, calls, deltas)
    cost.status = cost.status or base.status
    return max(cost.own - base.own, 1e-6), cost


def turn(tools, wire):
    def row(bench, binary):
        seconds, cost = over_hi(tools, bench, wire, TURNS, 1)
        return seconds / TURNS, cost
    row.is_ours_alone = True
    return row


def delta(tools, wire):
    def row(bench, binary):
        seconds, cost = over_hi(tools, bench, wire, 0, DELTAS)
        return seconds / DELTAS, cost
    row.is_ours_alone = True
    return row


def beside_responses(row, wire):
    """For --check: the cost of this wire, and that of Responses as the floor."""
    def compare(tools, bench):
        ours, cost = row(tools, wire)(bench, tools.OURS)
        floor, other = row(tools, "responses")(bench, tools.OURS)
        return (ours if cost.status == 0 and other.status == 0 else float("inf")), floor
    return compare


def instructions(binary, wire, deltas):
    server = Server(wire, 0, deltas)
    try:
        with tempfile.TemporaryDirectory() as home:
            (pathlib.Path(home) / "config.toml").write_text(CONFIG.format(url=server.url, wire=wire))
            valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
            options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
            run = subprocess.run(valgrind + [binary, "exec"] + options + ["hi"], env=dict(os.environ, CODEX_HOME=home),
                                 cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    finally:
        server.stop()
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main():
    binary, deltas, floor = os.path.abspath(sys.argv[1]), 20000, None
    for wire in WIRES:
        count = (instructions(binary, wire, deltas) - instructions(binary, wire, 1)) / deltas
        floor = floor or count
        print("%s: %d instructions a delta, %.2fx" % (wire, count, count / floor))


if __name__ == "__main__":
    main()
