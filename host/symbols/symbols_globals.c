/* Finds global objects by the code that refers to them. */
#include "host/symbols/symbols_globals.h"

#include <stdio.h>

#include "host/symbols/symbols_state.h"

bool symbols_globals_find(struct symbols *symbols, uint64_t code, struct symbols_globals *globals)
{
    const struct trace_range *range = trace_ranges_find(&symbols->maps, code);
    struct symbols_object *object =
        range != NULL ? symbols_object_open(symbols, range->object) : NULL;

    if (object == NULL || object->kernel || !symbols_object_usable(object))
        return false;
    pthread_mutex_lock(&symbols->lock);
    symbols_data_load(&object->data, &object->elf);
    pthread_mutex_unlock(&symbols->lock);
    *globals = (struct symbols_globals){.data = &object->data,
                                        .code = symbols_linked_address(object, range, code),
                                        .start = symbols_elf_start(&object->elf),
                                        .end = symbols_elf_end(&object->elf),
                                        .file = range->object,
                                        .program = object->program};
    return true;
}

/* Fills the name and the offset of a link-time address. */
static void name_data(struct symbols *s, const struct symbols_data *data, uint64_t linked,
                      struct symbols_place *place)
{
    const struct symbols_function *found = symbols_data_find(data, linked);

    if (found == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    place->name = symbols_names_function(&s->names, found->raw, s->options.raw_names);
    place->offset = place->name != NULL ? linked - found->start : linked;
    pthread_mutex_unlock(&s->lock);
}

enum symbols_data_place symbols_data(struct symbols *symbols, uint64_t code, uint64_t distance,
                                     struct symbols_place *place)
{
    const struct symbols_object *object;
    struct symbols_globals globals;
    uint64_t linked;

    if (!symbols_globals_find(symbols, code, &globals))
        return SYMBOLS_DATA_ELSEWHERE;
    object = symbols->objects[globals.file];
    linked = globals.code + distance;
    *place = (struct symbols_place){.object = object->name, .offset = linked};
    if (symbols_elf_holds(&object->elf, linked)) {
        name_data(symbols, globals.data, linked, place);
        return SYMBOLS_DATA_HERE;
    }
    if (!globals.program || linked < globals.end)
        return SYMBOLS_DATA_ELSEWHERE;
    place->offset = linked - globals.end;
    return SYMBOLS_DATA_BEHIND;
}

char *symbols_globals_name(struct symbols *symbols, uint32_t file, uint64_t address, bool whole,
                           char text[SYMBOLS_GLOBAL_BYTES])
{
    struct symbols_object *object = symbols->objects[file];
    const struct symbols_function *found = symbols_data_find(&object->data, address);
    const char *name = NULL;
    char part[SYMBOLS_GLOBAL_BYTES / 2] = "";

    if (found == NULL) {
        snprintf(text, SYMBOLS_GLOBAL_BYTES, "%s", object->name);
        return text;
    }
    pthread_mutex_lock(&symbols->lock);
    name = symbols_names_function(&symbols->names, found->raw, symbols->options.raw_names);
    if (!whole)
        symbols_object_load_types(object, &symbols->options);
    if (!whole &&
        (object->types == NULL || !symbols_types_part(object->types, found->start,
                                                      address - found->start, part, sizeof part)) &&
        address != found->start)
        snprintf(part, sizeof part, "+0x%lx", address - found->start);
    pthread_mutex_unlock(&symbols->lock);
    snprintf(text, SYMBOLS_GLOBAL_BYTES, "%.*s%.*s", SYMBOLS_GLOBAL_BYTES / 2 - 1,
             name != NULL ? name : found->raw, SYMBOLS_GLOBAL_BYTES / 2, part);
    return text;
}
