/* The files port of a run (include/run_ports.h): files that the program created or changed, and
 * names that it did not find.  Everything that arrives is hostile. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/collector/keep_store.h"
#include "include/run_ports.h"

#define KEEP_FILES_MISSING_MAX 10000u
#define KEEP_FILES_MEMORIES 8u /* the files may take this many times the guest's memory */

struct keep_files {
    const char *directory; /* NULL: files are not kept */
    struct keep_store store;
    uint8_t buffer[sizeof(struct run_file_message) + RUN_FILE_BYTES_MAX];
    size_t used;
    bool ended; /* the guest sent its last message */
    int error; /* of the file system; nothing more is written */
    const char *bad; /* what the guest did wrong, or NULL */
    uint64_t files; /* number of files in place */
    char **missing;
    size_t missing_count;
    uint64_t missing_left_out;
};

/* `directory` may be NULL: only missing names are wanted.  Returns 0 or -errno. */
int keep_files_open(struct keep_files *k, const char *directory, uint64_t memory_bytes);
void keep_files_close(struct keep_files *k);

/* Takes bytes of the port, in pieces of any size. */
void keep_files_take(struct keep_files *k, const void *bytes, size_t count);

/* Reads from the port once.  Returns bytes, 0 at its end, or -errno. */
ssize_t keep_files_receive(struct keep_files *k, int from);

/* Prints the missing names, with the remedy; those that exist on this host come first. */
void keep_files_print_missing(const struct keep_files *k, FILE *out);
