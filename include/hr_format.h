/* The trace (hr.bin) on the wire.  docs/format.md is the norm; this header implements it.
 *
 * All integers are little-endian.  Every struct is naturally aligned with explicit padding that
 * is written as zero and ignored by readers.  A file is one hr_file_header and then chunks; a
 * chunk is one hr_chunk_header and a payload of records; a record is one hr_record_header and a
 * body.  Readers skip record and chunk types that they do not know.
 */
#ifndef INCLUDE_HR_FORMAT_H
#define INCLUDE_HR_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define HR_FILE_MAGIC "\x89hrbin\r\n" /* eight bytes; detects text-mode damage, as PNG's does */
#define HR_VERSION_MAJOR 1 /* readers refuse another major version */
#define HR_VERSION_MINOR 12 /* readers accept any minor version */

struct hr_file_header {
    uint8_t magic[8];
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t header_bytes; /* offset of the first chunk; at least sizeof this struct */
    uint32_t reserved[11];
    uint32_t crc; /* CRC32C of the bytes before this field */
};
_Static_assert(sizeof(struct hr_file_header) == 64, "hr_file_header");
_Static_assert(offsetof(struct hr_file_header, header_bytes) == 12, "header_bytes");
_Static_assert(offsetof(struct hr_file_header, crc) == 60, "crc");

#define HR_CHUNK_MAGIC 0x4b435248u /* "HRCK" */
#define HR_CHUNK_PAYLOAD_MAX (1u << 20) /* a reader treats a larger payload as damage */
#define HR_CPU_NONE 0xffffu /* the chunk belongs to no CPU */

enum hr_chunk_type {
    HR_CHUNK_META = 1, /* what the trace is about; the first chunk of every file */
    HR_CHUNK_DATA = 2, /* samples and other events of one CPU, in time order */
    HR_CHUNK_END = 3, /* the guest's last chunk: HR_REC_EXIT, HR_REC_TOTAL..., HR_REC_STREAM */
    HR_CHUNK_HOST = 4, /* added by the collector: how the run ended as seen from the host */
    HR_CHUNK_INDEX = 5, /* added by the collector: one hr_index_entry per chunk before it */
};

struct hr_chunk_header {
    uint32_t magic;
    uint16_t type; /* enum hr_chunk_type */
    uint16_t cpu; /* CPU number, or HR_CPU_NONE */
    uint32_t sequence; /* counts the guest's chunks of this CPU from 0; a gap is a loss */
    uint32_t payload_bytes; /* bytes after this header, at most HR_CHUNK_PAYLOAD_MAX */
    uint64_t time_first; /* time of the earliest record, in ticks (see HR_META_CLOCK) */
    uint64_t time_last; /* time of the latest record */
    uint32_t record_count; /* records in the payload, HR_REC_BASE included */
    uint32_t sample_count; /* samples in all sample runs of the payload, but HR_SAMPLE_ASIDE */
    uint64_t lost_count; /* sum over the HR_REC_LOST records of the payload */
    uint32_t reserved[2];
    uint32_t payload_crc; /* CRC32C of the payload */
    uint32_t header_crc; /* CRC32C of the bytes before this field */
};
_Static_assert(sizeof(struct hr_chunk_header) == 64, "hr_chunk_header");
_Static_assert(offsetof(struct hr_chunk_header, time_first) == 16, "time_first");
_Static_assert(offsetof(struct hr_chunk_header, record_count) == 32, "record_count");
_Static_assert(offsetof(struct hr_chunk_header, lost_count) == 40, "lost_count");
_Static_assert(offsetof(struct hr_chunk_header, payload_crc) == 56, "payload_crc");
_Static_assert(offsetof(struct hr_chunk_header, header_crc) == 60, "header_crc");

/* Records lie back to back; a body has `bytes` bytes and is not aligned. */
struct hr_record_header {
    uint8_t type; /* enum hr_record_type */
    uint8_t reserved;
    uint16_t bytes; /* of the body */
};
_Static_assert(sizeof(struct hr_record_header) == 4, "hr_record_header");

