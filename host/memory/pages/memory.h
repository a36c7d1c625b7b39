/* What `hr memory` and its picture know of a trace of `hr run --pages`: the program's pages, looks
 * and ranges.
 *
 * A look is an interval of --pages, numbered from 0; what a process touched before it ended belongs
 * to the nearest look.  A page is 4 KiB, or 2 MiB where the processor has told no
 * more; all counts are in pages of 4 KiB.  The trace is hostile: what is beyond the bounds is left
 * out and counted.
 */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

#define MEMORY_PAGE_BYTES 4096u
#define MEMORY_WINDOWS 3 /* 1, 10 and 100 looks */
#define MEMORY_LABEL_BYTES 96

extern const uint32_t memory_window[MEMORY_WINDOWS];

struct memory_run { /* neighbouring pages that a process touched */
    uint64_t address;
    uint64_t pages;
    uint32_t look;
    uint32_t pid;
    uint32_t flags; /* TRACE_PAGES_* */
};

struct memory_page {
    uint64_t address;
    uint32_t pid;
    uint16_t pages; /* 1 or 512; 0: an empty place of the table */
    uint16_t left; /* bit w: it is not in the set of window w */
    uint32_t first, last; /* looks */
    uint32_t looks; /* in which it was touched */
    uint32_t written; /* in which it was written */
};

struct memory_look {
    uint64_t written; /* pages */
    uint64_t fresh; /* touched for the first time */
    uint64_t set[MEMORY_WINDOWS]; /* touched in this look and those of the window before it */
};

struct memory_range { /* pages near each other that hold the same */
    uint64_t start, end;
    uint32_t pid;
    uint32_t first, last; /* looks */
    uint64_t touched, written, cold; /* pages; cold: not touched in the last tenth of the looks */
    uint64_t sum; /* of the pages of all looks */
    uint64_t peak; /* of the pages of one look */
    char label[MEMORY_LABEL_BYTES]; /* raw: an object's name, [heap], [stack] or [anon] */
    uint32_t toucher; /* that touched most of it first; MEMORY_NO_TOUCHER: unknown */
};
#define MEMORY_NO_TOUCHER UINT32_MAX

struct memory_fault { /* a page that was touched for the first time, or written after a fork */
    uint64_t address;
    uint64_t ip; /* as symbols know it */
    uint64_t ns; /* since the program's start */
    uint32_t pid;
    uint32_t bytes;
    uint32_t toucher; /* number, after memory_finish */
    bool written;
};

struct memory_toucher { /* a function, and what it touched first */
    char name[MEMORY_LABEL_BYTES]; /* raw */
    char object[MEMORY_LABEL_BYTES]; /* the file that it is in; empty: unknown */
    uint64_t faults, bytes, written; /* written: bytes */
    uint64_t first_ns, last_ns;
    const struct memory_range *range; /* that most of it is in; NULL: in none */
};

struct memory {
    const struct trace_info *info;
    const struct selection *selection;
    uint64_t interval_ns; /* of the looks */
    uint32_t look_count;
    struct memory_run *runs; /* in the order of looks */
    size_t run_count;
    struct memory_look *looks;
    struct memory_page *pages; /* in the order of pid and address, after memory_finish */
    size_t page_count;
    struct memory_range *ranges; /* likewise */
    size_t range_count;
    struct memory_fault *faults; /* in the order of pid and address, after memory_finish */
    size_t fault_count;
    struct memory_toucher *touchers; /* in the order of addresses */
    size_t toucher_count;
    uint64_t touched, written, cold; /* pages of the whole run */
    uint64_t touches; /* pages of all looks */
    uint64_t again; /* of these, what the look before had seen touched, too */
    uint64_t stretches; /* how many rows of neighbours these are, of one process and look each */
    uint64_t ignored; /* runs beyond the bounds, or damaged */
};

int memory_init(struct memory *memory, const struct trace_scan *scan); /* 0 or -ENOMEM */
void memory_free(struct memory *memory);

/* Gathers runs; its context is a struct memory. */
extern const struct trace_visitor memory_visitor;

/* Makes looks, pages and ranges of the runs.  `symbols` name the ranges.  0, -ENOMEM, or -ENODATA
 * if the trace has none. */
int memory_finish(struct memory *memory, struct symbols *symbols);

/* Whether what was touched last in a look is cold: not in the last tenth of them. */
bool memory_is_cold(const struct memory *memory, uint32_t last);

/* The time of a look, in nanoseconds since the program's start: its end. */
uint64_t memory_look_ns(const struct memory *memory, uint32_t look);

/* Parts of memory_finish: the table of pages with the looks' sums; the ranges; who touched them
 * first.  0 or -ENOMEM. */
int memory_pages_make(struct memory *memory);
int memory_ranges_make(struct memory *memory, struct symbols *symbols);
int memory_touchers_make(struct memory *memory, struct symbols *symbols);
