/* Records of META chunks: what a trace says about itself.  Part of include/hr_format.h. */
#ifndef INCLUDE_HR_FORMAT_META_H
#define INCLUDE_HR_FORMAT_META_H

#include <stddef.h>
#include <stdint.h>

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

#endif