enum hr_record_type {
    /* in META chunks */
    HR_META_INFO = 1, /* key NUL value NUL (UTF-8 text); keys in docs/format.md */
    HR_META_CLOCK = 2, /* struct hr_meta_clock */
    HR_META_EVENT = 3, /* struct hr_meta_event, then the name (no NUL) */
    HR_META_SAMPLING = 4, /* struct hr_meta_sampling */
    HR_META_CALIBRATION = 5, /* struct hr_meta_calibration */
    HR_META_MAP = 6, /* struct hr_meta_map, then build-id, then path (no NUL) */
    HR_META_STACKS = 7, /* struct hr_meta_stacks: samples have call stacks */
    HR_META_ACCESSES = 8, /* struct hr_meta_accesses: samples are precise records of accesses */
    HR_REC_PROCESS = 47, /* struct hr_rec_process, then the program's path (no NUL) */
    HR_REC_THREAD = 48, /* struct hr_rec_thread */
    HR_REC_PROCESS_MAP = 49, /* struct hr_rec_process_map, then as HR_META_MAP */
    /* in DATA chunks */
    HR_REC_BASE = 32, /* struct hr_rec_base, then u64 counters[event_count]; first record */
    HR_REC_SAMPLES = 33, /* struct hr_rec_samples, then samples; field widths 0, 1, 2, 3 */
    HR_REC_SAMPLES_WIDE = 34, /* as HR_REC_SAMPLES, with field widths 0, 2, 4, 8 */
    HR_REC_LOST = 35, /* struct hr_rec_lost */
    HR_REC_SYSCALL = 36, /* struct hr_rec_syscall */
    HR_REC_SWITCH = 37, /* struct hr_rec_switch */
    HR_REC_OUTPUT = 38, /* struct hr_rec_output */
    HR_REC_MARK = 39, /* struct hr_rec_mark, then the text (no NUL) */
    HR_REC_GAP = 40, /* struct hr_rec_gap */
    HR_REC_FAULT = 41, /* struct hr_rec_fault */
    HR_REC_PERIOD = 42, /* struct hr_rec_period */
    HR_REC_STACK_NODES = 43, /* frames of call stacks, coded as docs/format.md says */
    HR_REC_STACKS = 44, /* the stacks of the run of samples before it */
    HR_REC_USER_STACKS = 45, /* those stacks as registers and copies of stack memory */
    HR_REC_SKIPPED = 46, /* struct hr_rec_skipped */
    /* in META chunks again: what has no file to find names in */
    HR_META_PYTHON_CODE = 50, /* struct hr_meta_python_code, then name, file, table of lines */
    HR_META_JIT_FILE = 83, /* struct hr_meta_jit_file, then the path (no NUL) */
    HR_META_THREAD_STACK = 85, /* struct hr_meta_thread_stack */
    HR_META_JIT_DATA = 84, /* struct hr_meta_jit_data, then bytes of the file */
    /* probes: the first three in META chunks, the others in DATA chunks */
    HR_META_PROBES = 51, /* struct hr_meta_probes: the trace may have the records below */
    HR_META_PROBE_FUNCTION = 52, /* struct hr_meta_probe_function, then name and path (no NUL) */
    HR_META_PROBE_POINTS = 53, /* struct hr_meta_probe_points, then struct hr_probe_point[count] */
    HR_META_CALLED = 58, /* struct hr_meta_called, in META chunks */
    HR_REC_PROBES = 54, /* struct hr_rec_probes, then hits; field widths 0, 1, 2, 3 */
    HR_REC_PROBES_WIDE = 55, /* as HR_REC_PROBES, with field widths 0, 2, 4, 8 */
    HR_REC_REQUEST = 56, /* struct hr_rec_request */
    HR_REC_WAIT = 57, /* struct hr_rec_wait */
    HR_REC_WAKE = 59, /* struct hr_rec_wake */
    HR_REC_PAGES = 60, /* struct hr_rec_pages, then runs of pages as lib/trace_pages.h codes them */
    HR_REC_ACCESSES = 61, /* accesses of the run of samples before it, as lib/trace_accesses.h codes
                             them */
    HR_REC_MAPPING = 62, /* struct hr_rec_mapping */
    HR_REC_PAGE_FAULT = 63, /* struct hr_rec_page_fault */
    /* in END and HOST chunks */
    HR_REC_EXIT = 64, /* struct hr_rec_exit */
    HR_REC_TOTAL = 65, /* struct hr_rec_total, one per event, in event order */
    HR_REC_STREAM = 66, /* struct hr_rec_stream, one per CPU */
    HR_HOST_END = 67, /* struct hr_host_end, then a message for people (no NUL) */
    HR_REC_REGION = 68, /* struct hr_rec_region, then u64 buckets[bucket_count], then the name */
    HR_REC_NMI = 69, /* struct hr_rec_nmi, one per CPU that takes them */
    HR_REC_ACTIVITY = 70, /* struct hr_rec_activity, one per CPU */
    HR_REC_MACHINE_CPU = 71, /* struct hr_rec_machine_cpu, one per CPU */
    HR_REC_SHARE = 72, /* struct hr_rec_share, one per CPU */
    HR_REC_CALLS = 73, /* struct hr_rec_calls */
    HR_HOST_EXACT = 80, /* struct hr_host_exact */
    HR_HOST_EXACT_COUNTS = 81, /* struct hr_host_exact_counts, then coded counts */
    HR_HOST_FILE = 82, /* struct hr_host_file, then the path (no NUL) */
    /* in INDEX chunks */
    HR_INDEX_ENTRIES = 96, /* an array of struct hr_index_entry */
    HR_INDEX_TRAILER = 97, /* struct hr_index_trailer: the last bytes of the file */
};

#define HR_EVENTS_MAX 13 /* a 128-byte slot holds 13 counters after its other fields */

enum hr_clock_method { /* how the tick frequency was found */
                       HR_CLOCK_VIRTUAL = 1, /* emulation: a tick = an instruction = 1 ns, exact */
                       HR_CLOCK_CPUID_15H = 2,
                       HR_CLOCK_CPUID_16H = 3,
                       HR_CLOCK_HYPERVISOR = 4, /* CPUID 40000010H */
                       HR_CLOCK_KVMCLOCK = 5,
                       HR_CLOCK_CALIBRATED = 6, /* against HPET, ACPI PM timer or PIT */
};

struct hr_meta_clock {
    uint64_t ticks_per_second;
    uint64_t start_ticks; /* time of the program's first instruction; other times are >= it */
    uint64_t start_unix_ns; /* wall time at start_ticks, 0 if unknown */
    uint32_t method; /* enum hr_clock_method */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_meta_clock) == 32, "hr_meta_clock");

enum hr_source { /* where a counter's value came from */
                 HR_SOURCE_NONE = 0,
                 HR_SOURCE_PMU = 1, /* a performance counter */
                 HR_SOURCE_ICOUNT = 2, /* exact, from virtual time */
                 HR_SOURCE_STUB =
                     3, /* a fixed, documented ratio of instructions, not a measurement */
                 HR_SOURCE_MSR = 4, /* a model-specific register that always counts */
                 HR_SOURCE_EMULATOR = 5, /* exact, counted by the emulator */
};

enum { HR_EVENT_USER = 1, HR_EVENT_KERNEL = 2 }; /* hr_meta_event.flags: rings counted */

