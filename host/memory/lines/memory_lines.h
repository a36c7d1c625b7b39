/* Cache lines that several threads use, and one of them writes: false and true sharing.
 *
 * Two walks: the first finds the lines, the second what happens in those that cost most.  The trace
 * is hostile: tables are bounded.  Never prints.
 */
#pragma once

#include "host/memory/accesses/memory_accesses.h"
#include "host/memory/accesses/memory_table.h"
#include "host/symbols/symbols_names.h"
#include "lib/hash.h"

#define MEMORY_LINE_BYTES 64u
#define MEMORY_LINES_MAX 1024u /* that the second walk looks at */

enum memory_sharing {
    MEMORY_SHARING_FALSE, /* threads use different parts of the line */
    MEMORY_SHARING_TRUE, /* they use the same */
    MEMORY_SHARING_BOTH,
};

struct memory_use { /* of a line: from one place by one thread */
    uint32_t offset;
    uint32_t tid;
    uint64_t start; /* of the thing that is there */
    const char *field; /* its part; raw, as the next one */
    const char *function;
    struct memory_sums sums;
};

struct memory_line {
    uint64_t address;
    uint32_t pid;
    enum memory_sharing sharing;
    uint64_t turns; /* how often another thread than before used it, one of the two writing */
    struct memory_sums sums;
    const char *name; /* of its first part that is used; raw */
    struct memory_use *uses; /* by offset, thread and function; owned */
    size_t use_count;
};

struct memory_lines {
    struct memory_accesses *accesses;
    struct memory_line *all; /* those that cost most first; owned */
    size_t count;
    uint64_t records, without;
    struct memory_sums total; /* of all accesses */
    uint64_t left_out; /* lines that there was no room to look at */
    struct symbols_names names; /* the texts */
};

/* 0 or -errno; memory_lines_free in any case. */
int memory_lines_make(struct memory_lines *lines, struct memory_accesses *accesses);
void memory_lines_free(struct memory_lines *lines);

/* For memory_lines_*.c. */

#define MEMORY_LINES_BATCH 64u /* accesses that are looked up before the first is counted */

struct memory_lines_known { /* of a line that the second walk looks at */
    uint64_t id;
    uint32_t pid;
    uint32_t records; /* that the first walk found */
    uint32_t stride; /* the second walk looks at every so many for the turns: odd */
    struct memory_thing things[MEMORY_LINE_BYTES]; /* at each byte; key 0: not used */
};

/* A number for the line of an address.  Objects of the heap that follow each other at an address
 * are told apart, as well as five bits can, where they hold the whole line. */
static inline uint64_t memory_lines_id(struct memory_cursor *cursor, uint64_t address,
                                       uint64_t time)
{
    uint64_t id =
        (uint64_t)cursor->process << 42 | (address & ((1ull << 48) - 1)) / MEMORY_LINE_BYTES;
    uint64_t start = address & -(uint64_t)MEMORY_LINE_BYTES;
    struct memory_thing first, last;

    if (cursor->names->heap == NULL)
        return id;
    first = memory_names_find(cursor, start, time);
    if (first.birth == 0)
        return id;
    last = memory_names_find(cursor, start + MEMORY_LINE_BYTES - 1, time);
    if (last.key != first.key || last.start != first.start || last.birth != first.birth)
        return id;
    return id | first.birth * HASH_GOLDEN >> 59 << 59;
}

static inline uint32_t memory_lines_process(uint64_t id)
{
    return (uint32_t)(id >> 42) % TRACE_PROCESSES_MAX;
}

static inline uint64_t memory_lines_address(uint64_t id)
{
    return (id & ((1ull << 42) - 1)) * MEMORY_LINE_BYTES;
}

/* The first walk: fills known[0..], those that cost most first, and *count.  0 or -errno. */
int memory_lines_find(struct memory_lines *lines, struct memory_lines_known *known,
                      uint32_t *count);

#define MEMORY_LINES_RECORDS_MAX (1u << 20) /* that tell the turns, of all lines: 24 MB */
/* An entry's first number: that of the line + 1, the offset, the thread. */
#define MEMORY_LINES_SHIFT 38
#define MEMORY_LINES_OFFSET_SHIFT 32

struct memory_lines_record {
    uint64_t time;
    uint32_t line;
    uint32_t tid;
    bool written;
};

struct memory_lines_look { /* what the second walk found */
    struct memory_lines_known *known; /* `count`; owned */
    uint32_t count;
    struct memory_table table; /* the second number is the instruction's address */
    struct memory_lines_record *records; /* owned */
    size_t record_count;
};

/* The second walk.  0 or -errno; memory_lines_look_free in any case. */
int memory_lines_look(struct memory_lines_look *look, struct memory_accesses *accesses,
                      const struct memory_lines_known *known, uint32_t count);
void memory_lines_look_free(struct memory_lines_look *look);
