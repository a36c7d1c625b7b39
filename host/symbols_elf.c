/* Reads function symbols and segments of an ELF file through libelf. */
#include "host/symbols_elf.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX (4u << 20) /* far more than any program has; bounds memory */

struct candidate { /* a symbol before duplicates are dropped */
    struct symbols_function function;
    uint8_t rank; /* the larger, the better the name */
    bool label; /* assembler label without type */
};

struct collection {
    struct candidate *all;
    size_t count;
    size_t capacity;
};

static bool executable_section(Elf *elf, GElf_Section index)
{
    Elf_Scn *section = elf_getscn(elf, index);
    GElf_Shdr header;

    return section != NULL && gelf_getshdr(section, &header) != NULL &&
           (header.sh_flags & SHF_EXECINSTR) != 0;
}

static bool wanted(Elf *elf, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);

    if (symbol->st_shndx == SHN_UNDEF || name == NULL || name[0] == 0)
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    return type == STT_NOTYPE && name[0] != '.' && name[0] != '$' &&
           symbol->st_shndx < SHN_LORESERVE && executable_section(elf, symbol->st_shndx);
}

static int collect(struct collection *c, const GElf_Sym *symbol, const char *name)
{
    uint64_t end = symbol->st_value + symbol->st_size;
    bool label = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;

    if (c->count == c->capacity) {
        size_t capacity = c->capacity != 0 ? c->capacity * 2 : 1024;
        struct candidate *all = reallocarray(c->all, capacity, sizeof *all);

        if (all == NULL)
            return -ENOMEM;
        c->all = all;
        c->capacity = capacity;
    }
    c->all[c->count++] = (struct candidate){
        .function = {symbol->st_value, end >= symbol->st_value ? end : symbol->st_value, name},
        .rank = (uint8_t)((label ? 0 : 4) + (symbol->st_size != 0 ? 2 : 0) +
                          (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL ? 1 : 0)),
        .label = label,
    };
    return 0;
}

static int collect_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                           struct collection *c)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data != NULL && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;
    int error = 0;

    for (size_t i = 0; i < count && i < FUNCTIONS_MAX && error == 0; i++) {
        GElf_Sym symbol;
        const char *name;

        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (wanted(elf, &symbol, name))
            error = collect(c, &symbol, name);
    }
    return error;
}

static int collect_type(Elf *elf, uint32_t type, struct collection *c)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    int error = 0;

    while (error == 0 && (section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
            error = collect_section(elf, section, &header, c);
    return error;
}

static int by_start(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->function.start != y->function.start)
        return x->function.start < y->function.start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return strcmp(x->function.name, y->function.name);
}

/* Keeps the best name of each address; drops labels inside functions. */
static int settle(struct symbols_elf *file, struct collection *c)
{
    struct symbols_function *last = NULL;

    if (c->count == 0)
        return -ENODATA;
    qsort(c->all, c->count, sizeof c->all[0], by_start);
    file->functions = calloc(c->count, sizeof file->functions[0]);
    if (file->functions == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < c->count; i++) {
        const struct candidate *one = &c->all[i];

        if (last != NULL &&
            (one->function.start == last->start || (one->label && one->function.start < last->end)))
            continue;
        if (last != NULL && last->end == last->start) /* no size: up to the next one */
            last->end = one->function.start;
        last = &file->functions[file->function_count++];
        *last = one->function;
    }
    if (last->end == last->start)
        last->end = (last->start | 4095) + 1;
    return 0;
}

static int load_functions(struct symbols_elf *file)
{
    struct collection c = {NULL, 0, 0};
    int error = collect_type(file->elf, SHT_SYMTAB, &c);

    if (error == 0 && c.count == 0)
        error = collect_type(file->elf, SHT_DYNSYM, &c);
    if (error == 0)
        error = settle(file, &c);
    free(c.all);
    return error;
}

static void load_segments(struct symbols_elf *file)
{
    size_t count = 0;

    if (elf_getphdrnum(file->elf, &count) != 0)
        return;
    for (size_t i = 0; i < count && file->segment_count < SYMBOLS_ELF_SEGMENTS_MAX; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(file->elf, (int)i, &header) != NULL && header.p_type == PT_LOAD)
            file->segments[file->segment_count++] =
                (struct symbols_segment){header.p_offset, header.p_memsz, header.p_vaddr};
    }
}

int symbols_elf_open(struct symbols_elf *file, int fd)
{
    int error = -ENOEXEC;

    memset(file, 0, sizeof *file);
    elf_version(EV_CURRENT);
    file->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (file->elf != NULL) {
        load_segments(file);
        error = load_functions(file);
    }
    if (error != 0 && error != -ENODATA)
        symbols_elf_close(file);
    return error;
}

void symbols_elf_close(struct symbols_elf *file)
{
    free(file->functions);
    if (file->elf != NULL)
        elf_end(file->elf);
    memset(file, 0, sizeof *file);
}

const struct symbols_function *symbols_elf_find(const struct symbols_elf *file, uint64_t address)
{
    size_t low = 0, high = file->function_count;

    while (low < high) { /* the first function that starts behind the address */
        size_t middle = low + (high - low) / 2;

        if (file->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= file->functions[low - 1].end)
        return NULL;
    return &file->functions[low - 1];
}

uint64_t symbols_elf_address(const struct symbols_elf *file, uint64_t file_offset)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct symbols_segment *s = &file->segments[i];

        /* page rounding maps a little more than the segment on both sides */
        if (file_offset >= (s->file_offset & ~4095ull) && file_offset < s->file_offset + s->bytes)
            return file_offset - s->file_offset + s->address;
    }
    return file_offset;
}
