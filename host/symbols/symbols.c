/* Resolves run-time addresses through a trace's load maps. */
#include "host/symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/object/symbols_debuginfod.h"
#include "host/symbols/symbols_made.h"

#define RANGE_BYTES 4096ull
#define LINES_HELD_MAX (96ull << 20) /* more than the lines of any one unit that is read */

static int find_object(struct symbols *s, const struct trace_map *map, bool program, size_t *index)
{
    struct symbols_object *object;
    int error;

    for (*index = 0; *index < s->object_count; ++*index)
        if (symbols_object_is(s->objects[*index], map))
            return 0;
    if (array_grow(&s->objects, s->object_count, sizeof(struct symbols_object *)) != 0)
        return -ENOMEM;
    object = malloc(sizeof *object);
    error = object != NULL ? symbols_object_init(object, map, program) : -ENOMEM;
    if (error == 0)
        s->objects[s->object_count++] = object;
    else
        free(object);
    return error;
}

static int add_map(struct symbols *s, const struct trace_map *map, bool program)
{
    size_t index;
    int error = find_object(s, map, program, &index);

    if (error != 0)
        return error;
    return trace_ranges_add(&s->maps, &(struct trace_range){.start = map->meta.start,
                                                            .end = map->meta.end,
                                                            .file_offset = map->meta.file_offset,
                                                            .object = (uint32_t)index});
}

/* Without a map (its chunk is lost), assumes that the named program is at its link-time addresses:
 * one map of everything. */
static int add_program_only(struct symbols *s, const char *path)
{
    struct trace_map map = {.meta = {.start = 0, .end = UINT64_MAX},
                            .path = (char *)(uintptr_t)path};
    struct symbols_object *object;
    size_t index;
    int error = find_object(s, &map, true, &index);

    if (error != 0)
        return error;
    object = s->objects[index];
    symbols_object_load(object, &s->options);
    if (symbols_object_usable(object) && object->elf.segment_count != 0) {
        map.meta.start = object->elf.segments[0].address;
        map.meta.file_offset = object->elf.segments[0].file_offset;
    }
    return add_map(s, &map, true);
}

int symbols_update(struct symbols *symbols, const struct trace_info *info)
{
    const char *program = symbols_file_program(info);
    int error = 0;

    for (; symbols->map_count < info->map_count && error == 0; symbols->map_count++) {
        const struct trace_map *map = &info->maps[symbols->map_count];

        if (symbols_file_named(map))
            error = add_map(symbols, map, program != NULL && strcmp(map->path, program) == 0);
    }
    for (; symbols->view_count < info->processes.spaces.view_count && error == 0;
         symbols->view_count++) {
        struct trace_map map;

        trace_info_view(info, symbols->view_count, &map);
        if (symbols_file_named(&map))
            error = add_map(symbols, &map, program != NULL && strcmp(map.path, program) == 0);
    }
    return error;
}

int symbols_open(struct symbols **symbols, const struct trace_info *info,
                 const struct symbols_options *options)
{
    struct symbols *s = calloc(1, sizeof *s);
    int error;

    *symbols = NULL;
    if (s == NULL)
        return -ENOMEM;
    if (options != NULL)
        s->options = *options;
    pthread_mutex_init(&s->lock, NULL);
    s->made = trace_names_hold(info->names);
    symbols_debuginfod_init(!s->options.no_debuginfod);
    error = symbols_update(s, info);
    if (error == 0 && s->maps.count == 0 && s->options.program != NULL)
        error = add_program_only(s, s->options.program);
    if (error == 0)
        *symbols = s;
    else
        symbols_close(s);
    return error;
}

void symbols_close(struct symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->object_count; i++) {
        symbols_object_free(symbols->objects[i]);
        free(symbols->objects[i]);
    }
    free(symbols->objects);
    trace_ranges_free(&symbols->maps);
    symbols_names_free(&symbols->names);
    symbols_cache_free(symbols->cache);
    trace_names_release(symbols->made);
    pthread_mutex_destroy(&symbols->lock);
    free(symbols);
}

struct symbols_object *symbols_object_open(struct symbols *s, uint32_t number)
{
    struct symbols_object *object = s->objects[number];

    if (__atomic_load_n(&object->loaded, __ATOMIC_ACQUIRE))
        return object;
    pthread_mutex_lock(&s->lock);
    if (!object->loaded)
        symbols_object_load(object, &s->options);
    pthread_mutex_unlock(&s->lock);
    return object;
}

uint64_t symbols_linked_address(const struct symbols_object *object,
                                const struct trace_range *range, uint64_t address)
{
    if (object->kernel)
        return address;
    return symbols_elf_address(&object->elf, address - range->start + range->file_offset);
}

/* Makes "libx.so+0x1130", with a link-time address, for a function with bounds but no name. */
static const char *keep_bounds_name(struct symbols *s, const struct symbols_object *object,
                                    const struct symbols_function *function)
{
    const char *kept;
    char *text;

    if (asprintf(&text, "%s+0x%lx", object->name, function->start) < 0)
        return NULL;
    kept = symbols_names_keep(&s->names, text, strlen(text));
    free(text);
    return kept;
}

/* Returns its name for people, made at the first request. */
static const char *function_name(struct symbols *s, const struct symbols_object *object,
                                 struct symbols_function *function)
{
    const char *name = __atomic_load_n(&function->name, __ATOMIC_ACQUIRE);

