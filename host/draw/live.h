/* Text on standard output that changes while a command runs: drawn in place on a terminal, or block
 * after block.
 *
 * A terminal shows as many lines as it has.  Drawing takes at most a hundredth of the time, unless
 * an interval was asked for.  Used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LIVE_EVERY_NS 500000000u

struct live {
    bool in_place;
    bool exact; /* the interval was asked for */
    uint64_t every_ns; /* 0: nothing is shown */
    uint64_t next_ns, began_ns;
    unsigned int lines; /* on the terminal */
    FILE *memory;
    char *text;
    size_t bytes;
};

/* `table`: the text is for people, and may be drawn in place.  Interval 0: as often as suits a
 * terminal, and never elsewhere. */
void live_init(struct live *live, bool table, uint64_t interval_ns);

/* If it is time, returns where to write the text, which live_end shows; else NULL. */
FILE *live_begin(struct live *live);
void live_end(struct live *live);

/* Takes what is drawn off the terminal. */
void live_erase(struct live *live);
