/* The files port of a run (include/run_ports.h): files that the program made or changed, and names
 * that it looked for in vain.  Everything that arrives is hostile.
 */
#ifndef HOST_COLLECTOR_KEEP_FILES_H
#define HOST_COLLECTOR_KEEP_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/collector/keep_store.h"
#include "include/run_ports.h"

#define KEEP_FILES_MISSING_MAX 10000u
#define KEEP_FILES_MEMORIES 8u /* the files take at most so many times the guest's memory */

struct keep_files {
    const char *directory; /* NULL: files are not kept */
    struct keep_store store;
    uint8_t buffer[sizeof(struct run_file_message) + RUN_FILE_BYTES_MAX];
    size_t used;
    bool ended; /* the guest said that this was all */
    int error; /* of the file system; nothing is written any more */
    const char *bad; /* what the guest did wrong; NULL: nothing */
    uint64_t files; /* that are in place */
    char **missing;
    size_t missing_count;
    uint64_t missing_left_out;
};

/* `directory` NULL: only missing names are wanted.  0 or -errno. */
int keep_files_open(struct keep_files *k, const char *directory, uint64_t memory_bytes);
void keep_files_close(struct keep_files *k);

/* Takes bytes of the port, in pieces of any size. */
void keep_files_take(struct keep_files *k, const void *bytes, size_t count);

/* Reads from the port once: bytes, 0 at its end, -errno. */
ssize_t keep_files_receive(struct keep_files *k, int from);

/* Lists the missing names, those that exist on this host first, with the remedy. */
void keep_files_print_missing(const struct keep_files *k, FILE *out);

#endif
