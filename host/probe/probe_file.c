/* Reads what probes need of an ELF file. */
#include "host/probe/probe_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "host/base/array.h"
#include "host/base/search.h"

#define SYMBOLS_MAX (1u << 21)
#define TABLES_BYTES_MAX (512ull << 20)
#define LABELS_MAX 4096u /* between a function and an address in it */
#define COLD ".cold"

struct probe_file *probe_file_new(const char *path, const char *place)
{
    struct probe_file *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->file.fd = -1;
    f->path = strdup(path);
    f->place = strdup(place);
    if (f->path != NULL && f->place != NULL)
        return f;
    probe_file_free(f);
    return NULL;
}

void probe_file_free(struct probe_file *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->count; i++)
        free(f->symbols[i].plain);
    free(f->symbols);
    if (f->tables_asked)
        unwind_tables_close(&f->tables);
    if (f->bytes != NULL)
        munmap((void *)f->bytes, f->byte_count);
    if (f->module.dwfl != NULL)
        symbols_module_close(&f->module);
    symbols_file_close(&f->file);
    free(f->path);
    free(f->place);
    free(f);
}

bool probe_file_section(Elf *elf, uint64_t address, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, header) != NULL && (header->sh_flags & SHF_EXECINSTR) != 0 &&
            address >= header->sh_addr && address - header->sh_addr < header->sh_size)
            return true;
    return false;
}

/* Returns the kind of a symbol, or -1 for one that names neither code nor data. */
static int kind_of(Elf *elf, const GElf_Sym *symbol, const char *name)
{
    Elf_Scn *section;
    GElf_Shdr header;

    if (symbol->st_shndx == SHN_UNDEF || name == NULL || name[0] == 0)
        return -1;
    switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
        return PROBE_SYMBOL_FUNCTION;
    case STT_GNU_IFUNC:
        return PROBE_SYMBOL_CHOICE;
    case STT_OBJECT:
    case STT_COMMON:
    case STT_TLS:
        return PROBE_SYMBOL_DATA;
    case STT_NOTYPE:
        break;
    default:
        return -1;
    }
    if (name[0] == '.' || name[0] == '$' || symbol->st_shndx >= SHN_LORESERVE)
        return -1;
    section = elf_getscn(elf, symbol->st_shndx);
    if (section == NULL || gelf_getshdr(section, &header) == NULL)
        return -1;
    return (header.sh_flags & SHF_EXECINSTR) != 0 ? PROBE_SYMBOL_LABEL : PROBE_SYMBOL_DATA;
}

static size_t underscores(const char *name)
{
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? 0 : strspn(name, "_");
}