struct hr_meta_event {
    uint64_t encoding; /* event select as written to the hardware, 0 if none */
    uint64_t encoding_ext; /* a companion register's value, 0 if none */
    uint16_t index; /* position in samples, 0 .. event_count-1 */
    uint8_t source; /* enum hr_source */
    uint8_t width_bits; /* of the hardware counter; 64 for software */
    uint32_t flags;
};
_Static_assert(sizeof(struct hr_meta_event) == 24, "hr_meta_event");

enum hr_mode {
    HR_MODE_OFF = 0,
    HR_MODE_TIMER = 1,
    HR_MODE_IPI = 2,
    HR_MODE_OVERFLOW = 3,
    HR_MODE_PEBS = 4,
    HR_MODE_INSTRUCTED = 5,
    HR_MODE_EXACT = 6, /* no samples: the emulator counts every instruction */
    HR_MODE_LATENCY = 7, /* no samples: hooks of the program's functions record calls */
};

enum { /* hr_meta_sampling.flags */
       HR_SAMPLING_EMULATED = 1, /* no hardware executed the program */
       HR_SAMPLING_INEXACT = 2, /* emulated on several CPUs: neither exact nor repeatable */
       HR_SAMPLING_SHARED = 4, /* one CPU does workload and service; the workload clock stops */
       HR_SAMPLING_PAUSED = 8, /* the trigger waited for the program's hr_start() */
};

struct hr_meta_sampling {
    uint64_t interval_ticks; /* timer modes; 0 in other modes */
    uint64_t period_events; /* overflow modes; 0 in other modes */
    uint32_t mode; /* enum hr_mode */
    uint32_t flags;
    uint32_t event_count; /* 0 .. HR_EVENTS_MAX */
    uint32_t ring_slots; /* capacity of one CPU's ring */
    uint32_t cpu_count; /* CPUs that ran the program */
    uint32_t frequency_hz; /* overflow mode with an adapted period: samples a second; 0: fixed */
};
_Static_assert(sizeof(struct hr_meta_sampling) == 40, "hr_meta_sampling");

struct hr_meta_calibration { /* medians of `rounds` null samples taken before the program */
    uint64_t sample_ticks; /* the whole cost of a sample, exits of a virtual machine included */
    uint64_t read_ticks; /* between the two clock readings of a sample */
    uint64_t rdpmc_ticks; /* one RDPMC; 0 where there is none */
    uint32_t rounds;
    uint32_t late_ticks; /* from when a timer sample was due until it was taken; saturates */
};
_Static_assert(sizeof(struct hr_meta_calibration) == 32, "hr_meta_calibration");

enum { HR_MAP_READ = 1, HR_MAP_WRITE = 2, HR_MAP_EXEC = 4, HR_MAP_KERNEL = 8 };

struct hr_meta_map { /* addresses start to end-1 show the file from file_offset on */
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint32_t flags;
    uint16_t build_id_bytes; /* 0 .. 64 */
    uint16_t path_bytes;
};
_Static_assert(sizeof(struct hr_meta_map) == 32, "hr_meta_map");

/* Processes.  A trace of one process has none of the next three records: all its threads are of
 * HR_FIRST_PID, and its load map is made of HR_META_MAP.  They are in META chunks, in the order of
 * time, which a reader has before the samples. */
#define HR_FIRST_PID 1000u

enum hr_process_kind {
    HR_PROCESS_START = 1, /* by fork, with the load map that the parent has then */
    HR_PROCESS_EXEC = 2, /* it runs another program: its load map begins again, empty */
    HR_PROCESS_EXIT = 3,
};

struct hr_rec_process {
    uint64_t time;
    uint32_t kind; /* enum hr_process_kind */
    uint32_t pid; /* and the tid of its first thread */
    uint32_t parent_pid; /* START; otherwise 0, like the next one */
    uint32_t parent_tid; /* the thread that made it */
    uint32_t status; /* EXIT: as wait4 gives it: exit status * 256, or a signal's number; else 0 */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_process) == 32, "hr_rec_process");

struct hr_rec_thread { /* a thread of a process, other than the first of either */
    uint64_t time;
    uint32_t tid;
    uint32_t pid;
};
_Static_assert(sizeof(struct hr_rec_thread) == 16, "hr_rec_thread");

/* With HR_META_ACCESSES: the memory that a thread other than a process's first one began with as
 * its stack. */
struct hr_meta_thread_stack {
    uint64_t time;
    uint64_t start;
    uint64_t end; /* first address after it */
    uint32_t tid;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_meta_thread_stack) == 32, "hr_meta_thread_stack");

struct hr_rec_process_map { /* a load map of one process from a time on */
    uint64_t time;
    uint32_t pid;
    uint32_t reserved;
    struct hr_meta_map map;
};
_Static_assert(sizeof(struct hr_rec_process_map) == 48, "hr_rec_process_map");
_Static_assert(offsetof(struct hr_rec_process_map, map) == 16, "map");

enum hr_stack_kind {
    HR_STACK_FP = 1, /* frame pointers: HR_REC_STACK_NODES, HR_REC_STACKS */
    HR_STACK_DWARF = 2, /* for unwinding by call frame information: HR_REC_USER_STACKS */
    HR_STACK_PYTHON = 3, /* an interpreter's frames as places in HR_META_PYTHON_CODE, plus 1:
                            HR_REC_STACK_NODES, HR_REC_STACKS */
};

struct hr_meta_stacks {
    uint32_t kind; /* enum hr_stack_kind */
    uint32_t limit; /* FP: frames, DWARF: bytes of a copy, at most */
};
_Static_assert(sizeof(struct hr_meta_stacks) == 8, "hr_meta_stacks");

/* A code object of CPython.  Its `start` is no address of memory but a number that the kernel gave
 * to these contents: another code object at the same address later gets another one. */
#define HR_PYTHON_BASE \
    0x5059000000000000ull /* all starts are at or above: no address of a program */
