"""Executes a command with a socket as descriptor 3, as systemd does; {pid} in a variable is the command's id.

    pass_socket.py KIND ADDRESS [NAME=VALUE...] -- COMMAND...

KIND: unix, tcp (ADDRESS is an IP; the port is printed), udp, abstract, idle (not listening), file.
"""
import os
import socket
import sys


def make(kind, address):
    if kind == "file":
        return os.open("/dev/null", os.O_RDONLY)
    family = socket.AF_INET if kind in ("tcp", "udp") else socket.AF_UNIX
    made = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    made.bind((address, 0) if family == socket.AF_INET else "\0" + address if kind == "abstract" else address)
    if kind not in ("udp", "idle"):
        made.listen()
    if kind == "tcp":
        print(made.getsockname()[1], flush=True)
    return made.detach()


def main(args):
    split = args.index("--")
    kind, address, *variables = args[:split]
    command = args[split + 1:]
    made = make(kind, address)
    if made != 3:
        os.dup2(made, 3)
    os.set_inheritable(3, True)
    for variable in variables:
        name, _, value = variable.partition("=")
        os.environ[name] = value.replace("{pid}", str(os.getpid()))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
