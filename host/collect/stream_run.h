/* One run of a machine on the collector's disk: hr.bin, stdout, stderr, log.txt, files/.
 *
 * The bytes of a port are appended to its file, so that the files' sizes tell the progress of the
 * run.  The trace goes through the collector and reaches the disk in whole chunks; bytes that are
 * not a trace go to hr.bad unchanged.  Used by one thread at a time.  Never prints.
 *
 * Functions return the status for the machine: RUN_WELCOME_OK, _DISK (then `error` says why),
 * _LIMIT, and those named below.
 */
#pragma once

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
    uint64_t have[RUN_STREAM_PORTS]; /* bytes taken of each port */
    uint8_t small[STREAM_RUN_SMALL_BYTES]; /* pending bytes of small_port, to be written together */
    size_t small_bytes;
    size_t small_port;
    uint64_t bytes; /* of all ports */
    uint64_t limit_bytes;
    bool open;
    bool is_bad; /* from some place on the trace's stream was not a trace */
    const char *bad; /* what was wrong; NULL: an earlier collector found it */
    int error; /* errno of a disk error */
    uint64_t kept_files; /* valid after stream_run_finish */
    const char *files_bad; /* what was wrong with the stream of the files */
};

/* Finds or creates the run's directory and reads its progress.  Returns RUN_WELCOME_DONE if the run
 * is complete, _BUSY if another collector has it.  The run is open only after RUN_WELCOME_OK. */
enum run_welcome_status stream_run_open(struct stream_run *run, const char *root,
                                        const struct run_hello *hello, uint64_t limit_bytes);

/* Appends to a port, as far as the limit allows. */
enum run_welcome_status stream_run_write(struct stream_run *run, enum run_stream_port port,
                                         const void *bytes, size_t count);

/* Writes everything to the disk except an incomplete last chunk of the trace: see stream_run_whole.
 */
enum run_welcome_status stream_run_flush(struct stream_run *run);

/* Returns the length of the trace's stream in whole chunks, at most have[RUN_STREAM_TRACE]. */
uint64_t stream_run_whole(const struct stream_run *run);

/* Call it when the machine has sent everything.  Completes the trace, unpacks files, syncs
 * everything to the disk and records that.  May take long.  Closes the run in any case. */
enum run_welcome_status stream_run_finish(struct stream_run *run);

/* Closes the run so that it can be continued; the trace notes a signal's number (or 0). */
enum run_welcome_status stream_run_suspend(struct stream_run *run, int signal_number);