#define HR_PYTHON_END (HR_PYTHON_BASE + (1ull << 48)) /* and below */
#define HR_PYTHON_UNKNOWN HR_PYTHON_BASE /* a frame whose code object is in no record */

struct hr_meta_python_code {
    uint64_t start;
    uint64_t address; /* where the object was */
    uint32_t
        code_bytes; /* its instructions take the numbers from start to start + code_bytes - 1 */
    uint32_t first_line;
    uint16_t name_bytes; /* then the qualified name, */
    uint16_t file_bytes; /* the file's name, */
    uint16_t line_bytes; /* and the location table as CPython 3.11 has it, maybe cut off */
    uint8_t name_unit; /* bytes of a character: 1 Latin-1, 2 UCS-2, 4 UCS-4 */
    uint8_t file_unit;
};
_Static_assert(sizeof(struct hr_meta_python_code) == 32, "hr_meta_python_code");
_Static_assert(offsetof(struct hr_meta_python_code, name_bytes) == 24, "name_bytes");

enum hr_jit_kind {
    HR_JIT_PERF_MAP = 1, /* lines of text: address, size, name */
    HR_JIT_DUMP = 2, /* perf's jitdump */
};

struct hr_meta_jit_file { /* a file of names that code made at run time left */
    uint64_t bytes; /* its size; HR_META_JIT_DATA may hold less of it */
    uint32_t kind; /* enum hr_jit_kind */
    uint32_t pid; /* as its name says */
    uint32_t number; /* counts the trace's files from 0 */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_meta_jit_file) == 24, "hr_meta_jit_file");

struct hr_meta_jit_data { /* the next part of a file: they come in order */
    uint32_t number; /* of the file */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_meta_jit_data) == 8, "hr_meta_jit_data");

/* A stack is a node of a tree: a return address and the node of the caller.  The root nodes say how
 * the stack ended; other nodes are numbered from HR_STACK_ROOTS.
 */
enum hr_stack_root {
    HR_STACK_NONE = 0, /* no stack was taken */
    HR_STACK_WHOLE = 1, /* it ends where the thread began */
    HR_STACK_CUT = 2, /* there are more frames than were kept */
    HR_STACK_BROKEN = 3, /* the next frame is invalid or cannot be read */
    HR_STACK_ROOTS = 4,
};

#define HR_STACK_FRAMES_MAX 512u /* for -g fp */
#define HR_STACK_NODES_MAX 65536u /* per chunk, roots included */
#define HR_STACK_BYTES_MAX 32768u /* for -g dwarf: its worst coding fits into a record */
#define HR_STACK_LINE_BYTES 64u /* a copy of stack memory is coded in aligned lines */
#define HR_STACK_LINES 1024u /* the coder remembers this many, by line number modulo this */
#define HR_STACK_VALUES 1024u /* remembered register and word values, by hash: a power of two */
#define HR_STACK_REGISTERS 16u /* for -g dwarf: rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15 */

struct hr_rec_base { /* the sample before the chunk's first one; all differences start here */
    uint64_t time;
    uint64_t interval; /* predicted difference of time to the next sample */
    uint64_t ip;
    uint32_t cost_ticks;
    uint32_t event_count;
};
_Static_assert(sizeof(struct hr_rec_base) == 32, "hr_rec_base");

enum { /* hr_rec_samples.flags */
       HR_SAMPLE_KERNEL = 1, /* ip is in ring 0 */
       HR_SAMPLE_LATE = 2, /* taken more than half an interval after it was due */
       HR_SAMPLE_POLLED = 4, /* the program asked for it */
       HR_SAMPLE_RESUMED = 8, /* first after a pause: what was counted since the previous sample
                                 belongs to no place in the program */
       HR_SAMPLE_NO_COUNTERS = 16, /* counters were not read and repeat those of the previous sample
                                      (in overflow mode all but the first event's) */
       HR_SAMPLE_WAITING = 32, /* no sample of the program's running: the thread is about to wait
                                  here.  Such a run has one of them, counters repeat those of the
                                  previous sample, and sample_count does not count it.  The
                                  differences of later samples are those that they would be
                                  without it */
       HR_SAMPLE_CALLED = 64, /* likewise, where the program called an allocator (ip: to where that
                                 returns) or a system call that HR_REC_MAPPING is about, which
                                 follows with the same time and thread */
       HR_SAMPLE_ASIDE = HR_SAMPLE_WAITING | HR_SAMPLE_CALLED,
};

/* A run of samples of one thread with the same flags.  After this struct come `count` samples.
 * Each is a control word of (2 * (3 + event_count) + 7) / 8 bytes, two bits a field from bit 0 up,
 * and then the fields' bytes in the same order.  A two-bit code c means 0, 1, 2, 3 bytes in
 * HR_REC_SAMPLES and 0, 2, 4, 8 bytes in HR_REC_SAMPLES_WIDE.  Fields, all zigzag-coded
 * (v >= 0 -> 2v, v < 0 -> -2v-1) and modulo 2^64:
 *   0  time:  (time - previous time) - (previous time - time before it)
 *   1  ip:    ip - previous ip
 *   2  cost:  cost_ticks - previous cost_ticks
 *   3+ event: (value - previous value) - (previous value - value before it)
 * "Previous" is the previous sample of the chunk, whichever run it is in, or HR_REC_BASE; the
 * first difference of time before the chunk is HR_REC_BASE.interval, that of an event is 0.
 */
struct hr_rec_samples {
    uint32_t tid;
    uint16_t flags;
    uint16_t count; /* at least 1 */
};
_Static_assert(sizeof(struct hr_rec_samples) == 8, "hr_rec_samples");

/* Probes.  A point is an instruction where the kernel stops the program's thread for a moment.  It
 * has a number, and belongs to a function: an invocation of a function begins at the point of its
 * first instruction and ends at one of its returns. */
