# Terminals: pairs made by pty, their modes and line editing, sessions and job control, an interactive shell.
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


def attempt(what, *arguments):
    try:
        return what(*arguments)
    except OSError as e:
        return errno.errorcode[e.errno]
    except termios.error as e:
        return errno.errorcode[e.args[0]]


def ready(fd):
    p = select.poll()
    p.register(fd, select.POLLIN | select.POLLOUT)
    return [e for _, e in p.poll(0)]


# What the master has to read, which may be nothing.
def shown(fd):
    out = b""
    while select.select([fd], [], [], 0.05)[0]:
        out += os.read(fd, 4096)
    return out


# What is typed arrives some time later, as on any terminal.
def until(what):
    for _ in range(1000):
        if what():
            return True
        time.sleep(0.01)
    return False


def type_at(m, s, text):
    os.write(m, text)
    return until(lambda: select.POLLIN & sum(ready(s)))


def modes(fd):
    return [x if isinstance(x, int) else [ord(c) if isinstance(c, bytes) else c for c in x] for x in termios.tcgetattr(fd)]


def change(fd, off=0, on=0, least=1, tenths=0):
    a = termios.tcgetattr(fd)
    a[3] = a[3] & ~off | on
    a[6][termios.VMIN], a[6][termios.VTIME] = least, tenths
    termios.tcsetattr(fd, termios.TCSANOW, a)


def lines():
    m, s = pty.openpty()
    print(os.isatty(s), os.isatty(m), os.ttyname(s).startswith("/dev/pts/"), os.stat(s).st_rdev == os.stat(os.ttyname(s)).st_rdev)
    print(modes(s), ready(m), ready(s))
    for typed in (b"line\n", b"abc\x7f\x7fx\x15new\n", b"two words\x17more\n", b"\x16\x04lit\x16\x03\r", b"a\x01\x7f\x7f\x7fz\n",
                  b"part\x04", b"\x04", b"tab\t\x7f\x7fs\n", b"one\ntwo\nthr"):
        type_at(m, s, typed)
        print(typed, ready(s), os.read(s, 100), shown(m))
    print(fcntl.ioctl(s, termios.FIONREAD, b"\0\0\0\0"), os.read(s, 2), os.read(s, 100), ready(s))
    termios.tcflush(s, termios.TCIFLUSH)
    os.write(m, b"x" * 3000)
    shown(m)
    type_at(m, s, b"y" * 3000 + b"\n")
    shown(m)
    got = os.read(s, 9999)
    print(len(got), got[-2:])
    os.write(s, b"a\nb\tc\r\n")
    print(shown(m))
    change(s, off=termios.ECHO, on=termios.ECHONL)
    type_at(m, s, b"quiet\n")
    print(os.read(s, 100), shown(m))
    os.close(s)
    print(attempt(os.read, m, 10), ready(m))
    os.close(m)


def raw():
    m, s = pty.openpty()
    type_at(m, s, b"typed before\n")
    change(s, off=termios.ICANON | termios.ECHO | termios.ISIG)
    print(os.read(s, 5), os.read(s, 50), shown(m))
    type_at(m, s, b"\x03\x04\x7f")
    print(os.read(s, 50))
    change(s, off=termios.ICANON, least=0)
    print(os.read(s, 50))
    change(s, off=termios.ICANON, least=0, tenths=1)
    print(os.read(s, 50))
    change(s, off=termios.ICANON, least=3, tenths=1)
    os.write(m, b"ab")  # not enough to be ready
    print(os.read(s, 50))
    os.write(m, b"abcd")
    print(os.read(s, 50))
    type_at(m, s, b"left")
    change(s, on=termios.ICANON)
    print(ready(s), os.read(s, 50))
    os.set_blocking(m, False)
    os.set_blocking(s, False)
    print(attempt(os.read, m, 1), attempt(os.read, s, 1))
    os.write(m, b"\x13")
    print(until(lambda: not ready(s)), attempt(os.write, s, b"stopped"))
    os.write(m, b"\x11")
    print(until(lambda: ready(s)), os.write(s, b"started"), os.read(m, 20))
    fcntl.ioctl(m, termios.TIOCSWINSZ, struct.pack("4H", 33, 44, 5, 6))
    print(struct.unpack("4H", fcntl.ioctl(s, termios.TIOCGWINSZ, b"\0" * 8)))
    os.close(m)
    print(ready(s), os.read(s, 10), attempt(os.write, s, b"x"), attempt(termios.tcgetattr, s))
    os.close(s)


def status_of(pid, flags=0):
    status = os.waitpid(pid, flags)[1]
    if os.WIFSTOPPED(status):
        return signal.Signals(os.WSTOPSIG(status)).name
    return os.waitstatus_to_exitcode(status)


def child(body):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = body() or 0
        finally:
            os._exit(code)
    return pid


