/* Loads .eh_frame and .debug_frame of an ELF file and asks libdw for the rules of an address. */
#include "host/unwind_tables.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "host/elf_place.h"

#define ENTRY_MEMORY 16u /* bytes that libdw keeps for each byte of entries that it passed over */
#define SEARCH_TABLE_MAX (64u << 20)

struct section_sizes { /* uncompressed; 0: there is none */
    uint64_t eh_frame;
    uint64_t debug_frame;
    uint64_t debug; /* all that libdw reads with it */
    bool searchable; /* .eh_frame_hdr lets libdw find an entry without passing over others */
};

/* Only a table like those that every linker makes counts: libdw would leave another one alone. */
static bool is_search_table(Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    const uint8_t *bytes = data != NULL ? data->d_buf : NULL;
    uint32_t count;

    if (bytes == NULL || data->d_size < 12 || bytes[0] != 1 ||
        bytes[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) || bytes[2] != DW_EH_PE_udata4 ||
        bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return false;
    memcpy(&count, bytes + 8, sizeof count);
    return count != 0 && count <= (data->d_size - 12) / 8;
}

static uint64_t uncompressed_bytes(Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Chdr compression;

    if ((header->sh_flags & SHF_COMPRESSED) == 0)
        return header->sh_size;
    return gelf_getchdr(section, &compression) != NULL ? compression.ch_size : UINT32_MAX;
}

static void add_bytes(uint64_t *sum, uint64_t bytes)
{
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = UINT64_MAX;
}

static struct section_sizes find_sections(Elf *elf)
{
    struct section_sizes sizes = {0};
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return sizes;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS ||
            (name = elf_strptr(elf, names, header.sh_name)) == NULL)
            continue;
        if (strcmp(name, ".eh_frame") == 0)
            add_bytes(&sizes.eh_frame, header.sh_size);
        else if (strcmp(name, ".eh_frame_hdr") == 0)
            sizes.searchable = header.sh_size <= SEARCH_TABLE_MAX && is_search_table(section);
        else if (strcmp(name, ".debug_frame") == 0)
            add_bytes(&sizes.debug_frame, uncompressed_bytes(section, &header));
        else if (strncmp(name, ".debug_", 7) == 0)
            add_bytes(&sizes.debug, uncompressed_bytes(section, &header));
        else if (strncmp(name, ".zdebug_", 8) == 0) /* the size is not in the header: not used */
            add_bytes(&sizes.debug, UINT32_MAX);
    }
    return sizes;
}

static bool take(uint64_t *left, uint64_t *taken, uint64_t bytes, uint64_t factor)
{
    if (bytes == 0 || bytes > *left / factor)
        return false;
    *left -= bytes * factor;
    *taken += bytes * factor;
    return true;
}

void unwind_tables_open(struct unwind_tables *tables, int fd, uint64_t room)
{
    struct section_sizes sizes;

    memset(tables, 0, sizeof *tables);
    elf_version(EV_CURRENT);
    tables->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (tables->elf == NULL)
        return;
    sizes = find_sections(tables->elf);
    if (take(&room, &tables->bytes, sizes.eh_frame, sizes.searchable ? 1 : ENTRY_MEMORY))
        tables->eh_frame = dwarf_getcfi_elf(tables->elf);
    if (sizes.debug <= room && sizes.debug_frame != 0 &&
        take(&room, &tables->bytes, sizes.debug_frame + sizes.debug / ENTRY_MEMORY, ENTRY_MEMORY)) {
        tables->dwarf = dwarf_begin_elf(tables->elf, DWARF_C_READ, NULL);
        if (tables->dwarf != NULL)
            tables->debug_frame = dwarf_getcfi(tables->dwarf);
    }
}

void unwind_tables_close(struct unwind_tables *tables)
{
    if (tables->eh_frame != NULL)
        dwarf_cfi_end(tables->eh_frame);
    if (tables->dwarf != NULL)
        dwarf_end(tables->dwarf); /* and its .debug_frame */
    if (tables->elf != NULL)
        elf_end(tables->elf);
    memset(tables, 0, sizeof *tables);
}

static bool find_in(Dwarf_CFI *cfi, uint64_t address, struct unwind_rule *rule)
{
    Dwarf_Frame *frame = NULL;
    bool found;

    if (cfi == NULL || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return false;
    found = unwind_rule_read(rule, frame);
    free(frame);
    return found;
}

bool unwind_tables_find(struct unwind_tables *tables, uint64_t file_offset,
                        struct unwind_rule *rule)
{
    uint64_t address;

    return tables->elf != NULL && elf_place_address(tables->elf, file_offset, &address) &&
           (find_in(tables->eh_frame, address, rule) ||
            find_in(tables->debug_frame, address, rule));
}
