/* Where an export goes: a file that appears whole or not at all, or a stream.
 *
 * A regular file is written under a temporary name in its folder and renamed at the end; what the
 * name stood for before stays until then.  A signal that ends hr removes the temporary file.
 */
#ifndef HOST_EXPORT_TARGET_H
#define HOST_EXPORT_TARGET_H

#include <stdbool.h>

struct target {
    char *name; /* for messages: as given, or "standard output"; owned */
    char *path; /* what partial becomes; owned, NULL for a stream */
    char *partial; /* where to write; owned, NULL for a stream */
    int fd;
};

/* Opens the output: `output`, "-" for standard output, or where it is NULL, the trace's name with
 * another extension.  `needs_file`: a stream will not do.  An exit status; the failure was
 * reported.
 */
int target_open(struct target *target, const char *output, const char *trace, const char *extension,
                bool needs_file);

/* Gives the file its name, or removes it.  An exit status; the failure was reported. */
int target_close(struct target *target, bool keep);

#endif