static int by_start(const void *a, const void *b)
{
    const struct probe_symbol *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if ((x->bytes != 0) != (y->bytes != 0))
        return x->bytes != 0 ? -1 : 1;
    if (x->global != y->global)
        return x->global ? -1 : 1;
    if (underscores(x->name) != underscores(y->name))
        return underscores(x->name) < underscores(y->name) ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* libdwfl takes .symtab, here or in the debug file, else .dynsym. */
static int read_symbols(struct probe_file *f)
{
    int count = dwfl_module_getsymtab(f->module.module);

    for (int i = 1; i < count && f->count < SYMBOLS_MAX; i++) {
        GElf_Addr address, bias;
        GElf_Sym symbol;
        Elf *elf;
        const char *name =
            dwfl_module_getsym_info(f->module.module, i, &symbol, &address, NULL, &elf, &bias);
        int kind = name != NULL ? kind_of(elf, &symbol, name) : -1;

        if (kind < 0)
            continue;
        if (array_grow(&f->symbols, f->count, sizeof *f->symbols) != 0)
            return -ENOMEM;
        f->symbols[f->count++] = (struct probe_symbol){
            .start = address,
            .bytes = symbol.st_size,
            .name = name,
            .kind = (uint8_t)kind,
            .global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
        };
    }
    if (f->count != 0)
        qsort(f->symbols, f->count, sizeof f->symbols[0], by_start);
    return 0;
}

static int map_file(struct probe_file *f)
{
    struct stat status;
    void *bytes;

    if (fstat(f->file.fd, &status) != 0 || status.st_size <= 0)
        return -ENOEXEC;
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, f->file.fd, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    f->bytes = bytes;
    f->byte_count = (uint64_t)status.st_size;
    return 0;
}

static int open_all(struct probe_file *f)
{
    const struct symbols_options options = {.no_debuginfod = true};
    struct trace_map map = {.path = f->place};
    int error = symbols_file_open(&f->file, &map, false, &options);
    GElf_Addr bias;

    if (error == 0)
        error = symbols_module_open(&f->module, &f->file, false, &options);
    if (error != 0)
        return error;
    f->elf = dwfl_module_getelf(f->module.module, &bias);
    error = f->elf != NULL ? map_file(f) : -ENOEXEC;
    return error == 0 ? read_symbols(f) : error;
}

int probe_file_open(struct probe_file *f)
{
    if (!f->opened)
        f->status = open_all(f);
    f->opened = true;
    return f->status;
}

bool probe_file_offset(const struct probe_file *f, uint64_t address, uint64_t *offset,
                       uint64_t *bytes)
{
    size_t count = 0;
    GElf_Phdr part;

    if (elf_getphdrnum(f->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(f->elf, (int)i, &part) == NULL || part.p_type != PT_LOAD ||
            (part.p_flags & PF_X) == 0 || address < part.p_vaddr ||
            address - part.p_vaddr >= part.p_filesz || part.p_offset > f->byte_count ||
            part.p_filesz > f->byte_count - part.p_offset)
            continue;
        *offset = part.p_offset + (address - part.p_vaddr);
        *bytes = part.p_filesz - (address - part.p_vaddr);
        return true;
    }
    return false;
}

const uint8_t *probe_file_code(void *file, uint64_t address, uint64_t *bytes)
{
    const struct probe_file *f = file;
    uint64_t offset;

    return probe_file_offset(f, address, &offset, bytes) ? f->bytes + offset : NULL;
}

/* Returns the entry of the call frame information that holds an address; or NULL. */
static const struct unwind_entry *find_entry(struct probe_file *f, uint64_t address)
{
    if (!f->tables_asked)
        unwind_tables_open(&f->tables, f->file.fd, TABLES_BYTES_MAX);
    f->tables_asked = true;
    for (uint32_t i = 0; i < f->tables.table_count; i++) {
        const struct unwind_table *table = &f->tables.tables[i];
        size_t low =
            search_address(table->entries, sizeof table->entries[0], table->count, address);

        if (low != 0 && address < table->entries[low - 1].end)
            return &table->entries[low - 1];
    }
    return NULL;
}

/* Returns the function or label that holds an address; or NULL. */
static const struct probe_symbol *find_symbol(const struct probe_file *f, uint64_t address)
{
    size_t low = search_address(f->symbols, sizeof f->symbols[0], f->count, address);

    for (uint32_t n = 0; n < LABELS_MAX && low != 0; n++, low--)
        if (f->symbols[low - 1].kind == PROBE_SYMBOL_FUNCTION)
            break;
    while (low > 1 && f->symbols[low - 2].start == f->symbols[low - 1].start) /* the best name */
        low--;
    return low != 0 && f->symbols[low - 1].kind == PROBE_SYMBOL_FUNCTION &&
                   address - f->symbols[low - 1].start < f->symbols[low - 1].bytes
               ? &f->symbols[low - 1]
               : NULL;
}

bool probe_file_range(struct probe_file *f, const struct probe_symbol *symbol,
                      struct probe_range *range)
{
    const struct unwind_entry *entry;
    GElf_Shdr section;
    size_t next;

    *range = (struct probe_range){symbol->start, symbol->start + symbol->bytes};
    if (symbol->bytes != 0)
        return true;
    entry = find_entry(f, symbol->start);
    if (entry != NULL && entry->start == symbol->start) {
        range->end = entry->end;
        return true;
    }
    range->end = probe_file_section(f->elf, symbol->start, &section)
                     ? section.sh_addr + section.sh_size
                     : UINT64_MAX;
    next = search_address(f->symbols, sizeof f->symbols[0], f->count, symbol->start);
    if (next < f->count && f->symbols[next].start < range->end)
        range->end = f->symbols[next].start;
    return false;
}

bool probe_file_around(struct probe_file *f, uint64_t address, struct probe_range *range,
                       const struct probe_symbol **symbol)
{
    const struct unwind_entry *entry;
    GElf_Shdr section;

    *symbol = find_symbol(f, address);
    if (*symbol != NULL) {
        (void)probe_file_range(f, *symbol, range);
        return true;
    }
    entry = find_entry(f, address);
    if (entry != NULL)
        *range = (struct probe_range){entry->start, entry->end};
    else if (probe_file_section(f->elf, address, &section))
        *range = (struct probe_range){section.sh_addr, section.sh_addr + section.sh_size};
    else
        return false;
    return true;
}

bool probe_file_is_part(const struct probe_symbol *symbol)
{
    return strstr(symbol->name, COLD) != NULL;
}

/* Returns whether a part has the name of the function that starts there. */
static bool named_after(const struct probe_file *f, const char *part, uint64_t start)
{
    size_t bytes = (size_t)(strstr(part, COLD) - part);
    size_t low = search_address(f->symbols, sizeof f->symbols[0], f->count, start);

    for (; low != 0 && f->symbols[low - 1].start == start; low--)
        if (strncmp(f->symbols[low - 1].name, part, bytes) == 0 &&
            f->symbols[low - 1].name[bytes] == 0)
            return true;
    return false;
}

/* Returns whether the entry begins with a frame on the stack, as only code does that is jumped to
 * from within its function.  Stubs of the linker's do, too. */
static bool begins_with_frame(const struct probe_file *f, const struct unwind_entry *entry)
{
    struct unwind_rule rule;
    uint64_t offset, bytes;
    GElf_Shdr section;
    const char *name;
    size_t names;

    if (!probe_file_offset(f, entry->start, &offset, &bytes) ||
        !unwind_tables_find(&f->tables, offset, &rule) || rule.signal ||
        rule.cfa.how != UNWIND_REGISTER || (rule.cfa.reg == UNWIND_RSP && rule.cfa.offset == 8) ||
        !probe_file_section(f->elf, entry->start, &section) ||
        elf_getshdrstrndx(f->elf, &names) != 0)
        return false;
    name = elf_strptr(f->elf, names, section.sh_name);
    return name != NULL && strncmp(name, ".plt", 4) != 0;
}

bool probe_file_part(void *file, uint64_t start, uint64_t target, struct probe_range *part)
{
    struct probe_file *f = file;
    const struct probe_symbol *symbol = find_symbol(f, target);
    const struct unwind_entry *entry;

    if (symbol != NULL && probe_file_is_part(symbol) && named_after(f, symbol->name, start)) {
        (void)probe_file_range(f, symbol, part);
        return true;
    }
    entry = find_entry(f, target);
    if (entry == NULL || !begins_with_frame(f, entry))
        return false;
    *part = (struct probe_range){entry->start, entry->end};
    return true;
}
