/* Interns the places of addresses. */
#include "host/report/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define INDEX_BITS 18u /* twice the number of places, so at most half full */
#define KNOWN_BITS 14u
#define FRAMES_BITS 19u /* finding frames takes longer, and stacks that never repeat have many */

struct places_known { /* a cache with one entry per hash */
    uint64_t address;
    uint32_t place;
    uint8_t kind; /* 0: free */
};

static const char *const words[PLACES_RESERVED] = {
    [PLACES_OTHERS] = "[everything else]", [PLACES_TRUNCATED] = "[truncated]",
    [PLACES_BROKEN] = "[broken]",          [PLACES_NO_STACK] = "[no stack]",
    [PLACES_NO_PYTHON] = "[no Python]",
};

int places_init(struct places *p, struct symbols *symbols, bool frames)
{
    *p = (struct places){.symbols = symbols, .count = PLACES_RESERVED};
    p->all = calloc(PLACES_MAX, sizeof p->all[0]);
    p->index = calloc(1u << INDEX_BITS, sizeof p->index[0]);
    p->known = calloc(1u << KNOWN_BITS, sizeof p->known[0]);
    if (frames)
        p->known_frames = array_zeros(sizeof p->known_frames[0] << FRAMES_BITS);
    if (p->all == NULL || p->index == NULL || p->known == NULL ||
        (frames && p->known_frames == NULL))
        return -ENOMEM;
    for (uint32_t i = 0; i < PLACES_RESERVED; i++)
        p->all[i] = (struct place){.name = words[i], .kind = PLACE_WORD};
    return 0;
}

void places_free(struct places *p)
{
    free(p->all);
    free(p->index);
    free(p->known);
    free(p->known_frames);
    *p = (struct places){0};
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        hash = hash_add(hash, (unsigned char)*text) ^ hash >> 29;
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* An inlined function is one place, however often it was inlined. */
static bool same(const struct place *a, const struct place *b)
{
    return a->start == b->start && a->line == b->line && a->kind == b->kind &&
           a->inlined == b->inlined && a->kernel == b->kernel && same_text(a->name, b->name) &&
           same_text(a->object, b->object) && same_text(a->file, b->file);
}

static uint32_t intern(struct places *p, const struct place *place)
{
    uint64_t hash = hash_add(hash_add(place->start, place->line), place->kind);
    uint32_t i;

    if (place->start == 0) { /* otherwise the start suffices to distinguish nearly all places */
        hash = mix_text(mix_text(hash, place->name), place->file);
        hash = mix_text(hash, place->object);
    }
    i = (uint32_t)(hash_add(hash, place->inlined) >> (64 - INDEX_BITS));
    for (; p->index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1))
        if (same(&p->all[p->index[i]], place))
            return p->index[i];
    if (p->count == PLACES_MAX) {
        p->full = true;
        return PLACES_OTHERS;
    }
    p->all[p->count] = *place;
    return p->index[i] = p->count++;
}

static struct place function_at(struct places *p, uint64_t address)
{
    struct symbols_place found;

    symbols_find(p->symbols, address, &found);
    return (struct place){
        .kind = PLACE_FUNCTION,
        .name = found.name,
        .object = found.object,
        .kernel = found.kernel,
        .start = found.start,
        .end = found.end,
    };
}

/* Without a source line, its function is used. */
static struct place line_at(struct places *p, uint64_t address)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct place place = function_at(p, address);

    symbols_frames(p->symbols, address, frames);
    place.kind = PLACE_LINE;
    if (frames[0].file == NULL || frames[0].line == 0)
        return place;
    place.file = frames[0].file;
    place.line = frames[0].line;
    place.name = frames[0].function;
    place.start = place.end = 0; /* the line may have code in several functions */
    return place;
}

static struct place describe(struct places *p, enum place_kind kind, uint64_t address)
{
    struct place place;

    switch (kind) {
    case PLACE_LINE:
        return line_at(p, address);
    case PLACE_LIBRARY:
        place = function_at(p, address);
        return (struct place){.kind = PLACE_LIBRARY,
                              .object = place.object,
                              .kernel = place.kernel,
                              .start = place.object == NULL && place.kernel};
    case PLACE_ADDRESS:
        place = function_at(p, address);
        place.kind = PLACE_ADDRESS;
        place.offset = address - place.start;
        place.start = address;
        return place;
    case PLACE_FUNCTION:
        return function_at(p, address);
    default:
        return (struct place){.kind = PLACE_NONE};
    }
}

uint32_t places_find(struct places *p, enum place_kind kind, uint64_t address)
{
    struct places_known *known = &p->known[hash_add(address, kind) >> (64 - KNOWN_BITS)];
    struct place place;

    if (known->kind == kind && known->address == address && kind != PLACE_NONE)
        return known->place;
    place = describe(p, kind, address);
    *known = (struct places_known){address, intern(p, &place), (uint8_t)kind};
    return known->place;
}

void places_prefetch(const struct places *p, uint64_t address)
{
    __builtin_prefetch(&p->known_frames[hash_place(address, FRAMES_BITS)]);
}

uint32_t places_known(const struct places *p, uint64_t address)
{
    const struct places_known *known = &p->known_frames[hash_place(address, FRAMES_BITS)];

    return known->kind == PLACE_FRAME && known->address == address ? known->place : PLACES_OTHERS;
}

uint32_t places_frames(struct places *p, uint64_t address, uint32_t frames[SYMBOLS_FRAMES_MAX])
{
    struct places_known *known = &p->known_frames[hash_place(address, FRAMES_BITS)];
    struct symbols_frame found[SYMBOLS_FRAMES_MAX];
    struct place outer;
    uint32_t count;

    if (known->kind == PLACE_FRAME && known->address == address) {
        frames[0] = known->place;
        return 1;
    }
    outer = function_at(p, address);
    count = symbols_frames(p->symbols, address, found);
    outer.kind = PLACE_FRAME;
    for (uint32_t i = 0; i + 1 < count; i++) {
        const struct place inlined = {
            .kind = PLACE_FRAME,
            .name = found[i].function,
            .object = outer.object,
            .kernel = outer.kernel,
            .inlined = true,
        };

        frames[i] = intern(p, &inlined);
    }
    frames[count - 1] = intern(p, &outer);
    if (count == 1) /* only a single frame is cached */
        *known = (struct places_known){address, frames[0], PLACE_FRAME};
    return count;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

int places_compare(const struct places *p, uint32_t a, uint32_t b)
{
    const struct place *x = &p->all[a], *y = &p->all[b];
    int order = 0;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    order = compare_texts(x->object, y->object);
    if (order == 0)
        order = compare_texts(x->file, y->file);
    if (order == 0 && x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (order == 0)
        order = compare_texts(x->name, y->name);
    return order != 0 ? order : x->inlined - y->inlined;
}