#define HR_PROBE_POINTS_MAX (1u << 20)
#define HR_PROBE_ARGUMENTS_MAX 6u

struct hr_meta_probes {
    uint32_t function_count; /* numbered from 0, each described by HR_META_PROBE_FUNCTION */
    uint32_t point_count; /* numbered from 0, described by HR_META_PROBE_POINTS */
    uint32_t argument_count; /* values of each hit: 0 .. HR_PROBE_ARGUMENTS_MAX */
    uint32_t flags; /* HR_PROBES_CALLED */
};
_Static_assert(sizeof(struct hr_meta_probes) == 16, "hr_meta_probes");

enum { /* hr_meta_probes.flags */
       HR_PROBES_CALLED = 1, /* functions are those of HR_META_CALLED, and get their numbers when
                                they are first called: the counts are limits */
};

enum hr_probe_kind { /* hr_meta_probe_function.kind */
                     HR_PROBE_FUNCTION = 1, /* invocations: entries and returns */
                     HR_PROBE_PLACE = 2, /* one instruction: it is reached */
};

enum { /* hr_meta_probe_function.flags */
       HR_PROBE_LOOPS = 1, /* it jumps to its first instruction: an entry at the stack pointer of an
                              open invocation of it is no new one.  Otherwise that one was left */
       HR_PROBE_ALLOCATES = 2, /* it allocates or frees memory: hits of its points that are
                                  HR_PROBE_REACHED are calls of it.  Of a function of kind
                                  HR_PROBE_PLACE there are no others */
};

/* The values of a call of an allocator: its hit is at the return, or at the call where it only
 * frees.  Calls within another one of the same thread have none. */
enum {
    HR_ALLOCATION_ADDRESS = 0, /* what it gave; 0: nothing */
    HR_ALLOCATION_BYTES = 1, /* as asked for */
    HR_ALLOCATION_OLD = 2, /* what it took back; 0: nothing */
    HR_ALLOCATION_CALLER = 3, /* to where it returns */
    HR_ALLOCATION_VALUES = 4, /* argument_count is at least this */
};

struct hr_meta_probe_function {
    uint64_t address; /* of its first instruction, or of the place: as in the ELF file */
    uint64_t bytes; /* its size, 0 if unknown */
    uint32_t number;
    uint32_t kind; /* enum hr_probe_kind */
    uint16_t name_bytes; /* of the symbol, or of the place as it was given */
    uint16_t path_bytes; /* of the file that it is in */
    uint32_t flags; /* HR_PROBE_LOOPS, HR_PROBE_ALLOCATES */
};
_Static_assert(sizeof(struct hr_meta_probe_function) == 32, "hr_meta_probe_function");

struct hr_meta_probe_points { /* points first .. first + count - 1, in order */
    uint32_t first;
    uint32_t count;
};
_Static_assert(sizeof(struct hr_meta_probe_points) == 8, "hr_meta_probe_points");

struct hr_probe_point {
    uint64_t address; /* as in the ELF file; parts of a function may be far from its entry */
    uint32_t function;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_probe_point) == 16, "hr_probe_point");

struct hr_meta_called { /* a function of an instrumented program; its points are call sites */
    uint64_t address; /* in the process of that thread at that time */
    uint64_t time; /* of its first call */
    uint32_t number;
    uint32_t tid;
};
_Static_assert(sizeof(struct hr_meta_called) == 24, "hr_meta_called");

enum { /* what a hit says: bits, the lowest two of its point field */
       HR_PROBE_REACHED = 0, /* a place */
       HR_PROBE_ENTERED = 1, /* an invocation begins */
       HR_PROBE_RETURNED = 2, /* an invocation ends; with ENTERED: it begins and ends here */
};

/* A run of hits of one thread, coded as a run of samples is.  The fields are:
 *   0  time:  (time - previous time) - (previous time - time before it)
 *   1  sp:    stack pointer before the instruction - previous one
 *   2  point: (4 * its number + HR_PROBE_*) - previous one
 *   3+ event: (value - previous value) - (previous value - value before it)
 *   then argument_count values: value - previous value of that field.  Of an entry they are the
 *            integer arguments rdi, rsi, rdx, rcx, r8, r9; of a return the first one is rax and
 *            the others are 0; of a place they are the registers of arguments.
 * "Previous" is the previous hit of the chunk.  For the first, the time and the events are those
 * of HR_REC_BASE, its first difference of time and those of events are 0, and all else is 0.  An
 * event's value is the count since the program's start, like a sample's. */
struct hr_rec_probes {
    uint32_t tid;
    uint16_t reserved;
    uint16_t count; /* at least 1 */
};
_Static_assert(sizeof(struct hr_rec_probes) == 8, "hr_rec_probes");

enum hr_request_kind {
    HR_REQUEST_BEGIN = 1, /* it begins, and this thread works for it */
    HR_REQUEST_END = 2, /* it ends; no thread works for it from now on */
    HR_REQUEST_JOIN = 3, /* this thread works for it from now on */
    HR_REQUEST_LEAVE = 4, /* this thread works for none from now on */
    HR_REQUEST_BLOCK = 5, /* as LEAVE, and the request waits until a thread joins it */
};

struct hr_rec_request {
    uint64_t time;
    uint64_t request; /* the program's number for it */
    uint32_t tid;
    uint32_t kind; /* enum hr_request_kind */
};
_Static_assert(sizeof(struct hr_rec_request) == 24, "hr_rec_request");

#define HR_WAIT_NO_CALL 0xffffffffu /* a signal stopped it between two instructions */

struct hr_rec_wait { /* a thread begins to wait: HR_REC_SWITCH at or soon after this time */
    uint64_t time;
    uint64_t address; /* futex: of the word, which a lock begins with; else 0 */
    uint32_t tid;
    uint32_t number; /* of the system call, or HR_WAIT_NO_CALL */
    uint32_t operation; /* futex: FUTEX_* without flags */
    uint32_t joins; /* tid of the thread for whose end it waits; 0: none is known */
};
_Static_assert(sizeof(struct hr_rec_wait) == 32, "hr_rec_wait");

