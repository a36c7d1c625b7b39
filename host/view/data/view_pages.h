/* The working set and page faults of a map of pages, over time, for the page. */
#pragma once

#include "host/memory/map/memory_map.h"
#include "host/view/data/view_columns.h"

void view_pages_pack(const struct memory_map *map, struct view_columns *columns);
