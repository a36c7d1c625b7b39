/* The parts of memory_map_read().  Each returns 0 or -errno. */
#pragma once

#include "host/memory/map/memory_map.h"

/* Finds the bands and the time; memory_map_rows; counts. */
int memory_map_accesses_find(struct memory_map *map, struct memory_accesses *accesses);
int memory_map_accesses_count(struct memory_map *map, struct memory_accesses *accesses);

int memory_map_pages(struct memory_map *map, struct trace_scan *scan);
int memory_map_allocations(struct memory_map *map, struct trace_scan *scan);

/* Offers a band, whose detail is not there yet: those with the largest weights stay, if they have a
 * share of map->weight.  Then sorts them by address. */
void memory_map_offer(struct memory_map *map, const struct memory_map_band *band);
void memory_map_sort(struct memory_map *map);

/* The stack of a site as lines, or NULL. */
char *memory_map_stack(struct symbols *symbols, const struct stacks *stacks,
                       const struct memory_site *site);

/* Gives the bands rows, and cells. */
int memory_map_rows(struct memory_map *map);

/* Lives of objects: before the first one; one of a band that ended at a time (UINT64_MAX: never);
 * after the last one. */
int memory_map_lives_begin(struct memory_map *map);
int memory_map_lives_add(struct memory_map *map, uint32_t band, const struct trace_info *info,
                         const struct memory_object *object, uint64_t time);
void memory_map_lives_end(struct memory_map *map);
