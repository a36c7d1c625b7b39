/* Indexes the entries of call frame information, and finds the one for an address.
 *
 * libdw parses the entries (dwarf_next_cfi), but does not execute them here: it keeps a place for
 * each register up to the largest number that an entry names, which takes gigabytes for a hostile
 * file.
 */
#include "host/unwind/unwind_tables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/object/elf_place.h"
#include "host/unwind/unwind_epilogue.h"
#include "host/unwind/unwind_row.h"

#define SECTION_BYTES_MAX (1u << 30) /* offsets in the index have 32 bits */
#define MEMORY_FACTOR 3u /* the index has 24 bytes for an entry of 12 and more */
#define ENTRY_CODE_BYTES 64u /* after the entry point; glibc's ld.so has 60 */
#define PROGRAM_BYTES_MAX (64u << 10) /* instructions of one entry */

static const unsigned char ident[EI_NIDENT] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                               ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

struct cie { /* a common information entry, parsed */
    uint64_t offset; /* its offset in the section */
    bool usable;
    bool sized; /* augmentation data begin with their size ('z') */
    uint8_t encoding; /* of addresses in its FDEs, DW_EH_PE_* */
    struct unwind_program program; /* without the fields that an FDE sets */
};

/* Reads an address or size in an `encoding`.  Fails for a value that must be read from the
 * program's memory, or is relative to what only the program knows. */
static bool read_encoded(const struct unwind_table *table, struct unwind_bytes *b, uint8_t encoding,
                         uint64_t *value)
{
    uint64_t here = table->address + (uint64_t)(b->at - (const uint8_t *)table->data->d_buf);

    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = unwind_bytes_number(b, 8);
        break;
    case DW_EH_PE_udata4:
        *value = unwind_bytes_number(b, 4);
        break;
    case DW_EH_PE_sdata4:
        *value = unwind_bytes_signed(b, 4);
        break;
    case DW_EH_PE_udata2:
        *value = unwind_bytes_number(b, 2);
        break;
    case DW_EH_PE_sdata2:
        *value = unwind_bytes_signed(b, 2);
        break;
    case DW_EH_PE_uleb128:
        *value = unwind_bytes_uleb(b);
        break;
    case DW_EH_PE_sleb128:
        *value = unwind_bytes_sleb(b);
        break;
    default:
        return false;
    }
    if ((encoding & 0xf0) == DW_EH_PE_pcrel)
        *value += here;
    return !b->bad && ((encoding & 0xf0) == DW_EH_PE_pcrel || (encoding & 0xf0) == 0);
}

/* Reads the letters of an augmentation; returns false for an unknown one that cannot be skipped. */
static bool read_augmentation(const struct unwind_table *table, const Dwarf_CIE *entry,
                              struct cie *cie)
{
    struct unwind_bytes data = {entry->augmentation_data,
                                entry->augmentation_data + entry->augmentation_data_size, false};
    const char *letter = entry->augmentation;
    uint64_t ignored;
    uint8_t encoding;

    cie->sized = *letter == 'z';
    if (*letter == 0)
        return true;
    if (!cie->sized || entry->augmentation_data == NULL)
        return false;
    while (*++letter != 0) {
        switch (*letter) {
        case 'R':
            cie->encoding = (uint8_t)unwind_bytes_number(&data, 1);
            break;
        case 'P': /* the handler of exceptions */
            encoding = (uint8_t)unwind_bytes_number(&data, 1);
            read_encoded(table, &data, encoding, &ignored);
            break;
        case 'L':
            unwind_bytes_number(&data, 1);
            break;
        case 'S':
            cie->program.signal = true;
            break;
        case 'B': /* signed return addresses, on other machines */
            break;
        default: /* the size says where it ends; the contents are unknown */
            return !data.bad;
        }
    }
    return !data.bad;
}

static void read_cie(const struct unwind_table *table, uint64_t offset, struct cie *cie)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;

    *cie = (struct cie){.offset = offset, .encoding = DW_EH_PE_absptr};
    if (offset >= table->data->d_size ||
        dwarf_next_cfi(ident, table->data, table->eh_frame, offset, &next, &entry) != 0 ||
        !dwarf_cfi_cie_p(&entry) || !read_augmentation(table, &entry.cie, cie))
        return;
    cie->program.initial = (struct unwind_bytes){entry.cie.initial_instructions,
                                                 entry.cie.initial_instructions_end, false};
    cie->program.code_factor = entry.cie.code_alignment_factor;
    cie->program.data_factor = entry.cie.data_alignment_factor;
    cie->program.return_register = entry.cie.return_address_register;
    cie->usable = cie->program.initial.end >= cie->program.initial.at &&
                  cie->program.initial.end - cie->program.initial.at <= PROGRAM_BYTES_MAX;
}

/* Reads the range of code of an FDE; moves `b` past it. */
static bool read_range(const struct unwind_table *table, const struct cie *cie,
                       struct unwind_bytes *b, uint64_t *start, uint64_t *end)
{
    uint64_t bytes;

    if (!cie->usable || !read_encoded(table, b, cie->encoding, start) ||
        !read_encoded(table, b, cie->encoding & 0x0f, &bytes) || bytes == 0)
        return false;
    *end = *start + bytes;
    return *end > *start;
}

