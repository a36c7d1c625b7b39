/* Looks ahead in the index. */
#include "host/export/perf/rounds.h"

#include <errno.h>
#include <stdlib.h>

#include "host/trace/trace_index.h"

static int fill(struct rounds *rounds, const struct trace_index *index)
{
    uint64_t earliest = UINT64_MAX;

    rounds->chunks = calloc(index->count + 1, sizeof rounds->chunks[0]);
    if (rounds->chunks == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i].type == HR_CHUNK_DATA)
            rounds->chunks[rounds->count++] =
                (struct rounds_chunk){index->entries[i].offset, index->entries[i].time_first};
    for (size_t i = rounds->count; i-- > 0;) {
        if (rounds->chunks[i].earliest < earliest)
            earliest = rounds->chunks[i].earliest;
        rounds->chunks[i].earliest = earliest;
    }
    return 0;
}

int rounds_init(struct rounds *rounds, int fd)
{
    struct trace_index index;
    int error;

    *rounds = (struct rounds){0};
    if (trace_index_load(&index, fd) != 0)
        return 0;
    error = fill(rounds, &index);
    trace_index_free(&index);
    return error;
}

void rounds_free(struct rounds *rounds)
{
    free(rounds->chunks);
    *rounds = (struct rounds){0};
}

uint64_t rounds_earliest(struct rounds *rounds, uint64_t offset)
{
    while (rounds->next < rounds->count && rounds->chunks[rounds->next].offset < offset)
        rounds->next++;
    return rounds->next < rounds->count ? rounds->chunks[rounds->next].earliest : 0;
}
