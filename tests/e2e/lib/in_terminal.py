"""Runs a command in a terminal, types Ctrl-C when a file has content, and ends with the command's status.

    in_terminal.py FILE COMMAND...
"""
import os
import pty
import sys
import time


def main(mark, command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    while not os.path.exists(mark) or not os.path.getsize(mark):
        time.sleep(0.01)
    os.write(terminal, b"\x03")
    try:
        while data := os.read(terminal, 65536):
            sys.stdout.buffer.write(data)
    except OSError:  # the last process of the terminal has ended
        pass
    sys.stdout.flush()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
