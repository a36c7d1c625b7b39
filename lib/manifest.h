/* Reads and writes the run manifest (include/run_manifest.h).  Freestanding; hostile input. */
#ifndef LIB_MANIFEST_H
#define LIB_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "include/run_manifest.h"

struct manifest {
    const char *bytes; /* NUL-terminated strings, the last byte is a NUL */
    size_t count;
};

/* 0, -EINVAL when malformed (no version=1 first, no final NUL, a string without '=', too large). */
int manifest_open(struct manifest *m, const void *bytes, size_t count);

/* Iterates over the values of `key`: *position is 0 at first; NULL at the end. */
const char *manifest_next(const struct manifest *m, const char *key, size_t *position);

/* The first value of `key`, or `otherwise`. */
const char *manifest_text(const struct manifest *m, const char *key, const char *otherwise);

/* The first value as a decimal number: 0 or -ENOENT (value untouched), -EINVAL, -ERANGE. */
int manifest_number(const struct manifest *m, const char *key, uint64_t *value);

/* Appends "key=value" NUL; returns the new length, or 0 when it does not fit in `room`. */
size_t manifest_append(char *out, size_t room, size_t used, const char *key, const char *value);

#endif