struct hr_rec_wake { /* a thread that waited runs again: HR_REC_SWITCH of the same time follows */
    uint64_t time;
    uint64_t woken; /* when its wait ended: from then on it waited for a CPU */
    uint32_t tid;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_wake) == 24, "hr_rec_wake");
/* Pages that a process touched since the look before it.  A look has as many records as it needs,
 * all with the same time; where a process touched nothing it has none. */
struct hr_rec_pages {
    uint64_t time;
    uint64_t address; /* where the first run of pages begins */
    uint32_t pid;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_pages) == 24, "hr_rec_pages");

enum { /* hr_rec_page_fault.flags */
       HR_PAGE_FAULT_WRITE = 1,
       HR_PAGE_FAULT_FETCH = 2, /* of an instruction */
       HR_PAGE_FAULT_CALL = 4, /* no fault: the kernel touched it for the thread */
};

/* A thread touched memory that was not there for it yet, and got it.  In traces that have
 * HR_REC_PAGES each page fault has one, and each page that a system call filled. */
struct hr_rec_page_fault {
    uint64_t time; /* from when on the thread can use it */
    uint64_t address; /* that it touched */
    uint64_t ip; /* of the instruction, or of the system call's */
    uint32_t tid;
    uint32_t bytes; /* of the page that is there now: 4 KiB or 2 MiB */
    uint32_t flags; /* HR_PAGE_FAULT_* */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_page_fault) == 40, "hr_rec_page_fault");

/* Precise samples: the processor itself wrote a record of each (Intel SDM volume 3B, "Processor
 * Event Based Sampling"), or held it in registers (AMD64 APM volume 2, "Instruction-Based
 * Sampling").  Each sample of the trace has an access then. */
enum { /* hr_meta_accesses.flags */
       HR_ACCESSES_REGISTERS = 1, /* each access has HR_ACCESS_REGISTERS registers */
       HR_ACCESSES_JITTER = 2, /* periods are random around the given ones */
};

enum hr_access_sources { /* hr_meta_accesses.sources: how to read hr_access.source */
                         HR_SOURCES_NONE = 0, /* it means nothing */
                         HR_SOURCES_INTEL = 1, /* "Data Source Encodings" of the CPU's model, which
                                                  the trace tells */
                         HR_SOURCES_AMD = 2, /* lib/ibs_sources.h, up to Zen 3 */
                         HR_SOURCES_AMD_FINE = 3, /* from Zen 4 on */
};

struct hr_meta_accesses {
    uint64_t periods[HR_EVENTS_MAX]; /* events from record to record; 0: the event only counts */
    uint32_t sources; /* enum hr_access_sources */
    uint32_t flags; /* HR_ACCESSES_* */
    uint32_t latency_least; /* ticks: load latency events count loads that take longer; 0: none */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_meta_accesses) == 8 * HR_EVENTS_MAX + 16, "hr_meta_accesses");

#define HR_ACCESS_REGISTERS 18u /* rflags rip rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15 */

/* A system call changed which memory a process has.  In traces with the key `alloc` each call that
 * succeeds has one; execve and exit have none. */
enum hr_mapping_kind {
    HR_MAPPING_MAP = 1, /* mmap; also shmat */
    HR_MAPPING_UNMAP = 2, /* munmap; also shmdt */
    HR_MAPPING_MOVE = 3, /* mremap */
    HR_MAPPING_BREAK = 4, /* brk: address is the new end, old_address the old one */
};

struct hr_rec_mapping {
    uint64_t time;
    uint64_t address;
    uint64_t bytes; /* whole pages */
    uint64_t old_address; /* MOVE, BREAK; otherwise 0, like the next one */
    uint64_t old_bytes; /* MOVE */
    uint32_t tid;
    uint32_t kind; /* enum hr_mapping_kind */
    uint32_t flags; /* MAP: MAP_* of the call */
    uint32_t protection; /* MAP: PROT_* of the call */
};
_Static_assert(sizeof(struct hr_rec_mapping) == 56, "hr_rec_mapping");

struct hr_rec_lost { /* samples dropped because a ring or the buffer was full */
    uint64_t time_first;
    uint64_t time_last;
    uint64_t count;
};
_Static_assert(sizeof(struct hr_rec_lost) == 24, "hr_rec_lost");

struct hr_rec_skipped { /* due samples that were not taken, to keep the program's share of time */
    uint64_t time_first; /* `count` of them were due between these times */
    uint64_t time_last;
    uint64_t count;
};
_Static_assert(sizeof(struct hr_rec_skipped) == 24, "hr_rec_skipped");

struct hr_rec_syscall {
    uint64_t time; /* of entry */
    uint64_t result;
    uint32_t duration_ticks; /* saturates */
    uint32_t tid;
    uint32_t number;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_syscall) == 32, "hr_rec_syscall");

enum hr_switch_reason {
    HR_SWITCH_START = 1,
    HR_SWITCH_EXIT = 2,
    HR_SWITCH_BLOCK = 3,
    HR_SWITCH_SLICE = 4,
    HR_SWITCH_WAKE = 5,
    HR_SWITCH_YIELD = 6,
};

struct hr_rec_switch { /* another thread (0: none) runs on this CPU from now on */
    uint64_t time;
    uint32_t from_tid;
    uint32_t to_tid;
    uint32_t reason; /* enum hr_switch_reason: why from_tid left; if that is 0, why to_tid came */
    uint32_t waker_tid; /* made to_tid ready since it last ran; 0: no thread did, or format 1.1 */
};
_Static_assert(sizeof(struct hr_rec_switch) == 24, "hr_rec_switch");

