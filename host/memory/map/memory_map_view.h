/* What `hr memory --map` shows: its options, and the map. */
#pragma once

#include <argp.h>

#include "host/memory/map/memory_map.h"
#include "host/scan/reader.h"

struct memory_map_view {
    struct memory_map_wish wish; /* of what; addresses; block */
    struct memory_map map;
    bool wanted;
};

/* Reads the argument of --range, "0x1000-0x2000", of which the second is outside. */
void memory_map_range(const char *text, uint64_t *from, uint64_t *to,
                      const struct argp_state *state);

/* Reads the argument of --map: what it is of; NULL: what there is. */
void memory_map_view_parse(struct memory_map_view *view, const char *argument,
                           const struct argp_state *state);

/* 0 or -errno; memory_map_free(&view->map) in any case. */
int memory_map_view_read(struct memory_map_view *view, struct reader *reader);

/* Returns the command's exit status. */
int memory_map_view_present(struct memory_map_view *view, struct reader *reader);
