/* What the commands that read a trace have in common: their command lines, how they open a trace,
 * and how they fail.
 *
 * The options of such a command begin with a struct reader.  Its argp parser passes to
 * reader_parse() every key that it does not know, its children are one of the arrays below, and
 * reader_command_line() reads the line.  A command that walks over one trace is a struct
 * reader_command, which reader_run() carries out.
 */
#pragma once

#include <argp.h>
#include <limits.h>
#include <stdint.h>

#include "host/object/symbols_options.h"
#include "host/scan/trace_scan.h"

enum reader_format { READER_TABLE, READER_CSV, READER_JSON };

#define READER_LIMIT_UNSET ULONG_MAX

struct reader {
    const struct argp *argp;
    const char *path; /* of the trace; hr.bin where none was given */
    enum reader_format format;
    uint64_t limit; /* of --limit: 0 is all; READER_LIMIT_UNSET */
    uint64_t jobs; /* of --jobs; 0: not given */
    bool follow; /* the trace, which is still being written: host/scan/growth.h */
    uint64_t interval_ns; /* between two blocks of what there is so far; 0: not given */
    struct selection selection; /* reader_open() gives it to the scan */
    struct symbols_options symbols;
    struct trace_scan scan; /* of reader_run() */
};

/* Children of a command's argp: what selects a part of the trace, and --jobs; with options about
 * symbols. */
extern const struct argp_child reader_part[];
extern const struct argp_child reader_symbols[];

enum { READER_FOLLOW = 0x1200, READER_INTERVAL };

/* Options of a command that can follow a trace. */
#define READER_FOLLOW_OPTIONS                                                     \
    {"follow",                                                                    \
     READER_FOLLOW,                                                               \
     NULL,                                                                        \
     0,                                                                           \
     "Read the trace while it is written; a terminal shows what there is so far", \
     5},                                                                          \
    {                                                                             \
        "interval", READER_INTERVAL, "TIME", 0,                                   \
            "Follow, and print what there is so far every TIME", 5                \
    }

/* argp's parser of FILE, --format (f), --limit (n) and what is above, for a state whose input is a
 * struct reader.
 */
error_t reader_parse(int key, char *argument, struct argp_state *state);

/* Reads the command line into the options that begin with *reader. */
void reader_command_line(struct reader *reader, const struct argp *argp, int argc, char **argv);

/* The rows to show: those of --limit, else `table` in a table and 0, which is all, elsewhere. */
unsigned long reader_limit(const struct reader *reader, unsigned long table);

/* How many of `count` rows a limit lets through. */
static inline size_t reader_shown(size_t count, unsigned long limit)
{
    return limit != 0 && limit < count ? limit : count;
}

/* trace_scan_open() with the reader's selection, which becomes the scan's, and symbols. */
int reader_open(struct trace_scan *scan, struct reader *reader);

struct reader_command { /* the functions get the reader; a scan that is open is reader->scan */
    /* Walks over the trace.  0, -errno, or the exit status of a failure that it reported. */
    int (*read)(struct reader *reader);
    /* Shows what was read.  Returns the command's exit status. */
    int (*present)(struct reader *reader);
    /* Frees what `read` made, whether it failed or not. */
    void (*free)(struct reader *reader);
};

/* Opens the trace, reads, presents, frees and closes.  Returns the command's exit status. */
int reader_run(struct reader *reader, const struct reader_command *command);

/* Reports a failure of trace_file_open() or of reading; returns the command's exit status, which
 * tells what is no trace from what could not be read. */
int reader_fail(const char *path, int error);

/* Reports that no sample of the trace is selected; returns the command's exit status. */
int reader_nothing_selected(const char *path, uint64_t duration_ns);