static int by_start(const void *a, const void *b)
{
    const struct unwind_entry *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool add_entry(struct unwind_table *table, struct unwind_entry entry)
{
    if (array_grow(&table->entries, table->count, sizeof entry) != 0)
        return false;
    table->entries[table->count++] = entry;
    return true;
}

static void index_table(struct unwind_table *table)
{
    struct cie cie = {.offset = UINT64_MAX};
    Dwarf_Off offset = 0, next = 0;
    Dwarf_CFI_Entry entry;

    for (; offset < table->data->d_size; offset = next) {
        int result = dwarf_next_cfi(ident, table->data, table->eh_frame, offset, &next, &entry);
        struct unwind_entry one = {.offset = (uint32_t)offset};
        struct unwind_bytes b;

        if (result > 0 || next <= offset)
            break;
        if (result < 0 || dwarf_cfi_cie_p(&entry))
            continue;
        if (entry.fde.CIE_pointer != cie.offset)
            read_cie(table, entry.fde.CIE_pointer, &cie);
        b = (struct unwind_bytes){entry.fde.start, entry.fde.end, false};
        if (read_range(table, &cie, &b, &one.start, &one.end) && !add_entry(table, one))
            break;
    }
    if (table->count != 0)
        qsort(table->entries, table->count, sizeof table->entries[0], by_start);
}

static void load(struct unwind_tables *tables, Elf_Scn *section, GElf_Shdr *header, bool eh_frame,
                 uint64_t room)
{
    struct unwind_table *table = &tables->tables[tables->table_count];
    uint64_t bytes = header->sh_size;
    GElf_Chdr compression;

    if ((header->sh_flags & SHF_COMPRESSED) != 0)
        bytes = gelf_getchdr(section, &compression) != NULL ? compression.ch_size : UINT64_MAX;
    if (bytes == 0 || bytes > SECTION_BYTES_MAX || bytes * MEMORY_FACTOR > room - tables->bytes)
        return;
    if ((header->sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0)
        return;
    *table = (struct unwind_table){
        .data = elf_getdata(section, NULL), .eh_frame = eh_frame, .address = header->sh_addr};
    if (table->data == NULL || table->data->d_buf == NULL || table->data->d_size > bytes)
        return;
    index_table(table);
    tables->bytes += bytes * MEMORY_FACTOR;
    tables->table_count++;
}

void unwind_tables_open(struct unwind_tables *tables, int fd, uint64_t room)
{
    bool loaded[2] = {false, false};
    Elf_Scn *section = NULL;
    size_t names;

    *tables = (struct unwind_tables){.fd = fd};
    elf_version(EV_CURRENT);
    tables->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (tables->elf == NULL || elf_getshdrstrndx(tables->elf, &names) != 0)
        return;
    while ((section = elf_nextscn(tables->elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name;
        bool eh_frame;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS ||
            (name = elf_strptr(tables->elf, names, header.sh_name)) == NULL)
            continue;
        eh_frame = strcmp(name, ".eh_frame") == 0;
        if ((!eh_frame && strcmp(name, ".debug_frame") != 0) || loaded[eh_frame])
            continue;
        loaded[eh_frame] = true;
        load(tables, section, &header, eh_frame, room);
    }
}

void unwind_tables_close(struct unwind_tables *tables)
{
    for (uint32_t i = 0; i < tables->table_count; i++)
        free(tables->tables[i].entries);
    if (tables->elf != NULL)
        elf_end(tables->elf);
    memset(tables, 0, sizeof *tables);
}

/* Returns the last entry that begins at or before the address. */
static const struct unwind_entry *find_entry(const struct unwind_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (table->entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && address < table->entries[low - 1].end ? &table->entries[low - 1] : NULL;
}

static bool find_in(const struct unwind_table *table, uint64_t address, struct unwind_rule *rule)
{
    const struct unwind_entry *found = find_entry(table, address);
    struct unwind_bytes b;
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    struct cie cie;
    uint64_t end;

    if (found == NULL ||
        dwarf_next_cfi(ident, table->data, table->eh_frame, found->offset, &next, &entry) != 0)
        return false;
    read_cie(table, entry.fde.CIE_pointer, &cie);
    b = (struct unwind_bytes){entry.fde.start, entry.fde.end, false};
    if (!read_range(table, &cie, &b, &cie.program.start, &end))
        return false;
    if (cie.sized)
        unwind_bytes_block(&b, unwind_bytes_uleb(&b));
    cie.program.own = b;
    return !b.bad && b.end - b.at <= PROGRAM_BYTES_MAX &&
           unwind_row_at(&cie.program, address, rule);
}

static uint16_t read_epilogue(const struct unwind_tables *tables, uint64_t address)
{
    uint8_t code[UNWIND_EPILOGUE_BYTES];
    uint64_t offset, bytes;
    ssize_t got;

    if (!elf_place_code(tables->elf, address, &offset, &bytes) || offset > INT64_MAX)
        return 0;
    got = pread(tables->fd, code, bytes < sizeof code ? bytes : sizeof code, (off_t)offset);
    return got > 0 ? unwind_epilogue(code, (size_t)got) : 0;
}

bool unwind_tables_find(const struct unwind_tables *tables, uint64_t file_offset,
                        struct unwind_rule *rule)
{
    uint64_t address;

    if (tables->elf == NULL || !elf_place_address(tables->elf, file_offset, &address))
        return false;
    for (uint32_t i = 0; i < tables->table_count; i++)
        if (find_in(&tables->tables[i], address, rule)) {
            rule->restored = read_epilogue(tables, address);
            return true;
        }
    return false;
}

bool unwind_tables_is_entry(const struct unwind_tables *tables, uint64_t file_offset)
{
    GElf_Ehdr header;
    uint64_t address;

    return tables->elf != NULL && gelf_getehdr(tables->elf, &header) != NULL &&
           header.e_entry != 0 && elf_place_address(tables->elf, file_offset, &address) &&
           address >= header.e_entry && address - header.e_entry < ENTRY_CODE_BYTES;
}
