/* Resolves run-time addresses through a trace's load maps. */
#include "host/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols_elf.h"
#include "host/symbols_file.h"

#define RANGE_BYTES 4096ull

struct object { /* a file that at least one map shows */
    char *path; /* as recorded; identifies the object */
    const char *name; /* its last part */
    bool kernel;
    bool asked; /* symbols_find was called for an address in it */
    int status; /* of symbols_file_open, symbols_elf_open */
    struct symbols_file file;
    struct symbols_elf elf;
};

struct mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    size_t object;
};

struct symbols {
    struct object *objects;
    size_t object_count;
    struct mapping *mappings; /* in the order of the trace; later ones win */
    size_t mapping_count;
    const struct symbols_options *options;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int open_object(struct symbols *s, const struct trace_map *map, bool program)
{
    struct object *object = &s->objects[s->object_count];

    object->path = strdup(map->path);
    if (object->path == NULL)
        return -ENOMEM;
    object->name = last_part(object->path);
    object->kernel = (map->meta.flags & HR_MAP_KERNEL) != 0;
    object->status = symbols_file_open(&object->file, map, program, s->options);
    if (object->status == 0)
        object->status = symbols_elf_open(&object->elf, object->file.fd);
    s->object_count++;
    return object->status == -ENOMEM ? -ENOMEM : 0;
}

static int add_map(struct symbols *s, const struct trace_map *map, bool program)
{
    size_t i = 0;
    int error = 0;

    while (i < s->object_count && strcmp(s->objects[i].path, map->path) != 0)
        i++;
    if (i == s->object_count)
        error = open_object(s, map, program);
    if (error == 0)
        s->mappings[s->mapping_count++] = (struct mapping){
            .start = map->meta.start,
            .end = map->meta.end,
            .file_offset = map->meta.file_offset,
            .object = i,
        };
    return error;
}

/* Without a map (its chunk is lost) a named program is taken as linked: one map of everything. */
static int add_program_only(struct symbols *s, const char *path)
{
    struct trace_map map = {.meta = {.start = 0, .end = UINT64_MAX},
                            .path = (char *)(uintptr_t)path};
    int error = add_map(s, &map, true);
    struct symbols_elf *elf = &s->objects[0].elf;

    if (error == 0 && elf->segment_count != 0) {
        s->mappings[0].start = elf->segments[0].address;
        s->mappings[0].file_offset = elf->segments[0].file_offset;
    }
    return error;
}

static int add_maps(struct symbols *s, const struct trace_info *info)
{
    const char *program = symbols_file_program(info);
    int error = 0;

    for (size_t i = 0; i < info->map_count && error == 0; i++) {
        const struct trace_map *map = &info->maps[i];

        if (symbols_file_named(map))
            error = add_map(s, map, program != NULL && strcmp(map->path, program) == 0);
    }
    if (error == 0 && s->mapping_count == 0 && s->options->program != NULL)
        error = add_program_only(s, s->options->program);
    return error;
}

int symbols_open(struct symbols **symbols, const struct trace_info *info,
                 const struct symbols_options *options)
{
    struct symbols *s = calloc(1, sizeof *s);
    int error = s != NULL ? 0 : -ENOMEM;

    if (error == 0) {
        static const struct symbols_options defaults;

        s->options = options != NULL ? options : &defaults;
        s->objects = calloc(info->map_count + 1, sizeof s->objects[0]);
        s->mappings = calloc(info->map_count + 1, sizeof s->mappings[0]);
        error = s->objects != NULL && s->mappings != NULL ? add_maps(s, info) : -ENOMEM;
    }
    if (error != 0) {
        symbols_close(s);
        s = NULL;
    }
    *symbols = s;
    return error;
}

static bool usable(const struct object *object)
{
    return object->status == 0 || object->status == -ENODATA;
}

void symbols_close(struct symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->object_count; i++) {
        if (usable(&symbols->objects[i]))
            symbols_elf_close(&symbols->objects[i].elf);
        if (symbols->objects[i].file.path != NULL)
            symbols_file_close(&symbols->objects[i].file);
        free(symbols->objects[i].path);
    }
    free(symbols->objects);
    free(symbols->mappings);
    free(symbols);
}

static const struct mapping *find_mapping(const struct symbols *s, uint64_t address)
{
    for (size_t i = s->mapping_count; i-- > 0;)
        if (address >= s->mappings[i].start && address < s->mappings[i].end)
            return &s->mappings[i];
    return NULL;
}

/* The kernel runs where it was linked; a program's file may be mapped anywhere. */
static uint64_t linked_address(const struct object *object, const struct mapping *mapping,
                               uint64_t address)
{
    if (object->kernel)
        return address;
    return symbols_elf_address(&object->elf, address - mapping->start + mapping->file_offset);
}

bool symbols_find(struct symbols *symbols, uint64_t address, struct symbols_place *place)
{
    const struct mapping *mapping = find_mapping(symbols, address);
    const struct symbols_function *function;
    struct object *object;
    uint64_t linked;

    memset(place, 0, sizeof *place);
    place->start = address & ~(RANGE_BYTES - 1);
    place->end = place->start + RANGE_BYTES;
    place->offset = address - place->start;
    place->kernel = address >> 63 != 0;
    if (mapping == NULL)
        return false;
    object = &symbols->objects[mapping->object];
    object->asked = true;
    place->kernel = object->kernel;
    place->object = object->name;
    if (object->status != 0)
        return true;
    linked = linked_address(object, mapping, address);
    function = symbols_elf_find(&object->elf, linked);
    if (function == NULL)
        return true;
    place->name = function->name;
    place->offset = linked - function->start;
    place->start = address - place->offset;
    place->end = place->start + (function->end - function->start);
    return true;
}

uint32_t symbols_frames(struct symbols *symbols, uint64_t address,
                        struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    struct symbols_place place;

    symbols_find(symbols, address, &place);
    frames[0] = (struct symbols_frame){.function = place.name};
    return 1;
}

static const char *kernel_problem(int status)
{
    switch (status) {
    case -ESTALE:
        return "not the kernel of that run, the build-ids differ: showing addresses of kernel "
               "code; put that run's guest.elf back";
    case -ENOENT:
        return "the kernel of that run is not there: showing addresses of its code; put its "
               "guest.elf back";
    case -ENODATA:
        return "a kernel without symbols: showing addresses of its code";
    default:
        return strerror(-status);
    }
}

static const char *program_problem(int status)
{
    switch (status) {
    case -ENODATA:
        return "stripped: showing address ranges; build it with symbols to see functions";
    case -ESTALE:
        return "its build-id is not the recorded program's: showing addresses; name the right "
               "file with --program";
    case -ENOEXEC:
        return "not an ELF file: showing addresses; name the program with --program";
    case -ENOENT:
        return "not found: showing addresses; name the program with --program";
    default:
        return strerror(-status);
    }
}

const char *symbols_problem(const struct symbols *symbols, size_t index, const char **file)
{
    for (size_t i = 0; i < symbols->object_count; i++) {
        const struct object *object = &symbols->objects[i];

        if (object->status == 0 || (object->kernel && !object->asked) || index-- != 0)
            continue;
        *file = object->path;
        return object->kernel ? kernel_problem(object->status) : program_problem(object->status);
    }
    return NULL;
}
