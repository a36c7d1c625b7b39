/* Changes a trace and makes checksums and sequences right again; the index goes.
 *
 *   lie IN OUT WHAT...
 *
 * WHAT is any number of
 *   header N FIELD VALUE         time_first, time_last, record_count, sample_count, lost_count of
 *                                chunk N; VALUE is a number or + or - and one
 *   type N TYPE NEW              records of a type in chunk N become those of another
 *   poke N TYPE OFFSET BYTES VALUE    in the bodies of records of a type in chunk N
 *   drop N                       without chunk N
 *   copy N TO                    chunk N once more, before chunk TO, with a sequence that fits
 */
#include <stdbool.h>
#include <stdio.h>

#include "tests/fuzz/mutate_trace.h"

#define BYTES_MAX (64u << 20)

static struct mutate trace;
static char **words;

static void stop(const char *why)
{
    fprintf(stderr, "lie: %s\n", why);
    exit(2);
}

static const char *word(void)
{
    if (*words == NULL)
        stop("a word is missing; see the top of tests/tools/lie.c");
    return *words++;
}

static uint64_t number(uint64_t of)
{
    const char *text = word();
    uint64_t value = strtoull(text + (*text == '+' || *text == '-'), NULL, 0);

    return *text == '+' ? of + value : *text == '-' ? of - value : value;
}

static struct mutate_chunk *chunk(void)
{
    uint64_t n = number(0);

    if (n >= trace.count)
        stop("there is no such chunk");
    return &trace.chunks[n];
}

static void tell_header(struct hr_chunk_header *h)
{
    const char *field = word();

    if (strcmp(field, "time_first") == 0)
        h->time_first = number(h->time_first);
    else if (strcmp(field, "time_last") == 0)
        h->time_last = number(h->time_last);
    else if (strcmp(field, "record_count") == 0)
        h->record_count = (uint32_t)number(h->record_count);
    else if (strcmp(field, "sample_count") == 0)
        h->sample_count = (uint32_t)number(h->sample_count);
    else if (strcmp(field, "lost_count") == 0)
        h->lost_count = number(h->lost_count);
    else
        stop("there is no such field");
}

/* Each record of a type in a chunk gets another type, or another value in its body. */
static void tell_records(struct mutate_chunk *c, bool retype)
{
    static uint32_t records[65536];
    uint32_t count = mutate_records(c, records, 65536);
    uint64_t type = number(0), offset = retype ? 0 : number(0);
    uint64_t bytes = retype ? 1 : number(0), value = number(0);
    bool found = false;

    for (uint32_t i = 0; i < count; i++) {
        uint8_t *at = c->payload + records[i];

        if (*at != type || offset + bytes + (retype ? 0 : 4) > mutate_record_bytes(c, records[i]))
            continue;
        found = true;
        memcpy(retype ? at : at + 4 + offset, &value, bytes <= 8 ? bytes : 8);
    }
    if (!found)
        stop("no record was changed");
}

static void drop(const struct mutate_chunk *c)
{
    uint32_t n = (uint32_t)(c - trace.chunks);

    memmove(trace.chunks + n, trace.chunks + n + 1, (--trace.count - n) * sizeof *c);
}

static void copy(const struct mutate_chunk *c, uint64_t to)
{
    struct mutate_chunk twin = {.header = c->header, .payload = malloc(HR_CHUNK_PAYLOAD_MAX)};

    if (to > trace.count || trace.count == MUTATE_CHUNKS_MAX || twin.payload == NULL)
        stop("no room for the copy");
    memcpy(twin.payload, c->payload, twin.header.payload_bytes);
    memmove(trace.chunks + to + 1, trace.chunks + to, (trace.count++ - to) * sizeof twin);
    trace.chunks[to] = twin;
}

static void tell(const char *what)
{
    struct mutate_chunk *c = chunk();

    if (strcmp(what, "header") == 0)
        tell_header(&c->header);
    else if (strcmp(what, "type") == 0 || strcmp(what, "poke") == 0)
        tell_records(c, *what == 't');
    else if (strcmp(what, "drop") == 0)
        drop(c);
    else if (strcmp(what, "copy") == 0)
        copy(c, number(0));
    else
        stop("unknown word; see the top of tests/tools/lie.c");
}

/* So that chunks are missed nowhere. */
static void number_chunks(void)
{
    static uint32_t next[65536];

    for (uint32_t i = 0; i < trace.count; i++)
        if (trace.chunks[i].header.type <= HR_CHUNK_END)
            trace.chunks[i].header.sequence = next[trace.chunks[i].header.cpu]++;
}

int main(int argc, char **argv)
{
    static uint8_t bytes[BYTES_MAX];
    FILE *in = argc > 3 ? fopen(argv[1], "rb") : NULL;
    FILE *out = argc > 3 ? fopen(argv[2], "wb") : NULL;
    size_t count;

    if (in == NULL || out == NULL)
        stop("usage: lie IN OUT WHAT...");
    count = fread(bytes, 1, sizeof bytes, in);
    if (!mutate_parse(&trace, bytes, count))
        stop("no trace");
    words = argv + 3;
    while (*words != NULL)
        tell(word());
    number_chunks();
    count = mutate_write(&trace, bytes, sizeof bytes);
    return fwrite(bytes, 1, count, out) != count || fclose(out) != 0;
}
