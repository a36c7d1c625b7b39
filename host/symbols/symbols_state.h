/* The symbols of a trace while they are open.  For host/symbols/symbols*.c. */
#pragma once

#include <pthread.h>

#include "host/symbols/symbols_cache.h"
#include "host/symbols/symbols_names.h"
#include "host/symbols/symbols_object.h"
#include "host/trace/trace_ranges.h"

struct symbols {
    struct symbols_options options;
    struct symbols_object **objects; /* of the maps, in their order */
    size_t object_count;
    size_t map_count; /* number of the trace's maps that were taken */
    uint32_t view_count; /* and of the views of its processes */
    struct trace_ranges maps;
    struct symbols_names names;
    struct symbols_cache *cache; /* made when first needed */
    struct trace_names *made; /* names of code that is in no file; held; NULL: there are none */
    pthread_mutex_t lock; /* protects everything that a lookup changes */
};

/* Returns an object, which the first lookup opens. */
struct symbols_object *symbols_object_open(struct symbols *s, uint32_t number);

/* Returns the link-time address: the kernel runs where it was linked; a program's file may be
 * mapped anywhere. */
uint64_t symbols_linked_address(const struct symbols_object *object,
                                const struct trace_range *range, uint64_t address);
