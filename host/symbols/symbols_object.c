/* Opens a file of the load maps, and describes what is wrong with it. */
#include "host/symbols/symbols_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/search.h"
#include "host/base/text.h"
#include "host/object/symbols_debuginfod.h"
#include "host/unwind/unwind_tables.h"
#include "lib/array.h"

#define BOUNDS_MEMORY_MAX (96ull << 20) /* while the tables are read */

int symbols_object_init(struct symbols_object *object, const struct trace_map *map, bool program)
{
    *object = (struct symbols_object){.map = *map, .program = program, .file.fd = -1};
    object->map.path = strdup(map->path);
    if (object->map.path == NULL)
        return -ENOMEM;
    object->name = text_base_name(object->map.path);
    object->kernel = (map->meta.flags & HR_MAP_KERNEL) != 0;
    return 0;
}

void symbols_object_free(struct symbols_object *object)
{
    symbols_lines_close(object->lines);
    symbols_data_free(&object->data);
    symbols_types_close(object->types);
    if (symbols_object_usable(object))
        symbols_elf_close(&object->elf);
    symbols_file_close(&object->file);
    free(object->bounds);
    free(object->stranger);
    free(object->problem);
    free(object->map.path);
}

bool symbols_object_is(const struct symbols_object *object, const struct trace_map *map)
{
    return strcmp(object->map.path, map->path) == 0 &&
           object->map.meta.build_id_bytes == map->meta.build_id_bytes &&
           memcmp(object->map.build_id, map->build_id, map->meta.build_id_bytes) == 0;
}

void symbols_object_load(struct symbols_object *object, const struct symbols_options *options)
{
    object->status = symbols_file_open(&object->file, &object->map, object->program, options);
    if (object->status == 0)
        object->status = symbols_elf_open(&object->elf, &object->file, options);
    if ((object->status == 0 || object->status == -ENODATA) && !object->elf.complete)
        object->stranger = symbols_module_stranger(&object->elf.module);
    __atomic_store_n(&object->loaded, true, __ATOMIC_RELEASE);
}

void symbols_object_load_lines(struct symbols_object *object, const struct symbols_options *options,
                               struct symbols_names *names)
{
    if (object->lines_loaded || !symbols_object_usable(object))
        return;
    object->lines_loaded = true;
    object->lines_status = symbols_lines_open(&object->lines, &object->file, options, names);
}

void symbols_object_load_types(struct symbols_object *object, const struct symbols_options *options)
{
    if (!object->types_loaded)
        (void)symbols_types_open(&object->types, &object->file, options);
    object->types_loaded = true;
}

/* Returns the larger table: next to .eh_frame, .debug_frame has either few functions or all. */
static const struct unwind_table *larger(const struct unwind_tables *tables)
{
    const struct unwind_table *table = &tables->tables[0];

    return tables->table_count == 2 && tables->tables[1].count > table->count ? &tables->tables[1]
                                                                              : table;
}

static void take_bounds(struct symbols_object *object, const struct unwind_table *table)
{
    object->bounds = calloc(table->count, sizeof object->bounds[0]);
    if (object->bounds == NULL)
        return;
    for (size_t i = 0; i < table->count && i < SYMBOLS_ELF_FUNCTIONS_MAX; i++) {
        const struct unwind_entry *entry = &table->entries[i];

        if (object->bound_count != 0 &&
            object->bounds[object->bound_count - 1].start == entry->start)
            continue;
        object->bounds[object->bound_count++] =
            (struct symbols_function){.start = entry->start, .end = entry->end};
    }
}

void symbols_object_load_bounds(struct symbols_object *object)
{
    struct unwind_tables tables;

    if (object->bounds_loaded)
        return;
    unwind_tables_open(&tables, object->file.fd, BOUNDS_MEMORY_MAX);
    if (tables.table_count != 0 && larger(&tables)->count != 0)
        take_bounds(object, larger(&tables));
    unwind_tables_close(&tables);
    __atomic_store_n(&object->bounds_loaded, true, __ATOMIC_RELEASE);
}

