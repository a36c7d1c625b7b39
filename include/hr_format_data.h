/* Records of DATA chunks: samples, and what happened between them.  Part of include/hr_format.h. */
#ifndef INCLUDE_HR_FORMAT_DATA_H
#define INCLUDE_HR_FORMAT_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format_meta.h"

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

/* Precise samples: the processor itself wrote a record of each (Intel SDM volume 3B, "Processor
 * Event Based Sampling"), or held it in registers (AMD64 APM volume 2, "Instruction-Based
 * Sampling").  Each sample of the trace has an access then. */
enum { /* hr_meta_accesses.flags */
       HR_ACCESSES_REGISTERS = 1, /* each access has HR_ACCESS_REGISTERS registers */
       HR_ACCESSES_JITTER = 2, /* periods are random around the given ones */
       HR_ACCESSES_LATER = 4, /* a copy of a record's stack has the ip that it was taken at in the
                                 place of rcx */
};

enum hr_access_sources { /* hr_meta_accesses.sources: how to read hr_access.source */
                         HR_SOURCES_NONE = 0, /* it means nothing */
                         HR_SOURCES_INTEL = 1, /* "Data Source Encodings" of the CPU's model, which
                                                  the trace tells */
                         HR_SOURCES_AMD = 2, /* lib/pmu/ibs_sources.h, up to Zen 3 */
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

#endif
