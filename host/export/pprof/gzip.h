/* Compresses what is written to an output, as gzip does. */
#pragma once

#include <stddef.h>

#define ZLIB_CONST /* next_in is not written to */
#include <zlib.h>

#include "host/base/output.h"

struct gzip {
    struct output *out; /* remembers failed writes */
    struct output plain; /* what is to be compressed */
    z_stream stream;
    gz_header header;
};

/* A gzip that is all zero.  0 or -ENOMEM. */
int gzip_init(struct gzip *gzip, struct output *out);
void gzip_free(struct gzip *gzip);

/* Writes what is left, and the end. */
void gzip_finish(struct gzip *gzip);
