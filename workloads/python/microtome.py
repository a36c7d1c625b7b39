"""A Python program under Microtome controls how it is sampled: libhr (include/hr.h) through ctypes.

    import microtome

    with microtome.region("parse"):
        ...
    microtome.mark("parsed")

On ordinary Linux, and where libhr.so is not found, everything runs and does nothing; status_text()
says which.  Functions return what libhr's do: 0, or a negative errno, -ENOSYS for nothing done.
libhr.so is looked for as $MICROTOME_LIBHR says, next to this file, in .., ../lib and ../../build, and
by the loader.  Under Microtome one line on stderr says that it was not found.
"""

import contextlib
import ctypes
import errno
import os
import sys

THIS_CPU = 0
ALL_CPUS = 1
_EVENTS_LIMIT = 13


class _Region(ctypes.Structure):  # struct hr_region
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("id", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    candidates = [os.path.join(here, part, "libhr.so") for part in ("", "..", "../lib", "../../build")]
    for path in [os.environ.get("MICROTOME_LIBHR", "")] + candidates + ["libhr.so"]:
        if path != "libhr.so" and not os.path.isfile(path):
            continue
        try:
            return ctypes.CDLL(path)
        except OSError:
            pass  # not there, or of another machine: the next one
    return None


_library = _load()
if _library:
    _library.hr_status_text.restype = ctypes.c_char_p
    _library.hr_event_name.restype = ctypes.c_char_p
    _library.hr_mark.argtypes = [ctypes.c_char_p]
    for _name in ("begin", "end", "join", "block"):
        getattr(_library, "hr_request_" + _name).argtypes = [ctypes.c_uint64]
    _library.hr_region_begin.argtypes = [ctypes.POINTER(_Region)]
    _library.hr_region_end.argtypes = [ctypes.POINTER(_Region)]
elif os.uname().release.endswith("-microtome"):
    print(
        "microtome: libhr.so was not found: regions, marks and requests are missing; hr run --file PATH/libhr.so "
        "--env MICROTOME_LIBHR=PATH/libhr.so gives it",
        file=sys.stderr,
    )
_regions = {}  # by name: libhr keeps their addresses, so they stay for good


def _call(name, *arguments):
    return getattr(_library, name)(*arguments) if _library else -errno.ENOSYS


def available():
    """True under Microtome."""
    return _call("hr_available") == 1


def status_text():
    """Where the program runs, in words."""
    return _library.hr_status_text().decode() if _library else "libhr.so was not found: calls do nothing"


def start():
    """Lets the trigger of all CPUs continue."""
    return _call("hr_start")


def pause():
    """Stops the trigger of all CPUs; counters continue."""
    return _call("hr_pause")


def poll(scope=THIS_CPU):
    """Takes a sample now."""
    return _call("hr_poll", scope)


def log():
    """Returns when everything sampled so far has left the guest."""
    return _call("hr_log")


def poll_log():
    """poll() and log()."""
    return _call("hr_poll_log")


def mark(name):
    """Puts a text at this time into the trace."""
    return _call("hr_mark", name.encode())


def events():
    """The names of the counters."""
    return [_library.hr_event_name(i).decode() for i in range(max(0, _call("hr_event_count")))]


def read():
    """The counters' values, in the order of events(); [] where there are none.

    Subtract two modulo 2 ** width(i).
    """
    values = (ctypes.c_uint64 * _EVENTS_LIMIT)()
    if _call("hr_read", values) != 0:
        return []
    return list(values[: _call("hr_event_count")])


def width(event):
    """Bits of an event's values."""
    return _call("hr_event_width", event)


@contextlib.contextmanager
def region(name):
    """What the counters and the clock count in this block, in the trace under this name."""
    if not available():
        yield
        return
    found = _regions.get(name)
    if found is None:
        found = _regions.setdefault(name, _Region(name.encode(), 0, 0))
    _library.hr_region_begin(found)
    try:
        yield
    finally:
        _library.hr_region_end(found)


@contextlib.contextmanager
def paused():
    """The trigger is stopped within this block."""
    pause()
    try:
        yield
    finally:
        start()


def request_begin(number):
    """A request begins; this thread works for it from now on."""
    return _call("hr_request_begin", number)


def request_end(number):
    """A request ends, whichever threads worked for it."""
    return _call("hr_request_end", number)


def request_join(number):
    """This thread works for a request from now on."""
    return _call("hr_request_join", number)


def request_leave():
    """This thread works for no request from now on."""
    return _call("hr_request_leave")


def request_block(number):
    """A request waits, in a queue for example, until a thread joins it."""
    return _call("hr_request_block", number)


@contextlib.contextmanager
def request(number):
    """A request that lasts as long as this block."""
    request_begin(number)
    try:
        yield
    finally:
        request_end(number)


@contextlib.contextmanager
def joined(number):
    """This thread works for a request within this block."""
    request_join(number)
    try:
        yield
    finally:
        request_leave()
