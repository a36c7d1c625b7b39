/* The directory of a run: ROOT/MACHINE/RUN-N, with a new N, from 1, for each run of that name. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "host/collect/stream_state.h"
#include "include/run_stream.h"

struct run_place {
    char path[PATH_MAX];
    size_t name; /* offset in path of "MACHINE/RUN-N", for people */
    int directory; /* an open descriptor */
    struct run_state state;
    bool is_new;
};

/* Finds the directory of the hello's run by its id, or creates one.  The hello's names must have
 * been checked.  Returns 0 or -errno; after an error nothing is open. */
int stream_place_open(struct run_place *place, const char *root, const struct run_hello *hello);
void stream_place_close(struct run_place *place);

static inline const char *run_place_name(const struct run_place *place)
{
    return place->path + place->name;
}
