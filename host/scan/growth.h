/* A trace that is still being written, for commands that read it as it grows.
 *
 * The writer of a trace has it locked (flock) until it is done.  What comes through a pipe is being
 * written until the pipe ends.  A process follows one trace; SIGINT and SIGTERM end that: they
 * are blocked until growth_end.  Prints one line where it has to wait for a file, nothing else.
 */
#pragma once

#include <signal.h>
#include <stdio.h>

#include "host/draw/live.h"
#include "host/scan/reader.h"

#define GROWTH_LOOK_MS 200 /* between two looks at the file */

enum growth_step {
    GROWTH_MORE, /* the file was looked at; it may have grown */
    GROWTH_OVER, /* likewise, and no process writes it */
    GROWTH_STOPPED, /* by a signal */
};

struct growth {
    bool pipe; /* the trace comes from standard input */
    bool looked;
    bool ended; /* the pipe */
    int signals; /* signalfd */
    sigset_t before; /* the process's mask */
};

/* What a command does with it. */
struct growth_work {
    void *context;
    /* Takes what the file has now.  0, -errno or the exit status of a failure that it reported. */
    int (*read)(void *context);
    /* Writes what there is so far. */
    void (*show)(void *context, FILE *out);
};

/* Whether a process is writing the file.  Where a file system has no locks, none is. */
bool growth_is_locked(int fd);

/* Waits until the reader's trace is there and opens it, as reader_open.  Returns 0 or -errno; 1 if
 * a signal came first.  growth_end after any. */
int growth_begin(struct growth *growth, struct trace_scan *scan, struct reader *reader);
void growth_end(struct growth *growth);

/* Reads until no process writes the trace or a signal comes, and shows what there is as `live`
 * wishes.  Then scan->file.growing says whether it was a signal.  Returns 0, or what failed. */
int growth_follow(struct growth *growth, struct trace_scan *scan, struct live *live,
                  const struct growth_work *work);
