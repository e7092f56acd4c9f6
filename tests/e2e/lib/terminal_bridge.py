"""Runs a command in a pseudo terminal and carries its bytes: a bridge for tests, without a compiler.

    terminal_bridge.py ROWS COLUMNS COMMAND...

Lines on standard input: "i BASE64" types bytes, "r ROWS COLUMNS" resizes the window, "s SIGNAL" signals the command,
"c" closes the terminal, "p SECONDS" reads nothing from it for so long. Standard output is what the command writes to
the terminal. The last line of standard error is "status N restored", with the exit status as a shell gives it, and
"changed" if the terminal's modes are not those from before.
"""
import base64
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def drain(terminal):
    """Passes on what the command has written. False: nothing was there."""
    if not select.select([terminal], [], [], 0)[0]:
        return False
    sys.stdout.buffer.write(os.read(terminal, 65536))
    sys.stdout.flush()
    return True


class Bridge:
    def __init__(self, rows, columns, command):
        self.terminal, self.slave = os.openpty()
        resize(self.terminal, rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.child = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                      start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.pending = b""
        self.is_closed = False
        self.paused_until = 0

    def obey(self, line):
        word, _, rest = line.partition(" ")
        if word == "i":
            os.write(self.terminal, base64.b64decode(rest))
        elif word == "r":
            resize(self.terminal, *map(int, rest.split()))
        elif word == "s":
            os.kill(self.child.pid, getattr(signal, rest))
        elif word == "p":
            self.paused_until = time.monotonic() + float(rest)
        elif word == "c":
            os.close(self.slave)
            os.close(self.terminal)
            self.is_closed = True

    def read_lines(self):
        data = os.read(0, 65536)
        self.pending += data
        *lines, self.pending = self.pending.split(b"\n")
        for line in lines:
            self.obey(line.decode())
        return bool(data)

    def carry(self):
        ended = os.pidfd_open(self.child.pid)
        has_input = True
        while True:
            pause = max(0, self.paused_until - time.monotonic())
            terminal = [] if self.is_closed or pause else [self.terminal]
            ready = select.select([ended, *terminal, *([0] if has_input else [])], [], [], pause or None)[0]
            if terminal and self.terminal in ready:
                drain(self.terminal)
            if 0 in ready:
                has_input = self.read_lines()
            if ended in ready:
                break
        while not self.is_closed and drain(self.terminal):
            pass

    def report(self):
        status = self.child.wait()
        is_same = self.is_closed or termios.tcgetattr(self.slave) == self.before
        print(f"status {status if status >= 0 else 128 - status} {'restored' if is_same else 'changed'}",
              file=sys.stderr, flush=True)


if __name__ == "__main__":
    bridge = Bridge(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    bridge.carry()
    bridge.report()
