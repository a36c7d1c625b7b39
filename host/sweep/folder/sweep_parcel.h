/* What a run of a sweep brings home from another machine: one file, or what a command prints.
 *
 *   Microtome parcel 1
 *   version, host, kernel, processor, status     a line each
 *   sizes OUTPUT ERRORS TRACE                    in bytes
 *   the output, the errors and the trace
 *
 * It comes from outside: a reader believes nothing of it.  Never prints.
 */
#pragma once

#include <stdint.h>

#include "host/base/run_failure.h"

#define SWEEP_HOST_BYTES 64
#define SWEEP_FACT_BYTES 96

enum sweep_part { SWEEP_PART_OUTPUT, SWEEP_PART_ERRORS, SWEEP_PART_TRACE, SWEEP_PARTS };

struct sweep_parcel {
    char version[SWEEP_HOST_BYTES]; /* of hr there */
    char host[SWEEP_HOST_BYTES];
    char kernel[SWEEP_FACT_BYTES]; /* its Linux */
    char processor[SWEEP_FACT_BYTES];
    int status; /* the exit status of hr run */
    uint64_t sizes[SWEEP_PARTS];
};

/* Fills all but status and sizes with what this machine is. */
void sweep_parcel_here(struct sweep_parcel *parcel);

/* Writes a parcel with the files of `paths`; one that is missing is empty.  Returns 0, or -1 with
 * the failure filled. */
int sweep_parcel_write(struct sweep_parcel *parcel, const char *const paths[SWEEP_PARTS], int fd,
                       struct run_failure *failure);

/* Reads a parcel and writes its parts to `paths`.  Its texts are one line each, without commas and
 * control characters.  Returns 0, or -1 with the failure filled. */
int sweep_parcel_read(struct sweep_parcel *parcel, const char *file,
                      const char *const paths[SWEEP_PARTS], struct run_failure *failure);
