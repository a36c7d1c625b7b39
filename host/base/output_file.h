/* The file that a command writes: it takes its name when it is whole, and never the place of what
 * is none of ours.
 *
 * A regular file is written under a temporary name in its folder; what the name stood for before
 * stays until then.  A signal that ends hr removes the temporary file.  Streams and devices are
 * written as they are.  One at a time in a process.
 */
#ifndef HOST_BASE_OUTPUT_FILE_H
#define HOST_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "host/base/output_kind.h"
#include "host/base/run_failure.h"

struct output_file_wish {
    enum output_kind kind;
    bool force; /* the name may stand for anything */
    bool needs_file; /* a stream will not do */
    bool keeps_former; /* what the name stood for becomes NAME.old */
    const struct stat *input; /* what is read and must not be replaced; may be NULL */
    output_kind_likeness *looks_alike; /* of a kind that has no mark; may be NULL */
};

struct output_file {
    int fd; /* -1: none */
    char *name; /* for messages: as given, or "standard output"; owned */
    char *path; /* what `partial` becomes; owned, NULL for a stream */
    char *partial; /* where the file is now; owned, NULL for a stream and when it has its name */
    bool keeps_former;
};

/* Opens `path`; "-" is standard output.  Refuses a file that is also a standard stream, that is the
 * input, that is not of the kind unless `force`, or that another hr is writing.  Never waits for
 * the other end of a FIFO.  0, or -1 with the failure filled.
 */
int output_file_open(struct output_file *f, const char *path, const struct output_file_wish *wish,
                     struct run_failure *failure);

/* Gives the file its name while it is still written.  0 or -errno. */
int output_file_take_name(struct output_file *f);

/* Closes the file; with `keep` it has its name then, otherwise what has no name yet is gone.  0, or
 * -errno of the first failure: then it is gone, too.
 */
int output_file_close(struct output_file *f, bool keep);

/* The same with words for people: 0, or -1 with the failure filled. */
int output_file_finish(struct output_file *f, bool keep, struct run_failure *failure);

#endif
