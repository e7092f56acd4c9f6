"""Runs a command in a pseudo terminal and carries its bytes: a bridge for tests, without a compiler.

    terminal_bridge.py ROWS COLUMNS COMMAND...

Lines on standard input: "i BASE64" types bytes, "r ROWS COLUMNS" resizes the window, "s SIGNAL" signals the command,
"c" closes the terminal, "p" reads nothing from it until "u", "f" waits until what was not read fills it. "w" waits
until the command has read what was typed and sleeps, and then answers with the line "rests MS BYTES" on standard
error: the time until it wakes up by itself, -1 for never, and the bytes on standard output so far. What is typed
waits until the command has read what was typed before, so that keys of different lines do not arrive at once.

Standard output is what the command writes to the terminal. The last line of standard error is "status N restored", with
the exit status as a shell gives it, and "changed" if the terminal's modes are not those from before.
"""
import base64
import collections
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


def unread(terminal):
    """The bytes that were not read from this side."""
    select.select([terminal], [], [], 0)  # the system hands over what was written a little later, or when it is polled
    return struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0\0\0\0"))[0]


EPOLL = ("232", "281", "22")  # epoll_wait and epoll_pwait of x86-64, epoll_pwait of aarch64
SELECT = ("270", "72")  # pselect6 of both, in which a shell waits for a key
REST = 100  # longer than the timers of frames, of resizes and of a lone ESC
STUCK = 1  # seconds: what is typed is written although the command does not read
STEP = 0.002  # seconds between two looks
FULL = 4000  # bytes of which a terminal shows at least so many once it is full


def sleep_of(pid):
    """Milliseconds for which a process sleeps in its loop, -1 without a limit; None: it works."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return None
    if words[0] in SELECT and int(words[5], 16) == 0:
        return -1
    return struct.unpack("i", struct.pack("I", int(words[4], 16) & 0xffffffff))[0] if words[0] in EPOLL else None


class Bridge:
    def __init__(self, rows, columns, command):
        self.terminal, self.slave = os.openpty()
        resize(self.terminal, rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.child = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                      start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.pending = b""
        self.lines = collections.deque()
        self.written = 0
        self.is_closed = self.is_paused = False
        self.typed_at = self.filled = 0

    def drain(self):
        """Passes on what the command has written. False: nothing was there."""
        if self.is_closed or not select.select([self.terminal], [], [], 0)[0]:
            return False
        data = os.read(self.terminal, 65536)
        self.written += len(data)
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return True

    def rest(self):
        """As sleep_of, for the program in the foreground: the command, or one that it has started."""
        try:
            return sleep_of(os.tcgetpgrp(self.terminal))
        except OSError:
            return None

    def rests(self):
        """Reports that the command has read what was typed and sleeps, and what it has written. False: it does not."""
        rest = None if unread(self.slave) else self.rest()
        if rest is None or 0 <= rest <= REST:
            return False
        while not self.is_paused and self.drain():
            pass
        print(f"rests {rest} {self.written}", file=sys.stderr, flush=True)
        return True

    def is_full(self):
        """True if the command has filled the terminal, and has written nothing more since the last look."""
        before, self.filled = self.filled, unread(self.terminal)
        return before == self.filled >= FULL and self.rest() is not None

    def obey(self, line):
        """False: it has to wait."""
        word, _, rest = line.partition(" ")
        if word == "i":
            if unread(self.slave) and time.monotonic() < self.typed_at + STUCK:
                return False
            os.write(self.terminal, base64.b64decode(rest))
            self.typed_at = time.monotonic()
        elif word == "w":
            return self.rests()
        elif word == "f":
            return self.is_full()
        elif word == "r":
            resize(self.terminal, *map(int, rest.split()))
        elif word == "s":
            os.kill(self.child.pid, getattr(signal, rest))
        elif word in "pu":
            self.is_paused = word == "p"
        elif word == "c":
            os.close(self.slave)
            os.close(self.terminal)
            self.is_closed = True
        return True

    def read_lines(self):
        data = os.read(0, 65536)
        self.pending += data
        *lines, self.pending = self.pending.split(b"\n")
        self.lines.extend(line.decode() for line in lines)
        return bool(data)

    def carry(self):
        ended = os.pidfd_open(self.child.pid)
        has_input = True
        while True:
            terminal = [] if self.is_closed or self.is_paused else [self.terminal]
            step = STEP if self.lines else None
            ready = select.select([ended, *terminal, *([0] if has_input else [])], [], [], step)[0]
            if terminal and self.terminal in ready:
                self.drain()
            if 0 in ready:
                has_input = self.read_lines()
            while self.lines and not self.is_closed and self.obey(self.lines[0]):
                self.lines.popleft()
            if ended in ready:
                break
        while self.drain():
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