# A group of the background: what it may do with its terminal.
def background(fd):
    def in_group(body):
        def run():
            os.setpgid(0, 0)
            return body()

        return child(run)

    for body in (lambda: os.read(fd, 1) and 1, lambda: change(fd), lambda: os.tcsetpgrp(fd, os.getpgrp())):
        pid = in_group(body)
        print(status_of(pid, os.WUNTRACED), end=" ")
        os.kill(pid, signal.SIGKILL)
        print(status_of(pid))
    for number in (signal.SIGTTIN, signal.SIGTTOU):
        old = signal.signal(number, signal.SIG_IGN)
        print(status_of(in_group(lambda: attempt(os.read, fd, 1) == "EIO" and 7)) if number == signal.SIGTTIN else
              status_of(in_group(lambda: os.tcsetpgrp(fd, os.getpgrp()) or os.getpgrp() == os.tcgetpgrp(fd))))
        os.tcsetpgrp(fd, os.getpgrp())
        signal.signal(number, old)
    pid = in_group(lambda: os.write(fd, b"") or 5)
    print(status_of(pid))


def session():
    m, s = pty.openpty()

    def leader():
        print(attempt(os.tcgetpgrp, s), attempt(os.open, "/dev/tty", os.O_RDWR))
        os.setsid()
        print(attempt(fcntl.ioctl, s, termios.TIOCNOTTY), attempt(fcntl.ioctl, s, termios.TIOCSCTTY, 0))
        print(os.tcgetpgrp(s) == os.getpgrp(), os.ttyname(os.open("/dev/tty", os.O_RDWR)), attempt(os.tcsetpgrp, s, 999999))
        with open("/proc/self/stat") as f:
            fields = f.read().split()
        print(int(fields[6]) == os.fstat(s).st_rdev, int(fields[7]) == os.getpgrp())
        background(s)
        change(s, on=termios.TOSTOP)
        pid = child(lambda: os.setpgid(0, 0) or os.write(s, b"x") and 1)
        print(status_of(pid, os.WUNTRACED))
        os.kill(pid, signal.SIGKILL)
        status_of(pid)
        signal.signal(signal.SIGWINCH, lambda *_: print("SIGWINCH"))
        fcntl.ioctl(s, termios.TIOCSWINSZ, struct.pack("4H", 1, 2, 3, 4))
        for key, name in ((b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT"), (b"\x1a", "SIGTSTP")):
            signal.signal(getattr(signal, name), lambda number, _: print(signal.Signals(number).name))
            os.write(m, key)
            time.sleep(0.2)
        print(shown(m))
        signal.signal(signal.SIGHUP, lambda *_: print("SIGHUP"))
        os.close(m)
        time.sleep(0.2)
        print(attempt(os.tcgetpgrp, s), attempt(os.open, "/dev/tty", os.O_RDWR))
        sys.stdout.flush()

    pid = child(leader)
    os.close(m)
    print(status_of(pid))


# What an interactive shell prints until its prompt has come `times` more often.
class Shell:
    def __init__(self, *command):
        sys.stdout.flush()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="PROMPT ", TERM="dumb", LC_ALL="C")
            os.execvp(command[0], command)

    def until(self, text):
        out = b""
        while text not in out:
            out += os.read(self.fd, 1000)
        return out

    def say(self, line, text=b"PROMPT "):
        os.write(self.fd, line)
        out = self.until(text).replace(b"\r", b"")
        print(re.sub(rb"\[1] \d+", b"[1] PID", out).split(b"\n"))


def shell():
    bash = Shell("bash", "--norc", "--noprofile", "-i")
    bash.until(b"PROMPT ")
    bash.say(b"echo $((6*7)); stty size; tty | cut -c 1-9\n")
    bash.say(b"sleep 100 # for ever\n", b"ever\r\n")
    time.sleep(0.5)
    bash.say(b"\x1a")
    bash.say(b"bg >/dev/null; jobs\n")
    bash.say(b"kill %1; wait 2>/dev/null; jobs\n")
    os.write(bash.fd, b"cat >/dev/null &\n")
    out = bash.until(b"PROMPT ")
    while b"Stopped" not in out:
        time.sleep(0.1)
        os.write(bash.fd, b"\n")
        out = bash.until(b"PROMPT ")
    bash.say(b"fg\n", b"cat > /dev/null\r\n")
    os.write(bash.fd, b"text\n\x04")
    bash.until(b"PROMPT ")
    bash.say(b"echo $?\n")
    bash.say(b"sleep 100 # again\n", b"again\r\n")
    time.sleep(0.5)
    bash.say(b"\x03")
    bash.say(b"echo $?\n")
    os.write(bash.fd, b"exit 5\n")
    print(status_of(bash.pid))


if sys.argv[1:] == ["command"]:
    background(0)
else:
    lines()
    raw()
    session()
    shell()
