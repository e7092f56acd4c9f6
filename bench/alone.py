"""A delta that comes alone: its latency and its CPU, for both programs.

The model is this process: it sends a delta, waits for the line that the program writes to its client, and sends the
next one a moment later. So the time between the two has no other process in it than the program, but it includes what
this process needs to send and to read.
"""
import json
import socket
import statistics
import time

import threads

DELTAS, PAUSE_SECONDS = 300, 0.005
HEAD = (b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
ITEM = {"type": "message", "id": "m", "role": "assistant"}


def event(kind, **fields):
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), json.dumps(dict(type=kind, **fields)).encode())


def item(kind, text):
    content = [{"type": "output_text", "text": text}] if text else []
    return event(kind, output_index=0, item=dict(ITEM, content=content))


def read_request(connection):
    """The request's first line, after the whole request was read."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        seen += connection.recv(1 << 16)
    head, _, body = seen.partition(b"\r\n\r\n")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    left = (int(length[0].split(b":")[1]) if length else 0) - len(body)
    while left > 0:
        left -= len(connection.recv(left))
    return head.split(b"\r\n")[0]


def accept_turn(listener):
    """The connection on which the program requests a response; requests for anything else are refused."""
    while True:
        connection, _ = listener.accept()
        if read_request(connection).split()[1].endswith(b"/responses"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(HEAD + event("response.created", response={"id": "r"}))
            return connection
        connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        connection.close()


def stream(server, connection, count):
    """Seconds from each delta to its line."""
    seconds = []
    connection.sendall(item("response.output_item.added", ""))
    for number in range(count):
        mark = b"word%dx" % number
        delta = event("response.output_text.delta", item_id="m", output_index=0, content_index=0,
                      delta=mark.decode())
        time.sleep(PAUSE_SECONDS)
        start = time.perf_counter()
        connection.sendall(delta)
        server.read([], mark, 1)
        seconds.append(time.perf_counter() - start)
    return seconds


def end(server, connection):
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    connection.sendall(item("response.output_item.done", "words") +
                       event("response.completed", response={"id": "r", "usage": usage}))
    connection.close()
    server.read([], b'"method":"turn/completed"', 1)


def turn(server, listener, thread, count):
    text = [{"type": "text", "text": "hi"}]
    server.write([{"id": "turn", "method": "turn/start", "params": {"threadId": thread, "input": text}}])
    connection = accept_turn(listener)
    before = server.cpu_seconds()
    seconds = stream(server, connection, count)
    cpu = server.cpu_seconds() - before
    end(server, connection)
    return seconds, cpu


def delta(tools, of):
    """of: "cpu" of a delta, or the median of its "latency"."""
    def row(bench, binary):
        listener = socket.create_server(("127.0.0.1", 0))
        server = threads.Server(binary, bench, "http://127.0.0.1:%d/v1" % listener.getsockname()[1], tools)
        try:
            thread, = threads.start_threads(server, 1)
            turn(server, listener, thread, 10)
            seconds, cpu = turn(server, listener, thread, DELTAS)
            value = cpu / DELTAS if of == "cpu" else statistics.median(seconds)
            return value, tools.Cost(cpu, cpu, server.kib("VmHWM"), server.stop())
        finally:
            server.process.kill()
            listener.close()
    return row
