/* Reads the symbols of variables. */
#include "host/symbols/symbols_data.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/search.h"

#define NOT_IN_MEMORY \
    UINT32_MAX /* libdwfl says so of a section: the linker's warnings are in some */
#define NESTED_MAX 8u /* objects inside another one and before the address */

/* The larger one first, then the one with fewer underscores: stdout, not _IO_stdout_. */
static int by_start(const void *a, const void *b)
{
    const struct symbols_function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (strspn(x->raw, "_") != strspn(y->raw, "_"))
        return strspn(x->raw, "_") < strspn(y->raw, "_") ? -1 : 1;
    return strcmp(x->raw, y->raw);
}

/* Aliases become one object: the first. */
static void drop_aliases(struct symbols_data *data)
{
    size_t kept = 0;

    for (size_t i = 0; i < data->count; i++)
        if (kept == 0 || data->objects[kept - 1].start != data->objects[i].start)
            data->objects[kept++] = data->objects[i];
    data->count = kept;
}

void symbols_data_load(struct symbols_data *data, const struct symbols_elf *elf)
{
    int count = data->loaded ? 0 : dwfl_module_getsymtab(elf->module.module);

    data->loaded = true;
    for (int i = 1; i < count && data->count < SYMBOLS_ELF_FUNCTIONS_MAX; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section = 0;
        const char *name =
            dwfl_module_getsym_info(elf->module.module, i, &symbol, &address, &section, NULL, NULL);

        if (name == NULL || name[0] == 0 || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
            address + symbol.st_size < address || section == NOT_IN_MEMORY)
            continue;
        if (array_grow(&data->objects, data->count, sizeof data->objects[0]) != 0)
            break;
        data->objects[data->count++] =
            (struct symbols_function){address, address + symbol.st_size, name, NULL};
    }
    if (data->count != 0)
        qsort(data->objects, data->count, sizeof data->objects[0], by_start);
    drop_aliases(data);
}

void symbols_data_free(struct symbols_data *data)
{
    free(data->objects);
    *data = (struct symbols_data){0};
}

const struct symbols_function *symbols_data_find(const struct symbols_data *data, uint64_t address)
{
    size_t low = search_address(data->objects, sizeof data->objects[0], data->count, address);

    for (size_t n = 0; n < low && n < NESTED_MAX; n++) /* usually the first one */
        if (address < data->objects[low - 1 - n].end)
            return &data->objects[low - 1 - n];
    return NULL;
}
