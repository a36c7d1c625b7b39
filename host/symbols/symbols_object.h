/* A file that load maps show: opened when an address in it is looked up, and what is said about it
 * if it does not serve.  For host/symbols/symbols.c; never prints.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_OBJECT_H
#define HOST_SYMBOLS_SYMBOLS_OBJECT_H

#include "host/object/symbols_file.h"
#include "host/symbols/symbols_elf.h"
#include "host/symbols/symbols_lines.h"
#include "host/trace/trace_info.h"

struct symbols_object {
    struct trace_map map; /* one that shows it; identifies it by path and build-id; path owned */
    const char *name; /* the path's last part */
    bool program;
    bool kernel;
    bool loaded; /* file and elf are settled; read and written as an atomic */
    bool unnamed; /* an address in it had no function; an atomic, too */
    bool lines_loaded; /* so are lines */
    bool bounds_loaded; /* bounds are settled; an atomic, too */
    int status; /* of symbols_file_open, symbols_elf_open */
    int lines_status; /* of symbols_lines_open */
    struct symbols_file file;
    struct symbols_elf elf;
    struct symbols_lines *lines; /* NULL: none */
    struct symbols_function *bounds; /* functions without a name; ascending; owned */
    size_t bound_count;
    char *stranger; /* as symbols_module_stranger; owned */
    char *problem; /* the last text that was made; owned */
};

/* 0 or -ENOMEM. */
int symbols_object_init(struct symbols_object *object, const struct trace_map *map, bool program);
void symbols_object_free(struct symbols_object *object);

bool symbols_object_is(const struct symbols_object *object, const struct trace_map *map);

/* Opens the file, once. */
void symbols_object_load(struct symbols_object *object, const struct symbols_options *options);

/* Opens the debug information of a file that was loaded, once. */
void symbols_object_load_lines(struct symbols_object *object, const struct symbols_options *options,
                               struct symbols_names *names);

/* Reads where functions begin and end from the call frame information, once: all that a stripped
 * file says of them. */
void symbols_object_load_bounds(struct symbols_object *object);

/* The function there, whose raw name is NULL; or NULL. */
struct symbols_function *symbols_object_bounds(const struct symbols_object *object,
                                               uint64_t address);

/* Whether the file's segments are known: its addresses have a meaning. */
bool symbols_object_usable(const struct symbols_object *object);

/* What to say about the file, with the remedy, or NULL. */
const char *symbols_object_problem(struct symbols_object *object);

#endif
