/* The virtio-serial ports between guest and host, and what travels over them.
 *
 *   trace    guest -> host   the bytes of hr.bin, from hr_file_header to the END chunk
 *   stdout   guest -> host   the program's bytes
 *   stderr   guest -> host   the program's bytes
 *   log      guest -> host   the kernel's own lines of text
 *   stdin    host -> guest   frames: u32 length, then that many bytes; length 0 is end of file.
 *                            The host sends only after the guest asked, see control
 *   files    guest -> host   struct run_file_message, each followed by `bytes` bytes
 *   control  both ways       struct run_message, fixed size
 *
 * The host keeps every port open until the emulator is gone.  The guest ends a run by sending
 * everything, then RUN_GUEST_DONE, then writing RUN_EXIT_DONE to the debug-exit port (QEMU
 * isa-debug-exit: the emulator's exit status is value * 2 + 1).  A kernel panic writes its report
 * to the first serial port (COM1), which needs no working driver, and then RUN_EXIT_PANIC.
 *
 * To COM1 the guest also writes a line for each step of its start as it begins: RUN_STEP_LINE and
 * one of RUN_STEPS, which come in that order.  The start ends when the trace begins.
 */
#pragma once

#include <stdint.h>

#define RUN_PORT_TRACE "org.microtome.trace"
#define RUN_PORT_STDOUT "org.microtome.stdout"
#define RUN_PORT_STDERR "org.microtome.stderr"
#define RUN_PORT_LOG "org.microtome.log"
#define RUN_PORT_STDIN "org.microtome.stdin"
#define RUN_PORT_FILES "org.microtome.files"
#define RUN_PORT_CONTROL "org.microtome.control"

#define RUN_STDIN_FRAME_MAX 65536u /* bytes of data in one stdin frame */
#define RUN_STDIN_NOTHING UINT32_MAX /* as the length of a frame: no data yet */
#define RUN_DEBUG_EXIT_PORT 0xf4 /* QEMU: -device isa-debug-exit,iobase=0xf4,iosize=4 */

/* Lines of the log at the end of a run: the names that the program looked for and did not find,
 * oldest first; the number of written files that were not kept, and the first of them. */
#define RUN_LOG_MISSING "looked for in vain: "
#define RUN_LOG_DROPPED "files dropped: "
#define RUN_LOG_NO_COUNTER "no counter is left for it"
#define RUN_STEP_LINE "boot step: "
#define RUN_STEPS \
    "memory", "devices", "clock", "transport", "counters", "CPUs", "calibration", "program"

enum run_exit_value { RUN_EXIT_DONE = 0, RUN_EXIT_PANIC = 0x50 };

enum run_message_type {
    RUN_GUEST_READ = 1, /* guest: send at most `value` bytes of stdin in one frame.  flag 0: when
                           there are some; otherwise within flag - 1 milliseconds, or send a frame
                           of length RUN_STDIN_NOTHING */
    RUN_GUEST_DONE = 2, /* guest: all output is sent; `value` is unused */
    RUN_GUEST_CPU = 4, /* guest: which CPU it runs on, so that the host can encode events for it:
                          flag: enum run_cpu_vendor; value: CPUID leaf 1 EAX in bits 31:0, PMU
                          version in 39:32, general counters in 47:40, fixed in 55:48.  Sent only
                          by a kernel that found hardware counters; the host then sends one
                          RUN_HOST_EVENT an event, in order, and RUN_HOST_EVENTS_END, or ends
                          the run with a message when an event does not exist on that CPU */
    RUN_GUEST_WATCH = 3, /* guest: is stdin ready?  The host answers with RUN_HOST_INPUT when it is,
                            or after `value` nanoseconds (UINT64_MAX: never) that it is not; then it
                            answers once more when it is.  flag: the question's number; a new
                            question replaces the old one */
    RUN_HOST_STOP = 16, /* host: end the program as if by signal `value`, HR_EXIT_TIMEOUT if
                           `flag` is 1, HR_EXIT_SIGNAL if 0 */
    RUN_HOST_EVENT = 17, /* host: the encoding of event `flag` (its position): `value` as in the
                            event select register (Intel IA32_PERFEVTSELx, AMD PERF_CTL), event,
                            umask, edge, inv, cmask and, for rings, USR (bit 16) and OS (bit 17);
                            enable and interrupt bits 0 */
    RUN_HOST_EVENT_EXT =
        18, /* host: companion register's value of event `flag`; before its event */
    RUN_HOST_EVENTS_END = 19, /* host: `value` events were sent */
    RUN_HOST_EVENT_COUNTERS = 20, /* host: general counters that may count event `flag` on this CPU
                                     model, a bit each; before its event.  Absent: all */
    RUN_HOST_INPUT = 21, /* host: answer to RUN_GUEST_WATCH number `value`; flag: POLLIN, POLLHUP,
                            POLLERR as Linux has them, 0: not ready */
    RUN_HOST_BROKEN = 22, /* host: the reader of the program's stream `flag` (1, 2) is gone: writes
                             get EPIPE and SIGPIPE from now on */
    RUN_HOST_TEXT = 23, /* host: `flag` bytes (1 to 8) in `value`, the lowest first: a part of a
                           text of at most RUN_TEXT_MAX bytes for the RUN_HOST_ASK after it */
    RUN_HOST_ASK = 24, /* host: a user steers the run; flag: enum run_ask */
};

