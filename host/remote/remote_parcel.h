/* What a run brings home from another machine: one file, or what a command prints.
 *
 *   Microtome parcel 1
 *   version, host, kernel, processor, status     a line each
 *   sizes OUTPUT ERRORS TRACE                    in bytes
 *   the output, the errors and the trace
 *
 * It comes from outside: a reader believes nothing of it.  Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"

#define REMOTE_HOST_BYTES 64
#define REMOTE_FACT_BYTES 96

enum remote_part { REMOTE_PART_OUTPUT, REMOTE_PART_ERRORS, REMOTE_PART_TRACE, REMOTE_PARTS };

struct remote_parcel {
    char version[REMOTE_HOST_BYTES]; /* of hr there */
    char host[REMOTE_HOST_BYTES];
    char kernel[REMOTE_FACT_BYTES]; /* its Linux */
    char processor[REMOTE_FACT_BYTES];
    int status; /* the exit status of hr run */
    uint64_t sizes[REMOTE_PARTS];
};

/* Copies one line without commas, quotation marks and control characters. */
void remote_parcel_text(char *to, size_t room, const char *text);

/* Fills all but status and sizes with what this machine is. */
void remote_parcel_here(struct remote_parcel *parcel);

/* Writes a parcel with the files of `paths`; one that is missing is empty.  Returns 0, or -1 with
 * the failure filled. */
int remote_parcel_write(struct remote_parcel *parcel, const char *const paths[REMOTE_PARTS], int fd,
                        struct run_failure *failure);

/* Reads a parcel and writes its parts to `paths`.  Its texts are one line each, without commas and
 * control characters.  Returns 0, or -1 with the failure filled. */
int remote_parcel_read(struct remote_parcel *parcel, const char *file,
                       const char *const paths[REMOTE_PARTS], struct run_failure *failure);
