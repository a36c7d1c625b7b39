"""Feeds traces to commands that follow them, step by step; prints TAP-like lines "ok NAME" or "not ok NAME"."""
import fcntl, json, os, pty, select, shutil, signal, subprocess, sys, time

HR = os.environ["HR"]
LIMIT = 5  # seconds until a follower must have said what is expected


def check(name, good, what=""):
    print(("ok " if good else "not ok ") + name + (f": {what[-300:]!r}" if not good else ""), flush=True)


def plain(*arguments):
    run = subprocess.run([HR, *arguments], capture_output=True)
    return run.returncode, run.stdout, run.stderr


class Writer:
    """Appends to a file, which it has locked as a collector has."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=0)
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def write(self, data):
        self.file.write(data)

    def close(self):
        self.file.close()


class Follower:
    def __init__(self, *arguments, stdin=subprocess.DEVNULL):
        self.process = subprocess.Popen([HR, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.out = b""

    def read_until(self, has):
        """Reads what it prints until has(everything so far)."""
        end = time.monotonic() + LIMIT
        while not has(self.out):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not more:
                return False
            self.out += more
        return True

    def finish(self):
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, self.out + out, err


def samples_of(line):
    try:
        return json.loads(line)["samples"]
    except (ValueError, KeyError):
        return None


def last_samples(count):
    return lambda out: count in [samples_of(line) for line in out.split(b"\n")[:-1]]


def steps(data, count):
    """Cuts at places that are no ends of chunks."""
    cuts = [len(data) * n // count + n for n in range(1, count)]
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]


def grow(trace, count):
    """Every prefix is shown as the plain command shows it, and so is the end.  Names and exact counts come at the end."""
    early = "golden" not in trace
    name, grown, prefix = os.path.basename(trace), "grown.bin", "prefix/grown.bin"
    os.makedirs("prefix", exist_ok=True)
    data = open(trace, "rb").read()
    writer = Writer(grown)
    written = b""
    parts = steps(data, count)
    writer.write(parts[0])
    stat = Follower("stat", "--json", "--interval", "20ms", grown)
    report = Follower("report", "--interval", "20ms", grown)
    tree = Follower("report", "--follow", "--stacks", "-f", "csv", grown)
    for n, part in enumerate(parts):
        if n != 0:
            writer.write(part)
        written += part
        with open(prefix, "wb") as file:
            file.write(written)
        status, out, _ = plain("stat", "--json", prefix)
        if status == 0:
            good = stat.read_until(last_samples(json.loads(out)["samples"]))
            check(f"{name}: hr stat follows, step {n}", good, stat.out[-300:].decode())
            _, table, _ = plain("report", prefix)
            rows = [row for row in table.split(b"\n") if row and not row.startswith(b"#")]
            if rows and early:
                good = report.read_until(lambda out: b"\n".join(rows) in out)
                check(f"{name}: hr report follows, step {n}", good, report.out[-300:].decode())
    writer.close()
    for what, follower, command in [("stat", stat, ["stat", "--json"]), ("report", report, ["report"]),
                                    ("report --stacks", tree, ["report", "--stacks", "-f", "csv"])]:
        status, out, err = plain(*command, grown)
        got = follower.finish()
        check(f"{name}: hr {what} ends as without --follow", got[0] == status and got[1].endswith(out) and got[2] == err,
              f"{got[0]} {got[1][-200:]} {got[2]}")
    return plain("stat", grown)


def lists():
    """Marks and waits are shown as far as they have come; regions come with a trace's last chunk."""
    for view, count in ("marks", 3), ("waits", 3), ("regions", 1):
        data = open(view + ".bin", "rb").read()
        writer, written = Writer("grown.bin"), b""
        for n, part in enumerate(steps(data, count)):
            writer.write(part)
            written += part
            with open("prefix/grown.bin", "wb") as file:
                file.write(written)
            if n == 0:
                follower = Follower("report", "--" + view, "--interval", "20ms", "grown.bin")
            _, out, _ = plain("report", "--" + view, "prefix/grown.bin")
            check(f"hr report --{view} follows, step {n}", len(out) > 50 and follower.read_until(lambda all: out in all), out.decode())
        writer.close()
        _, out, err = plain("report", "--" + view, "grown.bin")
        got = follower.finish()
        check(f"hr report --{view} ends as without --follow", got[0] == 0 and got[1].endswith(out) and got[2] == err, str(got))


