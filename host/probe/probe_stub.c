/* Reads stubs of the linker's: their jump reads a slot, which has a relocation. */
#include "host/probe/probe_stub.h"

#include <string.h>

#include "host/base/search.h"

#define STUB_BYTES 16u
#define JUMP_BYTES 6u /* jmp *offset(%rip) */

static bool is_memset(const char *name)
{
    name += strspn(name, "_");
    return strncmp(name, "memset", 6) == 0 && (name[6] == 0 || name[6] == '_' || name[6] == '@');
}

/* Whether a symbol of memset's, or of its choice, begins at an address. */
static bool has_memset(const struct probe_file *f, uint64_t address)
{
    size_t i = search_address(f->symbols, sizeof f->symbols[0], f->count, address);

    for (; i != 0 && f->symbols[i - 1].start == address; i--)
        if (is_memset(f->symbols[i - 1].name))
            return true;
    return false;
}

/* What a relocation's symbol is. */
static enum probe_stub symbol_leads(const struct probe_file *f, size_t table, size_t index,
                                    uint64_t *target)
{
    Elf_Scn *section = elf_getscn(f->elf, table);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr header;
    GElf_Sym symbol;
    const char *name;

    if (data == NULL || gelf_getshdr(section, &header) == NULL || index > INT32_MAX ||
        gelf_getsym(data, (int)index, &symbol) == NULL)
        return PROBE_STUB_OTHER;
    name = elf_strptr(f->elf, header.sh_link, symbol.st_name);
    if (name != NULL && is_memset(name))
        return PROBE_STUB_MEMSET;
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
        return PROBE_STUB_OTHER;
    *target = symbol.st_value;
    return PROBE_STUB_NONE;
}

/* What a slot of the global offset table will lead to. */
static enum probe_stub slot_leads(const struct probe_file *f, uint64_t slot, uint64_t *target)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_RELA
                             ? elf_getdata(section, NULL)
                             : NULL;
        size_t count =
            data != NULL && header.sh_entsize != 0 ? data->d_size / header.sh_entsize : 0;
        GElf_Rela relocation;

        for (size_t i = 0; i < count && i < INT32_MAX; i++) {
            if (gelf_getrela(data, (int)i, &relocation) == NULL || relocation.r_offset != slot)
                continue;
            if (GELF_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE)
                return has_memset(f, (uint64_t)relocation.r_addend) ? PROBE_STUB_MEMSET
                                                                    : PROBE_STUB_OTHER;
            return symbol_leads(f, header.sh_link, GELF_R_SYM(relocation.r_info), target);
        }
    }
    return PROBE_STUB_OTHER;
}

/* Whether an address is in a section of stubs. */
static bool in_stubs(const struct probe_file *f, uint64_t address)
{
    GElf_Shdr header;
    const char *name;
    size_t names;

    if (elf_getshdrstrndx(f->elf, &names) != 0 || !probe_file_section(f->elf, address, &header))
        return false;
    name = elf_strptr(f->elf, names, header.sh_name);
    return name != NULL && (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0);
}

enum probe_stub probe_stub_at(struct probe_file *f, uint64_t address, uint64_t *target)
{
    uint64_t left;
    const uint8_t *code = probe_file_code(f, address, &left);

    *target = address;
    if (has_memset(f, address))
        return PROBE_STUB_MEMSET;
    if (code == NULL || !in_stubs(f, address))
        return PROBE_STUB_NONE;
    for (size_t i = 0; i + JUMP_BYTES <= left && i < STUB_BYTES; i++) {
        int32_t offset;

        if (code[i] != 0xff || code[i + 1] != 0x25)
            continue;
        memcpy(&offset, code + i + 2, sizeof offset);
        return slot_leads(f, address + i + JUMP_BYTES + (uint64_t)(int64_t)offset, target);
    }
    return PROBE_STUB_OTHER;
}