struct hr_rec_output { /* the program wrote to stdout (1) or stderr (2) */
    uint64_t time;
    uint64_t offset; /* in that stream, of the first byte */
    uint32_t bytes;
    uint32_t stream;
};
_Static_assert(sizeof(struct hr_rec_output) == 24, "hr_rec_output");

struct hr_rec_mark {
    uint64_t time;
    uint32_t tid;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_mark) == 16, "hr_rec_mark");

enum hr_gap_reason {
    HR_GAP_SLEEP = 1,
    HR_GAP_INPUT = 2,
    HR_GAP_OUTPUT = 3,
    HR_GAP_WAIT = 4,
    HR_GAP_STEAL = 5, /* a hypervisor ran something else on this CPU */
    HR_GAP_FILES = 6, /* the host looked for a file, or sent a part of one */
};

struct hr_rec_gap { /* the program did not run: it slept or waited */
    uint64_t time_first;
    uint64_t time_last;
    uint32_t reason; /* enum hr_gap_reason */
    uint32_t tid;
};
_Static_assert(sizeof(struct hr_rec_gap) == 24, "hr_rec_gap");

struct hr_rec_period { /* overflow mode: events of the first event between samples from now on */
    uint64_t time;
    uint64_t period;
};
_Static_assert(sizeof(struct hr_rec_period) == 16, "hr_rec_period");

#define HR_FAULT_NO_EXCEPTION 0xffffffffu

struct hr_rec_fault { /* where the program was when a signal ended it */
    uint64_t time;
    uint64_t ip;
    uint64_t address; /* CR2 for page faults, otherwise 0 */
    uint32_t vector; /* exception number, or HR_FAULT_NO_EXCEPTION: raised otherwise */
    uint32_t error; /* the exception's error code */
    uint32_t signal; /* Linux signal number */
    uint32_t tid;
};
_Static_assert(sizeof(struct hr_rec_fault) == 40, "hr_rec_fault");

enum hr_exit_kind {
    HR_EXIT_STATUS = 1, /* code: exit status 0..255 */
    HR_EXIT_SIGNAL = 2, /* code: signal number */
    HR_EXIT_TIMEOUT = 3, /* stopped by the host; code: signal number */
    HR_EXIT_REFUSED = 4, /* the program could not be started; code: -errno as positive number */
};

struct hr_rec_exit {
    uint64_t time;
    uint64_t user_ticks; /* time in ring 3 */
    uint32_t kind; /* enum hr_exit_kind */
    uint32_t code;
    uint64_t peak_memory_bytes;
};
_Static_assert(sizeof(struct hr_rec_exit) == 32, "hr_rec_exit");

struct hr_rec_total { /* counted from the program's first instruction to its last */
    uint64_t value;
    uint16_t index;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_total) == 16, "hr_rec_total");

struct hr_rec_stream { /* what the guest sent for one CPU, to find missing chunks */
    uint64_t samples;
    uint64_t lost;
    uint32_t chunks; /* the CPU's sequence numbers are 0 .. chunks-1 */
    uint16_t cpu;
    uint16_t reserved;
};
_Static_assert(sizeof(struct hr_rec_stream) == 24, "hr_rec_stream");

/* A region of code that the program named (hr_region_begin, hr_region_end): what one event counted
 * in it, over all threads.  Bucket i of the histogram counts passes with value v: i = v below 8,
 * else i = 8 + 4 * (e - 3) + ((v >> (e - 2)) & 3) with e = floor(log2 v): four buckets an octave.
 */
#define HR_REGION_BUCKETS 252u
#define HR_REGION_TICKS 0xffffu /* takes the place of an event: time */

struct hr_rec_region {
    uint64_t passes; /* how often begin was followed by end */
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint16_t event; /* index, or HR_REGION_TICKS */
    uint16_t bucket_count; /* at most HR_REGION_BUCKETS; those beyond are 0 */
    uint16_t name_bytes;
    uint16_t threads; /* how many passed through it; saturates */
};
_Static_assert(sizeof(struct hr_rec_region) == 40, "hr_rec_region");

struct hr_rec_nmi { /* non-maskable interrupts of a CPU during the run */
    uint64_t samples; /* caused by a counter overflow: taken, or counted as lost */
    uint64_t spurious; /* in overflow mode: no counter had overflowed */
    uint64_t unknown; /* in other modes, where nothing requests NMIs */
    uint16_t cpu;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_nmi) == 32, "hr_rec_nmi");

struct hr_rec_activity { /* the kernel's activity on a CPU that ran the program */
    uint64_t interruptions; /* interrupts of the program that took no sample */
    uint64_t switches; /* from one thread to another, or to none */
    uint64_t slices; /* switches at the end of a time slice */
    uint64_t blocks; /* switches because the thread had to wait */
    uint64_t wakeups; /* threads that threads on this CPU woke */
    uint16_t cpu;
    uint16_t reserved[3];
};
_Static_assert(sizeof(struct hr_rec_activity) == 48, "hr_rec_activity");

struct hr_rec_share { /* how sampling on a CPU was limited, for the program's share */
    uint64_t skipped; /* sum of the CPU's HR_REC_SKIPPED records */
    uint64_t spacing_ticks; /* least time between samples at the end of the run; 0: no limit */
    uint64_t stolen_ns; /* taken by a hypervisor during the run */
    uint16_t cpu;
    uint16_t flags; /* 1: a hypervisor reports stolen time */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_share) == 32, "hr_rec_share");