    if (name != NULL)
        return name;
    pthread_mutex_lock(&s->lock);
    if (function->name == NULL) {
        name = function->raw != NULL
                   ? symbols_names_function(&s->names, function->raw, s->options.raw_names)
                   : keep_bounds_name(s, object, function);
        __atomic_store_n(&function->name, name != NULL ? name : function->raw, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&s->lock);
    return function->name;
}

static struct symbols_function *find_bounds(struct symbols *s, struct symbols_object *object,
                                            uint64_t linked)
{
    if (!__atomic_load_n(&object->bounds_loaded, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&s->lock);
        symbols_object_load_bounds(object);
        pthread_mutex_unlock(&s->lock);
    }
    return symbols_object_bounds(object, linked);
}

static void place_in(struct symbols *s, struct symbols_object *object, uint64_t linked,
                     uint64_t address, struct symbols_place *place)
{
    struct symbols_function *function =
        object->status == 0 ? symbols_elf_find(&object->elf, linked) : NULL;

    if (function == NULL) {
        if (object->status == 0 && !__atomic_load_n(&object->unnamed, __ATOMIC_RELAXED))
            __atomic_store_n(&object->unnamed, true, __ATOMIC_RELAXED);
        function = find_bounds(s, object, linked);
        place->nameless = true;
    }
    if (function == NULL)
        return;
    place->name = function_name(s, object, function);
    place->offset = linked - function->start;
    place->start = address - place->offset;
    place->end = place->start + (function->end - function->start);
}

/* Fills *place.  Returns the object with the link-time address, or NULL outside the maps: then
 * *made says that the trace itself has a name. */
static struct symbols_object *find(struct symbols *s, uint64_t address, struct symbols_place *place,
                                   uint64_t *linked, bool *made)
{
    const struct trace_range *range = trace_ranges_find(&s->maps, address);
    struct symbols_object *object;

    memset(place, 0, sizeof *place);
    place->start = address & ~(RANGE_BYTES - 1);
    place->end = place->start + RANGE_BYTES;
    place->offset = address - place->start;
    place->kernel = address >> 63 != 0;
    *made = false;
    if (range == NULL) {
        *made = symbols_made_place(s, address, place);
        return NULL;
    }
    object = symbols_object_open(s, range->object);
    place->kernel = object->kernel;
    place->object = object->name;
    if (symbols_object_usable(object)) {
        *linked = symbols_linked_address(object, range, address);
        place_in(s, object, *linked, address, place);
    }
    return object;
}

bool symbols_find(struct symbols *symbols, uint64_t address, struct symbols_place *place)
{
    uint64_t linked;
    bool made;

    return find(symbols, address, place, &linked, &made) != NULL || made;
}

static void forget_lines(struct symbols *s)
{
    uint64_t held = 0;

    for (size_t i = 0; i < s->object_count; i++)
        held += s->objects[i]->lines != NULL ? symbols_lines_held(s->objects[i]->lines) : 0;
    for (size_t i = 0; i < s->object_count && held > LINES_HELD_MAX; i++)
        if (s->objects[i]->lines != NULL)
            symbols_lines_forget(s->objects[i]->lines);
}

static uint32_t look_up(struct symbols *s, struct symbols_object *object, uint64_t linked,
                        struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    symbols_object_load_lines(object, &s->options, &s->names);
    if (object->lines == NULL)
        return 0;
    forget_lines(s);
    return symbols_lines_frames(object->lines, linked, frames);
}

uint32_t symbols_frames(struct symbols *symbols, uint64_t address,
                        struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    struct symbols_place place;
    uint64_t linked = 0;
    bool made;
    struct symbols_object *object = find(symbols, address, &place, &linked, &made);
    bool usable = object != NULL && symbols_object_usable(object);
    uint32_t count = 0;

    if (!usable && !made) { /* which takes nothing to find */
        frames[0] = (struct symbols_frame){.function = place.name};
        return 1;
    }
    pthread_mutex_lock(&symbols->lock);
    if (symbols->cache == NULL)
        symbols->cache = symbols_cache_new();
    if (symbols->cache != NULL)
        count = symbols_cache_get(symbols->cache, address, frames);
    if (count == 0) {
        if (usable)
            count = look_up(symbols, object, linked, frames);
        if (made)
            count = symbols_made_line(symbols, address, frames);
        if (count == 0)
            frames[count++] = (struct symbols_frame){0};
        if (place.name != NULL) /* as symbols_find gives it */
            frames[count - 1].function = place.name;
        if (symbols->cache != NULL)
            symbols_cache_put(symbols->cache, address, frames, count);
    }
    pthread_mutex_unlock(&symbols->lock);
    return count;
}

const char *symbols_problem(const struct symbols *symbols, size_t index, const char **file)
{
    for (size_t i = 0; i < symbols->object_count; i++) {
        const char *problem = symbols_object_problem(symbols->objects[i]);

        if (problem == NULL || index-- != 0)
            continue;
        *file = symbols->objects[i]->map.path;
        return problem;
    }
    return NULL;
}

bool symbols_is_start(const char *name)
{
    static const char *const names[] = {
        "_start",
        "__libc_start_main",
        "__libc_start_main_impl",
        "__libc_start_call_main",
        "start_thread",
        "thread_start",
        "clone3",
        "__clone3",
        "clone",
        "__clone",
        "libc_start_main_stage2",
        "_start_c",
    };

    for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}
