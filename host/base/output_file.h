/* The file that a command writes.  It gets its name when it is complete, and never replaces a file
 * that hr did not write.
 *
 * A regular file is written under a temporary name in its folder; the former file of that name
 * stays until then.  A signal that ends hr removes the temporary file.  Streams and devices are
 * written directly.  A process can have one such file at a time.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "host/base/output_kind.h"
#include "host/base/run_failure.h"

struct output_file_wish {
    enum output_kind kind;
    bool force; /* may replace a file of any kind */
    bool needs_file; /* a stream is refused */
    bool keeps_former; /* the former file of that name becomes NAME.old */
    const struct stat *input; /* a file that is read and must not be replaced; may be NULL */
    output_kind_likeness *looks_alike; /* recognises a kind that has no mark; may be NULL */
};

struct output_file {
    int fd; /* -1: none */
    char *name; /* as given, or "standard output", for messages; owned */
    char *path; /* final path of the file; owned, NULL for a stream */
    char *partial; /* current path; owned, NULL for a stream or once the file has its name */
    bool keeps_former;
};

/* Opens `path`; "-" is standard output.  Refuses a file that is also a standard stream, is the
 * input, is not of the kind (unless `force`), or is being written by another hr.  Never waits for
 * the other end of a FIFO.  Returns 0, or -1 with the failure filled. */
int output_file_open(struct output_file *f, const char *path, const struct output_file_wish *wish,
                     struct run_failure *failure);

/* Gives the file its name while it is still being written.  Returns 0 or -errno. */
int output_file_take_name(struct output_file *f);

/* Closes the file.  With `keep` it gets its name; otherwise a file without its name is removed.
 * Returns 0, or -errno of the first failure, after which the file is removed, too. */
int output_file_close(struct output_file *f, bool keep);

/* As output_file_close, with a text for people: returns 0, or -1 with the failure filled. */
int output_file_finish(struct output_file *f, bool keep, struct run_failure *failure);