struct hr_rec_calls { /* how calls of instrumented programs were recorded */
    uint64_t scans; /* of all threads' shadow stacks; 0: the hooks recorded, exactly */
    uint64_t scan_ticks; /* from the first scan to the last */
    uint64_t longest_ticks; /* between two scans: no time of a hit is more late */
    uint64_t missed; /* calls that began and ended between two scans */
    uint64_t beyond; /* calls that were deeper than a shadow stack */
    uint64_t strays; /* returns without an entry */
    uint64_t unnumbered; /* hits without a number: there are too many functions or call sites */
    uint64_t refused; /* threads beyond those that can be observed at a time */
};
_Static_assert(sizeof(struct hr_rec_calls) == 64, "hr_rec_calls");

enum { /* hr_rec_machine_cpu.flags: features of this CPU, hence known fields */
       HR_MACHINE_APERF = 1, /* APERF and MPERF: the fields aperf* and mperf*, and tsc */
       HR_MACHINE_SMI = 2,
       HR_MACHINE_THERMAL = 4,
       HR_MACHINE_PACKAGE = 8,
       HR_MACHINE_LOGS = 16, /* logs of thermal events were cleared at the start */
};

struct hr_rec_machine_cpu { /* the state of a CPU that ran the program, and its changes */
    uint64_t tsc; /* TSC ticks from just before the program to its end */
    uint64_t aperf; /* clock cycles in that time, halts excluded */
    uint64_t mperf; /* cycles at the TSC's frequency in that time, halts excluded */
    uint32_t aperf_before; /* APERF cycles of about a millisecond at boot */
    uint32_t mperf_before;
    uint32_t aperf_after; /* APERF cycles of about a millisecond after the program */
    uint32_t mperf_after;
    uint32_t smi_before; /* system management interrupts since reset */
    uint32_t smi_after;
    uint32_t thermal_before; /* IA32_THERM_STATUS as found */
    uint32_t thermal_after;
    uint32_t package_before; /* IA32_PACKAGE_THERM_STATUS */
    uint32_t package_after;
    uint32_t apic_id;
    uint32_t microcode; /* its revision; 0: unknown */
    uint32_t flags;
    uint16_t cpu;
    uint8_t core_kind; /* hybrid processors, from CPUID 1AH: 20H Atom, 40H Core; else 0 */
    uint8_t reserved;
};
_Static_assert(sizeof(struct hr_rec_machine_cpu) == 80, "hr_rec_machine_cpu");
_Static_assert(offsetof(struct hr_rec_machine_cpu, aperf_before) == 24, "aperf_before");
_Static_assert(offsetof(struct hr_rec_machine_cpu, smi_before) == 40, "smi_before");
_Static_assert(offsetof(struct hr_rec_machine_cpu, apic_id) == 64, "apic_id");
_Static_assert(offsetof(struct hr_rec_machine_cpu, cpu) == 76, "cpu");

enum hr_host_reason { /* why the collector closed the file */
                      HR_HOST_COMPLETE = 1, /* after the END chunk */
                      HR_HOST_TIMEOUT = 2,
                      HR_HOST_INTERRUPTED = 3,
                      HR_HOST_GUEST_DIED = 4, /* the stream ended without an END chunk */
                      HR_HOST_GUEST_PANIC = 5,
                      HR_HOST_BAD_STREAM = 6, /* the guest sent what is not a trace */
};

struct hr_host_end {
    uint64_t wall_ns; /* from launch to close */
    uint32_t reason; /* enum hr_host_reason */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_end) == 16, "hr_host_end");

/* What the emulator counted at every address (--mode exact).  Events beyond the first have
 * HR_META_EVENT and HR_REC_TOTAL records, which precede this one in HOST chunks. */
#define HR_EXACT_EVENTS_MAX 8u

struct hr_host_exact {
    uint64_t instructions; /* those with a known address: sum of all HR_HOST_EXACT_COUNTS */
    uint64_t homeless; /* those that found no free entry */
    uint64_t lost_faults; /* counted instructions that did not complete, at unknown addresses */
    uint32_t event_count; /* per address, at most HR_EXACT_EVENTS_MAX; the first: instructions */
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_exact) == 32, "hr_host_exact");

/* After this struct, for each address in ascending order: LEB128 of its distance to the previous
 * address (for the first: to 0), a byte with a bit for each event that is not 0 (the first never
 * is), and LEB128 of each of these events. */
struct hr_host_exact_counts {
    uint32_t tid; /* 0: threads that found no free table */
    uint32_t count; /* addresses */
};
_Static_assert(sizeof(struct hr_host_exact_counts) == 8, "hr_host_exact_counts");

enum { /* hr_host_file.flags */
       HR_FILE_CHANGED = 1, /* it changed or went away during the run; hash is 0 */
       HR_FILE_NO_HASH = 2, /* it could not be read at the end of the run; hash is 0 */
};

struct hr_host_file { /* a file of the host that the program read, or a part of it */
    uint64_t bytes; /* its size, as the guest was told, likewise the time */
    uint64_t modified; /* nanoseconds since 1970 */
    uint64_t hash; /* FNV-1a, 64 bits, of all its contents */
    uint32_t flags;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_host_file) == 32, "hr_host_file");

struct hr_index_entry {
    uint64_t offset; /* of the chunk header in the file */
    uint64_t time_first;
    uint64_t time_last;
    uint64_t lost_count;
    uint32_t sample_count;
    uint32_t payload_bytes;
    uint16_t type;
    uint16_t cpu;
    uint32_t sequence;
};
_Static_assert(sizeof(struct hr_index_entry) == 48, "hr_index_entry");

#define HR_TRAILER_MAGIC "hrindex\n"

/* The index may span several chunks.  first_offset is that of its first chunk; from there to the
 * end of the file, every chunk is an INDEX chunk.  The record with this body ends the file.
 */
struct hr_index_trailer {
    uint64_t first_offset;
    uint64_t entry_count;
    uint8_t magic[8];
};
_Static_assert(sizeof(struct hr_index_trailer) == 24, "hr_index_trailer");

#endif
