/* A file that load maps show.  It is opened when an address in it is looked up;
 * symbols_object_problem says why it cannot be used.  For host/symbols/symbols.c; never prints. */
#pragma once

#include "host/object/symbols_file.h"
#include "host/symbols/symbols_data.h"
#include "host/symbols/symbols_elf.h"
#include "host/symbols/symbols_lines.h"
#include "host/symbols/symbols_types.h"
#include "host/trace/trace_info.h"

struct symbols_object {
    struct trace_map map; /* a map of the file, identifies it by path and build-id; owns the path */
    const char *name; /* the path's last part */
    bool program;
    bool kernel;
    bool loaded; /* file and elf are final; atomic */
    bool unnamed; /* an address in it had no function; atomic */
    bool lines_loaded; /* lines are final; atomic */
    bool bounds_loaded; /* bounds are final; atomic */
    int status; /* result of symbols_file_open or symbols_elf_open */
    int lines_status; /* result of symbols_lines_open */
    struct symbols_file file;
    struct symbols_elf elf;
    struct symbols_data data; /* loaded when it is needed */
    struct symbols_types *types; /* likewise; NULL: none */
    bool types_loaded;
    struct symbols_lines *lines; /* NULL: none */
    struct symbols_function *bounds; /* functions without a name; ascending; owned */
    size_t bound_count;
    char *stranger; /* from symbols_module_stranger; owned */
    char *problem; /* the last text of symbols_object_problem; owned */
};

/* Returns 0 or -ENOMEM. */
int symbols_object_init(struct symbols_object *object, const struct trace_map *map, bool program);
void symbols_object_free(struct symbols_object *object);

bool symbols_object_is(const struct symbols_object *object, const struct trace_map *map);

/* Opens the file, once. */
void symbols_object_load(struct symbols_object *object, const struct symbols_options *options);

/* Opens the debug information of a loaded file, once. */
void symbols_object_load_lines(struct symbols_object *object, const struct symbols_options *options,
                               struct symbols_names *names);

/* Likewise the types of its variables. */
void symbols_object_load_types(struct symbols_object *object,
                               const struct symbols_options *options);

/* Reads the bounds of functions from the call frame information, once.  A stripped file says no
 * more about them. */
void symbols_object_load_bounds(struct symbols_object *object);

/* Returns the function at an address, with a NULL raw name; or NULL. */
struct symbols_function *symbols_object_bounds(const struct symbols_object *object,
                                               uint64_t address);

/* Returns whether the file's segments are known, so that its addresses can be mapped. */
bool symbols_object_usable(const struct symbols_object *object);

/* Returns what is wrong with the file, with the remedy, or NULL. */
const char *symbols_object_problem(struct symbols_object *object);
