"""grpc_prompt.py — one prompt over gRPC: asks before a command runs or a file changes, and prints the answer.

    codex proto --listen http://127.0.0.1:7400 -c approval_policy=untrusted
    python3 grpc_prompt.py 127.0.0.1:7400 "what is in this folder?"

It needs grpcio and protobuf (Debian: python3-grpcio). $CODEX_TOKEN is the token of --token-file, if the server has one.
"""
import json
import os
import queue
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# The two messages of codex.proto that a Session needs; a larger program generates all of them with grpc_tools.protoc.
file = descriptor_pb2.FileDescriptorProto(name="codex/v1/codex.proto", package="codex.v1", syntax="proto3")
for name, fields in ("Submission", [("id", 1, 9), ("op_json", 2, 9)]), \
                    ("Event", [("seq", 1, 4), ("id", 2, 9), ("type", 3, 9), ("msg_json", 4, 9)]):
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        message.field.add(name=field, number=number, type=kind, label=1)
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
Submission, Event = (make(pool.FindMessageTypeByName("codex.v1." + name)) for name in ("Submission", "Event"))

submissions = queue.Queue()


def submit(sub_id, op, **members):
    submissions.put(Submission(id=sub_id, op_json=json.dumps({"type": op, **members})))


channel = grpc.insecure_channel(sys.argv[1], [("grpc.max_receive_message_length", 64 << 20)])
open_session = channel.stream_stream("/codex.v1.Codex/Session", Submission.SerializeToString, Event.FromString)
token = os.environ.get("CODEX_TOKEN")
submit("1", "user_input", items=[{"type": "text", "text": " ".join(sys.argv[2:]) or "hello"}])
failure = None
try:
    for event in open_session(iter(submissions.get, None), metadata=token and [("authorization", "Bearer " + token)]):
        msg = json.loads(event.msg_json)
        if event.type in ("exec_approval_request", "apply_patch_approval_request"):
            print(json.dumps(msg))
            decision = "approved" if input("Allow this? (y/n) ") == "y" else "denied"
            kind = "exec_approval" if event.type.startswith("exec") else "patch_approval"
            submit("answer", kind, id=msg["call_id"], decision=decision)
        elif event.type == "error":
            failure = msg["message"]
            submissions.put(None)
        elif event.type == "task_complete":
            print("" if failure else msg["last_agent_message"], flush=True)
            submissions.put(None)  # the end of input; events follow until shutdown_complete
except grpc.RpcError as error:
    failure = error.details()
sys.exit(failure)