def terminal(trace):
    """On a terminal the text is drawn in place, and the end is what the plain command prints there."""
    def run(*arguments):
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm", COLUMNS="80", LINES="24")
            os.execv(HR, [HR, *arguments])
        return pid, fd

    def read(fd, until=None):
        out = b""
        while until is None or until not in out:
            try:
                out += os.read(fd, 65536)
            except OSError:
                break
        return out

    data = open(trace, "rb").read()
    writer = Writer("grown.bin")
    writer.write(data[:len(data) // 2])
    pid, fd = run("stat", "--follow", "grown.bin")
    drawn = read(fd, b"still being written")
    writer.write(data[len(data) // 2:])
    writer.close()
    drawn += read(fd)
    _, status = os.waitpid(pid, 0)
    plain_pid, plain_fd = run("stat", "grown.bin")
    wanted = read(plain_fd)
    os.waitpid(plain_pid, 0)
    check("terminal: drawn in place", b"\033[K\r\n" in drawn and b"A\r\033[J" in drawn, repr(drawn[-300:]))
    check("terminal: the end stays", status == 0 and drawn.endswith(b"\033[J" + wanted), repr(drawn[-300:]))


def half_written(data):
    writer = Writer("grown.bin")
    writer.write(data[:len(data) // 2])
    follower = Follower("stat", "--interval", "20ms", "grown.bin")
    follower.read_until(lambda out: b"still being written" in out)
    return writer, follower


def ends(trace):
    data = open(trace, "rb").read()

    writer, follower = half_written(data)
    follower.process.send_signal(signal.SIGINT)
    status, out, err = follower.finish()
    check("Ctrl-C: the figures so far, marked", status == 0 and b"still being written" in out[-400:] and err == b"", str(err))
    writer.close()

    writer, follower = half_written(data)
    writer.close()
    check("the writer ends too early", follower.finish()[1].endswith(plain("stat", "grown.bin")[1]))

    writer, follower = half_written(data)
    writer.write(b"\x48" * 5000)
    writer.close()
    status, out, _ = plain("stat", "grown.bin")
    check("damage at the end", follower.finish()[1].endswith(out) and b"1 damaged stretches" in out, out.decode())

    writer, follower = half_written(data)
    writer.file.truncate(len(data) // 4)
    status, _, err = follower.finish()
    check("the file becomes shorter", status == 1 and b"became shorter" in err, f"{status} {err}")
    writer.close()

    writer, follower = half_written(data)
    shutil.copy("other.bin", "new.bin")
    os.rename("new.bin", "grown.bin")
    writer.write(data[len(data) // 2:])
    writer.close()
    with open("whole/grown.bin", "wb") as file:
        file.write(data)
    status, out, err = follower.finish()
    wanted = plain("stat", "whole/grown.bin")[1].replace(b"whole/", b"")
    check("the file is replaced: the first one is read to its end", out.endswith(wanted), out[-500:].decode())

    os.remove("grown.bin")
    follower = Follower("stat", "--follow", "grown.bin")
    said = follower.process.stderr.readline()
    shutil.copy("other.bin", "new.bin")
    os.rename("new.bin", "grown.bin")
    status, out, _ = follower.finish()
    check("the file is not there yet", b"waiting for a run" in said and out == plain("stat", "grown.bin")[1], str(said))

    os.remove("grown.bin")
    follower = Follower("report", "--follow", "grown.bin")
    follower.process.stderr.readline()
    follower.process.send_signal(signal.SIGTERM)
    check("stopped before there is a file", follower.finish()[:2] == (0, b""))


def pipes(trace):
    data = open(trace, "rb").read()
    with open("half.bin", "wb") as file:
        file.write(data[:len(data) // 2])
    for command in (["stat", "--json"], ["report"], ["timeline"], ["dump"], ["check"], ["report", "--follow"], ["stat", "--follow", "--json"]):
        for file in (trace, "half.bin"):
            wanted = plain(*[word for word in command if word != "--follow"], file)
            run = subprocess.run([HR, *command, "-"], input=open(file, "rb").read(), capture_output=True)
            same = [text.replace(file.encode(), b"-") for text in wanted[1:]] == [run.stdout, run.stderr]
            check(f"a pipe: hr {' '.join(command)}, {os.path.basename(file)}", same and run.returncode == wanted[0], str(run))
    follower = Follower("stat", "--json", "--interval", "20ms", "-", stdin=subprocess.PIPE)
    follower.process.stdin.write(data[:len(data) // 2])
    follower.process.stdin.flush()
    check("a pipe is followed", follower.read_until(last_samples(json.loads(plain("stat", "--json", "half.bin")[1])["samples"])))
    follower.process.stdin.write(data[len(data) // 2:])
    check("... to its end", follower.finish()[1].endswith(plain("stat", "--json", trace)[1]))
    for input, words in ((b"", b"empty"), (b"no trace at all\n" * 100, b"not a trace")):
        for follow in ([], ["--follow"]):
            run = subprocess.run([HR, "stat", *follow, "-"], input=input, capture_output=True)
            check(f"a pipe with {words.decode()} {' '.join(follow)}", run.returncode == 2 and words in run.stderr, str(run))
    end, start = os.pipe()
    os.set_blocking(end, False)
    follower = Follower("stat", "--json", "-", stdin=end)
    time.sleep(0.2)  # it finds nothing at first
    if follower.process.poll() is None:
        os.write(start, data[:1000])
        os.close(end)
        with os.fdopen(start, "wb") as file:
            file.write(data[1000:])
    check("a pipe that does not wait", follower.finish()[1] == plain("stat", "--json", trace)[1])
    writer, follower = half_written(data)
    follower.process.stdout.close()
    check("its reader ends", follower.process.wait(LIMIT) == -signal.SIGPIPE)
    writer.close()


os.makedirs("whole", exist_ok=True)
for trace in sys.argv[1:]:
    grow(trace, 4)
lists()
terminal(sys.argv[1])
ends(sys.argv[1])
pipes(sys.argv[1])
