/* The tables of one thread in `hr export firefox`: what it uses of the stacks, functions and names
 * of the whole trace. */
#pragma once

#include "host/export/firefox/firefox_tables.h"

struct firefox_used { /* what the thread being written uses of a table */
    uint32_t *numbers; /* each one's number in the thread, or UINT32_MAX; owned */
    uint32_t *list; /* those that are used, in the table's order; owned */
    uint32_t count;
};

struct firefox {
    struct export *e;
    struct output *out;
    struct firefox_tables tables;
    struct firefox_used stacks, functions, names;
};

/* Of a table of `count`.  0 or -ENOMEM. */
int firefox_used_init(struct firefox_used *used, uint32_t count);
void firefox_used_free(struct firefox_used *used);

void firefox_put_ms(struct output *out, uint64_t ns);
void firefox_comma(struct output *out, uint32_t i); /* before all items but the first one */

/* Writes the samples and markers of a thread, and all that they refer to. */
void firefox_thread_put(struct firefox *f, const struct firefox_sample *samples,
                        uint32_t sample_count, const struct firefox_marker *markers,
                        uint32_t marker_count);
