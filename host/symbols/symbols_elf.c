/* Reads function symbols and segments of an ELF file through libdwfl. */
#include "host/symbols/symbols_elf.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/search.h"
#include "host/symbols/symbols_names.h"
#include "host/symbols/symbols_plt.h"

#define STUB_NAME_BYTES_MAX 4096 /* longer names are cut */
#define NESTED_MAX 8u /* functions inside another one and before the address */

struct candidate { /* a symbol before duplicates are dropped */
    struct symbols_function function;
    uint8_t rank; /* larger for a better name */
    bool label; /* assembler label without type */
};

struct collection {
    struct candidate *all;
    size_t count;
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

    if (array_grow(&c->all, c->count, sizeof *c->all) != 0)
        return -ENOMEM;
    c->all[c->count++] = (struct candidate){
        .function = {symbol->st_value, end >= symbol->st_value ? end : symbol->st_value, name,
                     NULL},
        .rank = (uint8_t)((label ? 0 : 4) + (symbol->st_size != 0 ? 2 : 0) +
                          (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL ? 1 : 0)),
        .label = label,
    };
    return 0;
}

/* Collects the module's symbols: those of .symtab here or in the debug file, else of .dynsym, with
 * those of .gnu_debugdata if there are any. */
static int collect_all(Dwfl_Module *module, struct collection *c)
{
    int count = dwfl_module_getsymtab(module);
    int error = 0;

    for (int i = 1; i < count && c->count < SYMBOLS_ELF_FUNCTIONS_MAX && error == 0; i++) {
        GElf_Sym symbol;
        GElf_Addr address, bias;
        const char *name;
        Elf *elf;

        name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, &elf, &bias);
        if (name == NULL || !wanted(elf, &symbol, name))
            continue;
        symbol.st_value = address;
        error = collect(c, &symbol, name);
    }
    return error;
}

/* Counts leading underscores: malloc says more than __libc_malloc, and that more than glibc's inner
 * __GI___libc_malloc.  Mangled names begin with an underscore for another reason. */
static size_t underscores(const char *name)
{
    if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
        return 0;
    return strspn(name, "_") + (strncmp(name, "__GI_", 5) == 0 ? 2 : 0);
}

static int by_start(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->function.start != y->function.start)
        return x->function.start < y->function.start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (underscores(x->function.raw) != underscores(y->function.raw))
        return underscores(x->function.raw) < underscores(y->function.raw) ? -1 : 1;
    return strcmp(x->function.raw, y->function.raw);
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

struct stubs {
    struct symbols_elf *file;
    struct collection *collection;
};

static int take_stub(void *context, uint64_t start, uint64_t end, const char *name)
{
    struct stubs *stubs = context;
    struct symbols_elf *file = stubs->file;
    GElf_Sym symbol = {
        .st_value = start, .st_size = end - start, .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC)};
    char *text;

    if (file->stub_count == SYMBOLS_PLT_STUBS_MAX)
        return 0;
    if (file->stubs == NULL)
        file->stubs = calloc(SYMBOLS_PLT_STUBS_MAX, sizeof file->stubs[0]);
    if (file->stubs == NULL ||
        asprintf(&text, "%.*s" SYMBOLS_NAMES_STUB, STUB_NAME_BYTES_MAX, name) < 0)
        return -ENOMEM;
    file->stubs[file->stub_count++] = text;
    return collect(stubs->collection, &symbol, text);
}

static int load_functions(struct symbols_elf *file, Elf *elf)
{
    struct collection c = {0};
    int error = collect_all(file->module.module, &c);

    if (error == 0 && c.count != 0) /* stubs alone do not count as symbols */
        error = symbols_plt_read(elf, take_stub, &(struct stubs){file, &c});
    if (error == 0)
        error = settle(file, &c);
    free(c.all);
    return error;
}

static void load_segments(struct symbols_elf *file, Elf *elf)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count && file->segment_count < SYMBOLS_ELF_SEGMENTS_MAX; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_LOAD)
            file->segments[file->segment_count++] =
                (struct symbols_segment){header.p_offset, header.p_memsz, header.p_vaddr};
    }
}

/* Returns whether all functions have symbols, not only those that other files may call. */
static bool has_all(struct symbols_elf *file, Elf *elf)
{
    const char *debug_path = NULL;
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr header;

    dwfl_module_info(file->module.module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_path);
    if (debug_path != NULL)
        return true;
    (void)elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;

        if (name != NULL && (header.sh_type == SHT_SYMTAB || strcmp(name, ".gnu_debugdata") == 0))
            return true;
    }
    return false;
}

int symbols_elf_open(struct symbols_elf *elf, const struct symbols_file *file,
                     const struct symbols_options *options)
{
    GElf_Addr bias;
    Elf *handle;
    int error;

    memset(elf, 0, sizeof *elf);
    error = symbols_module_open(&elf->module, file, false, options);
    if (error != 0)
        return error;
    handle = dwfl_module_getelf(elf->module.module, &bias);
    error = -ENOEXEC;
    if (handle != NULL) {
        load_segments(elf, handle);
        error = load_functions(elf, handle);
        elf->complete = has_all(elf, handle);
    }
    if (error != 0 && error != -ENODATA)
        symbols_elf_close(elf);
    return error;
}

void symbols_elf_close(struct symbols_elf *file)
{
    for (size_t i = 0; i < file->stub_count; i++)
        free(file->stubs[i]);
    free(file->stubs);
    free(file->functions);
    symbols_module_close(&file->module);
    memset(file, 0, sizeof *file);
}

struct symbols_function *symbols_elf_find(const struct symbols_elf *file, uint64_t address)
{
    size_t low =
        search_address(file->functions, sizeof file->functions[0], file->function_count, address);

    for (size_t n = 0; n < low && n < NESTED_MAX; n++) /* usually the first one */
        if (address < file->functions[low - 1 - n].end)
            return &file->functions[low - 1 - n];
    return NULL;
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

bool symbols_elf_holds(const struct symbols_elf *file, uint64_t address)
{
    for (size_t i = 0; i < file->segment_count; i++)
        if (address - file->segments[i].address < file->segments[i].bytes)
            return true;
    return false;
}

uint64_t symbols_elf_start(const struct symbols_elf *file)
{
    uint64_t start = file->segment_count != 0 ? file->segments[0].address : 0;

    for (size_t i = 1; i < file->segment_count; i++)
        if (file->segments[i].address < start)
            start = file->segments[i].address;
    return start;
}

uint64_t symbols_elf_end(const struct symbols_elf *file)
{
    uint64_t end = 0;

    for (size_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].address + file->segments[i].bytes > end)
            end = file->segments[i].address + file->segments[i].bytes;
    return end;
}