/* AMD, in place of a counter's select: what instruction-based sampling follows, ops or fetches. The
 * companion's value says which ops: 0 all of them. */
#define RUN_SELECT_IBS_OP (1ull << 48)
#define RUN_SELECT_IBS_FETCH (1ull << 49)
#define RUN_IBS_LOADS 1u
#define RUN_IBS_STORES 2u

#define RUN_TEXT_MAX 255u

enum run_ask {
    RUN_ASK_START = 1, /* as hr_start() of the program */
    RUN_ASK_PAUSE = 2, /* as hr_pause() */
    RUN_ASK_POLL = 3, /* as hr_poll_all(): each CPU that runs a thread */
    RUN_ASK_MARK = 4, /* as hr_mark() with the text, by no thread */
};

enum run_cpu_vendor { RUN_CPU_OTHER = 0, RUN_CPU_INTEL = 1, RUN_CPU_AMD = 2 };

struct run_message {
    uint32_t type;
    uint32_t flag;
    uint64_t value;
};
_Static_assert(sizeof(struct run_message) == 16, "run_message");

/* Files that the program created or changed (manifest keep-files=1), and names that it looked for
 * and did not find (missing=1).  Contents are sent while the program runs or after it has ended, in
 * any order and maybe more than once: the last message about a byte counts.  Names come when the
 * run ends; contents without a name belong to a file that was removed.  Paths are absolute,
 * normalised and not NUL-terminated; a directory comes before what is in it.
 */
enum run_file_type {
    RUN_FILE_DATA = 1, /* `bytes` bytes of file `id` at `offset` */
    RUN_FILE_NAME = 2, /* file `id` is a regular file of `offset` bytes, `mode`; then its path */
    RUN_FILE_DIRECTORY = 3, /* a directory, `mode`; then its path */
    RUN_FILE_LINK = 4, /* a symbolic link: its path is the first `offset` bytes, then the target */
    RUN_FILE_REMOVED = 5, /* a path of the archive that was removed */
    RUN_FILE_MISSING = 6, /* a path that does not exist; each is sent once */
    RUN_FILE_END = 7, /* the last message; `offset`: names of missing=1 left out (too many) */
};

#define RUN_FILE_BYTES_MAX 65536u /* of one message */

struct run_file_message {
    uint32_t type; /* enum run_file_type */
    uint32_t bytes; /* length of what follows */
    uint64_t id; /* a file's own number, constant during the run */
    uint64_t offset;
    uint32_t mode; /* permissions: 07777 */
    uint32_t reserved; /* 0 */
    uint64_t modified; /* nanoseconds since 1970 */
};
_Static_assert(sizeof(struct run_file_message) == 40, "run_file_message");
