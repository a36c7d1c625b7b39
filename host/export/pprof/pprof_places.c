/* Writes strings, functions and locations of a pprof profile. */
#include "host/export/pprof/pprof_places.h"

#include <errno.h>
#include <stdlib.h>

#define LOCATIONS_MAX (1u << 19)
#define NAMES_MAX (1u << 17)

enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

int pprof_places_init(struct pprof_places *places, struct export *e)
{
    places->e = e;
    places->seen = calloc(e->info.map_count + 1, sizeof places->seen[0]);
    if (places->seen == NULL || numbers_init(&places->strings, NAMES_MAX) != 0 ||
        numbers_init(&places->functions, NAMES_MAX) != 0 ||
        numbers_init(&places->locations, LOCATIONS_MAX) != 0)
        return -ENOMEM;
    if (gzip_init(&places->gzip, &e->output) != 0)
        return -ENOMEM;
    places->team = row_team_new(&places->gzip.plain, &e->scan, NULL, NULL);
    return places->team != NULL ? 0 : -ENOMEM;
}

void pprof_places_free(struct pprof_places *places)
{
    row_team_free(places->team);
    gzip_free(&places->gzip);
    numbers_free(&places->strings);
    numbers_free(&places->functions);
    numbers_free(&places->locations);
    proto_free(&places->message);
    free(places->seen);
}

void pprof_places_put(struct pprof_places *places)
{
    row_team_bytes(places->team, places->message.bytes, places->message.used);
    places->message.used = 0;
}

void pprof_places_finish(struct pprof_places *places)
{
    row_team_free(places->team);
    places->team = NULL;
    gzip_finish(&places->gzip);
}

uint64_t pprof_places_string(struct pprof_places *places, const char *text)
{
    bool added;
    uint64_t number = numbers_of_text(&places->strings, text, &added);

    if (added) {
        proto_text(&places->message, PROFILE_STRING, text);
        pprof_places_put(places);
    }
    return number;
}

static uint64_t function_of(struct pprof_places *places, const char *name, const char *file)
{
    uint64_t name_string = pprof_places_string(places, name);
    uint64_t file_string = file != NULL ? pprof_places_string(places, file) : 0;
    bool added;
    uint64_t number = numbers_of(&places->functions, name_string, file_string, &added);
    size_t mark;

    if (!added)
        return number;
    mark = proto_begin(&places->message, PROFILE_FUNCTION);
    proto_number(&places->message, FUNCTION_ID, number);
    proto_number(&places->message, FUNCTION_NAME, name_string);
    proto_number(&places->message, FUNCTION_SYSTEM_NAME, name_string);
    if (file != NULL)
        proto_number(&places->message, FUNCTION_FILE, file_string);
    proto_end(&places->message, mark);
    pprof_places_put(places);
    return number;
}

/* The functions at an address as numbers, and what was known of them. */
static uint32_t functions_of(struct pprof_places *places, uint64_t address, struct pprof_seen *seen,
                             uint64_t functions[SYMBOLS_FRAMES_MAX],
                             struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    uint32_t number = functions_at(&places->e->functions, address); /* may move the rows */
    const struct function *function = &places->e->functions.rows[number];
    uint32_t count = symbols_frames(places->e->symbols, address, frames);
    char label[FUNCTIONS_LABEL_BYTES];
    char kernel[FUNCTIONS_LABEL_BYTES + 16];

    seen->inlined |= count > 1;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = frames[i].function;

        seen->function |= name != NULL;
        seen->file |= frames[i].file != NULL;
        seen->line |= frames[i].line != 0;
        if (name == NULL)
            name = functions_label(function, label);
        if (function->kernel) {
            snprintf(kernel, sizeof kernel, "[kernel] %.1000s", name);
            name = kernel;
        }
        functions[i] = function_of(places, name, frames[i].file);
    }
    return count;
}

uint64_t pprof_places_location(struct pprof_places *places, uint64_t address)
{
    bool added;
    uint64_t number = numbers_of(&places->locations, address, 0, &added);
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    uint64_t functions[SYMBOLS_FRAMES_MAX];
    uint32_t count;
    size_t map, mark;

    if (!added)
        return number;
    map = export_map(&places->e->info, address);
    count = functions_of(places, address, &places->seen[map], functions, frames);
    mark = proto_begin(&places->message, PROFILE_LOCATION);
    proto_number(&places->message, LOCATION_ID, number);
    if (map != 0)
        proto_number(&places->message, LOCATION_MAPPING, map);
    proto_number(&places->message, LOCATION_ADDRESS, address);
    for (uint32_t i = 0; i < count; i++) {
        size_t line = proto_begin(&places->message, LOCATION_LINE);

        proto_number(&places->message, LINE_FUNCTION, functions[i]);
        if (frames[i].line != 0)
            proto_number(&places->message, LINE_LINE, frames[i].line);
        proto_end(&places->message, line);
    }
    proto_end(&places->message, mark);
    pprof_places_put(places);
    return number;
}

bool pprof_places_fit(const struct pprof_places *places, uint32_t count)
{
    return numbers_count(&places->locations) + count <= places->locations.room;
}

uint64_t pprof_places_ending(struct pprof_places *places, uint32_t root)
{
    bool added;
    uint64_t number = numbers_of(&places->locations, root, 1, &added);
    uint64_t function;
    size_t mark, line;

    if (!added)
        return number;
    function = function_of(places, root == HR_STACK_CUT ? "[truncated]" : "[broken]", NULL);
    mark = proto_begin(&places->message, PROFILE_LOCATION);
    proto_number(&places->message, LOCATION_ID, number);
    line = proto_begin(&places->message, LOCATION_LINE);
    proto_number(&places->message, LINE_FUNCTION, function);
    proto_end(&places->message, line);
    proto_end(&places->message, mark);
    pprof_places_put(places);
    return number;
}
