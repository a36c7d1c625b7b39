/* Finds stubs by their jump, and their callee by the relocation of the slot that the jump reads. */
#include "host/symbols/symbols_plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/search.h"

#define STUB_BYTES 16u /* some have 8 */
#define JUMP_BYTES 6u /* jmp *offset(%rip) */

struct slot { /* of the global offset table */
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *all;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static const char *symbol_name(Elf *elf, size_t table, size_t index)
{
    Elf_Scn *section = elf_getscn(elf, table);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr header;
    GElf_Sym symbol;

    if (data == NULL || gelf_getshdr(section, &header) == NULL || index > INT32_MAX ||
        gelf_getsym(data, (int)index, &symbol) == NULL)
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static void read_relocations(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                             struct slots *slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data != NULL && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count && i < INT32_MAX && slots->count < SYMBOLS_PLT_STUBS_MAX; i++) {
        GElf_Rela relocation;
        const char *name;
        uint64_t type;

        if (gelf_getrela(data, (int)i, &relocation) == NULL)
            break;
        type = GELF_R_TYPE(relocation.r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        name = symbol_name(elf, header->sh_link, GELF_R_SYM(relocation.r_info));
        if (name != NULL && name[0] != 0)
            slots->all[slots->count++] = (struct slot){relocation.r_offset, name};
    }
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
    size_t i = search_address(slots->all, sizeof slots->all[0], slots->count, address);

    return i != 0 && slots->all[i - 1].address == address ? slots->all[i - 1].name : NULL;
}

/* Returns the name for a stub's bytes, which have one jump, perhaps after endbr64 and a prefix. */
static const char *stub_name(const struct slots *slots, const uint8_t *stub, size_t bytes,
                             uint64_t address)
{
    for (size_t i = 0; i + JUMP_BYTES <= bytes; i++) {
        int32_t offset;

        if (stub[i] != 0xff || stub[i + 1] != 0x25)
            continue;
        memcpy(&offset, stub + i + 2, sizeof offset);
        return slot_name(slots, address + i + JUMP_BYTES + (uint64_t)(int64_t)offset);
    }
    return NULL;
}

static int read_stubs(Elf_Scn *section, const GElf_Shdr *header, const struct slots *slots,
                      int (*take)(void *context, uint64_t start, uint64_t end, const char *name),
                      void *context)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t bytes = header->sh_entsize == 8 ? 8 : STUB_BYTES;
    size_t room = data != NULL && data->d_buf != NULL ? data->d_size : 0;
    int error = 0;

    for (size_t at = 0; at + bytes <= room && error == 0; at += bytes) {
        uint64_t address = header->sh_addr + at;
        const char *name = stub_name(slots, (const uint8_t *)data->d_buf + at, bytes, address);

        if (name != NULL)
            error = take(context, address, address + bytes, name);
    }
    return error;
}

int symbols_plt_read(Elf *elf,
                     int (*take)(void *context, uint64_t start, uint64_t end, const char *name),
                     void *context)
{
    struct slots slots = {.all = malloc(SYMBOLS_PLT_STUBS_MAX * sizeof slots.all[0])};
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names = 0;
    int error = 0;

    if (slots.all == NULL)
        return -ENOMEM;
    (void)elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_RELA)
            read_relocations(elf, section, &header, &slots);
    qsort(slots.all, slots.count, sizeof slots.all[0], by_address);
    while (error == 0 && slots.count != 0 && (section = elf_nextscn(elf, section)) != NULL) {
        const char *name =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;

        if (name != NULL && strncmp(name, ".plt", 4) == 0 && header.sh_type == SHT_PROGBITS)
            error = read_stubs(section, &header, &slots, take, context);
    }
    free(slots.all);
    return error;
}
