/* Reads and writes the run manifest (include/run_manifest.h).  Freestanding; the input is hostile.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/run_manifest.h"

struct manifest {
    const char *bytes; /* NUL-terminated strings, the last byte is a NUL */
    size_t count;
};

/* Returns 0, or -EINVAL if malformed: no version=1 first, no final NUL, a string without '=', too
 * large. */
int manifest_open(struct manifest *m, const void *bytes, size_t count);

/* Returns the next value of `key`, or NULL at the end; *position is 0 at first. */
const char *manifest_next(const struct manifest *m, const char *key, size_t *position);

/* Returns the first value of `key`, or `otherwise` if there is none. */
const char *manifest_text(const struct manifest *m, const char *key, const char *otherwise);

/* Reads the first value as a decimal number.  Returns 0, or -ENOENT (value untouched), -EINVAL,
 * -ERANGE. */
int manifest_number(const struct manifest *m, const char *key, uint64_t *value);

/* Divides a manifest: *common gets what comes before the sets of events that `repetitions` begins,
 * and *events the first set that names `repetition`.  Without sets both are the whole.  Returns 0,
 * or -ENOENT: no set names it, and *events is *common. */
int manifest_divide(const struct manifest *whole, uint64_t repetition, struct manifest *common,
                    struct manifest *events);

/* Appends "key=value" and a NUL.  Returns the new length, or 0 if it does not fit in `room`. */
size_t manifest_append(char *out, size_t room, size_t used, const char *key, const char *value);
