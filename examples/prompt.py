"""prompt.py — one prompt through libcodex: asks before a command runs or a file changes, and prints the answer.

    python3 prompt.py "what is in this folder?"

It needs only ctypes. If the library is not in the linker's path, set LD_LIBRARY_PATH to its folder.
"""
import ctypes
import json
import sys

lib = ctypes.CDLL("libcodex.so.0")
TEXT_OUT = ctypes.POINTER(ctypes.c_void_p)  # c_char_p would copy the text, and the original could not be freed
lib.codex_create.restype = ctypes.c_void_p
lib.codex_create.argtypes = [ctypes.c_char_p, TEXT_OUT]
lib.codex_submit.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
lib.codex_next_event.argtypes = [ctypes.c_void_p, ctypes.c_int, TEXT_OUT]
lib.codex_free.argtypes = [ctypes.c_void_p]
lib.codex_destroy.argtypes = [ctypes.c_void_p]


def take(text):
    """Converts a text of the library to a str, and frees it."""
    value = ctypes.string_at(text).decode()
    lib.codex_free(text)
    return value


class Codex:
    def __init__(self, **options):
        error = ctypes.c_void_p()
        self.handle = lib.codex_create(json.dumps(options).encode(), error)
        if not self.handle:
            raise RuntimeError(take(error))

    def submit(self, sub_id, op, **members):
        line = json.dumps({"id": sub_id, "op": {"type": op, **members}}).encode()
        if lib.codex_submit(self.handle, line, len(line)) != 0:
            raise ValueError(line)

    def events(self):
        event = ctypes.c_void_p()
        while lib.codex_next_event(self.handle, -1, event) == 0:
            yield json.loads(take(event))["msg"]
        lib.codex_destroy(self.handle)


codex = Codex(config=["approval_policy=untrusted"])
codex.submit("0", "configure_session")
codex.submit("1", "user_input", items=[{"type": "text", "text": " ".join(sys.argv[1:]) or "hello"}])
failure = None
for msg in codex.events():
    if msg["type"] in ("exec_approval_request", "apply_patch_approval_request"):
        print(json.dumps(msg))
        kind = "exec_approval" if "command" in msg else "patch_approval"
        decision = "approved" if input("Allow this? (y/n) ") == "y" else "denied"
        codex.submit("2", kind, id=msg["call_id"], decision=decision)
    elif msg["type"] == "error" and not failure:  # no key, no model, …: no task_complete follows
        failure = msg["message"]
        codex.submit("3", "shutdown")
    elif msg["type"] == "task_complete" and not failure:
        print(msg["last_agent_message"])
        codex.submit("3", "shutdown")
sys.exit(failure)