struct symbols_function *symbols_object_bounds(const struct symbols_object *object,
                                               uint64_t address)
{
    size_t low =
        search_address(object->bounds, sizeof object->bounds[0], object->bound_count, address);

    return low != 0 && address < object->bounds[low - 1].end ? &object->bounds[low - 1] : NULL;
}

bool symbols_object_usable(const struct symbols_object *object)
{
    return object->loaded && (object->status == 0 || object->status == -ENODATA);
}

static const char *file_problem(const struct symbols_object *object)
{
    static const struct {
        int status;
        const char *kernel, *program, *library;
    } problems[] = {
        {-ENODATA, "a kernel without symbols: showing addresses of its code",
         "stripped: showing functions by address; build it with symbols to see functions, or name "
         "the folder of its debug file with --debug-dir",
         "stripped: showing functions by address; install its debug symbols, or name their folder "
         "with --debug-dir"},
        {-ESTALE,
         "not the kernel of that run, the build-ids differ: showing addresses of kernel code; put "
         "that run's guest.elf back",
         "its build-id is not the recorded program's: showing addresses; name the right file with "
         "--program",
         "its build-id is not the recorded library's, it has changed since: showing addresses; "
         "name a folder that has the old one by build-id with --debug-dir"},
        {-ENOENT,
         "the kernel of that run is not there: showing addresses of its code; put its guest.elf "
         "back",
         "not found: showing addresses; name the program with --program",
         "not found: showing addresses; put the library back, or name a folder that has it by "
         "build-id with --debug-dir"},
        {-ENOEXEC, NULL, "not an ELF file: showing addresses; name the program with --program",
         "not an ELF file: showing addresses; put the library back"},
    };
    const char *text = NULL;

    if (object->status == -EFBIG)
        return "its sections unpack to more than is read: showing addresses";
    for (size_t i = 0; i < ARRAY_COUNT(problems); i++)
        if (problems[i].status == object->status)
            text = object->kernel    ? problems[i].kernel
                   : object->program ? problems[i].program
                                     : problems[i].library;
    return text != NULL ? text : strerror(-object->status);
}

static const char *no_debug_file(void)
{
    if (symbols_debuginfod_gave_up())
        return "debuginfod did not answer in time";
    return symbols_debuginfod_ready() ? "debuginfod has no debug file of it"
                                      : "there is no debug file of it";
}

/* Names Debian's packages with the debug symbols of a library. */
static const char *debug_symbols(const struct symbols_object *object)
{
    static const char *const of_libc[] = {"libc.so.", "ld-linux-", "libm.so.", "libmvec.so."};

    for (size_t i = 0; i < sizeof of_libc / sizeof of_libc[0]; i++)
        if (strncmp(object->name, of_libc[i], strlen(of_libc[i])) == 0)
            return "install libc6-dbg";
    return "install its package ending in -dbgsym";
}

/* Some functions have names, but not all of them. */
static const char *partly_problem(struct symbols_object *object)
{
    char *text = NULL;

    if (object->stranger != NULL)
        (void)asprintf(
            &text,
            "%s is the debug file of another build: showing functions by address where only "
            "that one knows the function; install the one that fits",
            object->stranger);
    else
        (void)asprintf(&text,
                       "%s: showing functions that it does not export by address; %s, or set "
                       "DEBUGINFOD_URLS=https://debuginfod.debian.net",
                       no_debug_file(), debug_symbols(object));
    free(object->problem);
    object->problem = text;
    return text;
}

static const char *lines_problem(const struct symbols_object *object)
{
    if (object->lines_status == -EFBIG)
        return "its debug information unpacks to more than is read: showing no lines and no "
               "inlined functions";
    return object->program ? "no debug information: showing no lines and no inlined functions; "
                             "build it with -g"
                           : "no debug information: showing no lines and no inlined functions; "
                             "install its debug symbols, or set DEBUGINFOD_URLS";
}

const char *symbols_object_problem(struct symbols_object *object)
{
    if (!object->loaded)
        return NULL;
    if (object->status != 0 && object->stranger == NULL)
        return file_problem(object);
    if ((object->unnamed || object->status != 0) && !object->elf.complete)
        return partly_problem(object);
    return object->lines_loaded && object->lines_status != 0 ? lines_problem(object) : NULL;
}
