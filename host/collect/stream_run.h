/* One run of a machine on the collector's disk: hr.bin, stdout, stderr, log.txt, files/.
 *
 * What arrives for a port is appended to its file, so that the files' sizes say how far the run has
 * come; the trace goes through the collector and comes to disk in whole chunks.  What is no trace
 * goes to hr.bad as it is.  Used by one thread at a time.  Never prints.
 *
 * Functions return what the machine is told: RUN_WELCOME_OK, _DISK (then `error` says why), _LIMIT,
 * and what is said below.
 */
#ifndef HOST_COLLECT_STREAM_RUN_H
#define HOST_COLLECT_STREAM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collect/stream_place.h"
#include "host/collector/collect.h"
#include "include/run_stream.h"

#define STREAM_RUN_SMALL_BYTES 16384

struct stream_run {
    struct run_place place;
    struct collector trace;
    int files[RUN_STREAM_PORTS]; /* descriptors; RUN_STREAM_TRACE: hr.bad; -1: none */
    uint64_t have[RUN_STREAM_PORTS]; /* bytes of each port that were taken */
    uint8_t small[STREAM_RUN_SMALL_BYTES]; /* taken for small_port, to be written together */
    size_t small_bytes;
    size_t small_port;
    uint64_t bytes; /* of all ports */
    uint64_t limit_bytes;
    bool open;
    bool is_bad; /* the trace's stream was no trace, from some place on */
    const char *bad; /* what was wrong, NULL: it was before this collector's time */
    int error; /* errno of what went wrong on the disk */
    uint64_t kept_files; /* after stream_run_finish */
    const char *files_bad; /* what was wrong with the stream of the files */
};

/* Finds or makes the run's directory and reads how far it has come.  RUN_WELCOME_DONE: it is
 * complete; _BUSY: another collector has it.  Only after RUN_WELCOME_OK it is open.
 */
enum run_welcome_status stream_run_open(struct stream_run *run, const char *root,
                                        const struct run_hello *hello, uint64_t limit_bytes);

/* Appends to a port, as much as the limit allows. */
enum run_welcome_status stream_run_write(struct stream_run *run, enum run_stream_port port,
                                         const void *bytes, size_t count);

/* Everything is on disk but the trace's last chunk if it is not whole: see stream_run_whole. */
enum run_welcome_status stream_run_flush(struct stream_run *run);

/* How far the trace's stream goes in whole chunks, at most have[RUN_STREAM_TRACE]. */
uint64_t stream_run_whole(const struct stream_run *run);

/* The machine has sent all: completes the trace, unpacks files, sees to it that everything is on
 * the disk and notes that.  May take long.  Closes the run in any case.
 */
enum run_welcome_status stream_run_finish(struct stream_run *run);

/* Closes it so that it can go on; a signal's number (or 0) is noted in the trace. */
enum run_welcome_status stream_run_suspend(struct stream_run *run, int signal_number);

#endif
