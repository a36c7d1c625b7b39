/* Up to where the samples of several CPUs, which a trace holds chunk by chunk, can be put in order.
 *
 * From the index: the earliest time in the chunks that are still to come.  Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rounds {
    struct rounds_chunk {
        uint64_t offset; /* in the file */
        uint64_t earliest; /* time in it and in those after it */
    } * chunks; /* DATA chunks, in file order; owned; NULL: nothing is known */
    size_t count;
    size_t next;
};

/* -ENOMEM, or 0: without an index nothing is known. */
int rounds_init(struct rounds *rounds, int fd);
void rounds_free(struct rounds *rounds);

/* The earliest time that a DATA chunk at `offset` or after it holds; 0 when that is not known.
 * Offsets may only grow. */
uint64_t rounds_earliest(struct rounds *rounds, uint64_t offset);
