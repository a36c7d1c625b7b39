/* Prints a map of memory: as a picture of characters, or its cells for other programs. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/map/memory_map.h"

/* How many bins have room in a line. */
uint32_t memory_map_print_bins(void);

void memory_map_print(FILE *out, const struct memory_map *map, const struct trace_info *info);
void memory_map_print_csv(struct output *out, const struct memory_map *map);
void memory_map_print_json(struct output *out, const struct memory_map *map);

/* Writes what there is of a band in all: "200 reads and 20 writes recorded". */
#define MEMORY_MAP_PRINT_SUMS 128
char *memory_map_print_sums(const struct memory_map *map, const struct memory_map_band *band,
                            char text[MEMORY_MAP_PRINT_SUMS]);
