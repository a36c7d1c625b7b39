/* Numbers the functions of a trace. */
#include "host/export/common/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "lib/hash.h"

#define INDEX_SLOTS (FUNCTIONS_MAX * 2ul)

int functions_init(struct functions *functions, struct symbols *symbols)
{
    *functions = (struct functions){.symbols = symbols, .count = 1};
    functions->rows = calloc(FUNCTIONS_MAX, sizeof functions->rows[0]);
    functions->index = calloc(INDEX_SLOTS, sizeof functions->index[0]);
    functions->cache = calloc(1u << FUNCTIONS_CACHE_BITS, sizeof functions->cache[0]);
    if (functions->rows == NULL || functions->index == NULL || functions->cache == NULL) {
        functions_free(functions);
        return -ENOMEM;
    }
    return 0;
}

void functions_free(struct functions *functions)
{
    free(functions->rows);
    free(functions->index);
    free(functions->cache);
    *functions = (struct functions){0};
}

static uint32_t look_up(struct functions *functions, uint64_t address)
{
    struct symbols_place place;
    uint32_t i;

    symbols_find(functions->symbols, address, &place);
    i = hash_place(place.start, __builtin_ctz(INDEX_SLOTS));
    for (; functions->index[i] != 0; i = (i + 1) & (INDEX_SLOTS - 1)) {
        const struct function *row = &functions->rows[functions->index[i]];

        if (row->start == place.start && row->name == place.name && row->object == place.object)
            return functions->index[i];
    }
    if (functions->count == FUNCTIONS_MAX)
        return 0;
    functions->rows[functions->count] = (struct function){
        .name = place.name,
        .object = place.object,
        .start = place.start,
        .end = place.end,
        .kernel = place.kernel,
    };
    return functions->index[i] = functions->count++;
}

uint32_t functions_at(struct functions *functions, uint64_t address)
{
    struct functions_cached *cached = &functions->cache[hash_place(address, FUNCTIONS_CACHE_BITS)];

    if (cached->function == 0 || cached->address != address) {
        cached->function = look_up(functions, address);
        cached->address = address;
    }
    return cached->function;
}

char *functions_label(const struct function *function, char label[FUNCTIONS_LABEL_BYTES])
{
    char object[FUNCTIONS_LABEL_BYTES - 2];

    if (function->name != NULL)
        text_escape(label, FUNCTIONS_LABEL_BYTES, function->name);
    else if (function->object != NULL)
        snprintf(label, FUNCTIONS_LABEL_BYTES, "[%s]",
                 text_escape(object, sizeof object, function->object));
    else
        snprintf(label, FUNCTIONS_LABEL_BYTES, "[unknown]");
    return label;
}
