/* Fuzzes the unwinder: any registers and stack over this process's own call frame information
 * (first byte 0), and any call frame information, in an ELF file made around it (other first
 * bytes).
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/unwind/unwind_tables.h"
#include "tests/fuzz/fuzz.h"
#include "tests/own_process.h"

#define TABLE_ADDRESS 0x1000ull
#define CODE_ADDRESS 0x400000ull
#define CODE_BYTES 0x1000ull
#define STACK_START 0x7ffc00001000ull

/* --- registers and stack --- */

/* Plain numbers reach no code: some words are made addresses of code, others of the stack. */
static uint64_t word(const struct own_process *own, const uint8_t *data)
{
    const struct trace_map *map = &own->maps[data[6] % own->info.map_count];
    uint64_t value;

    memcpy(&value, data, sizeof value);
    if (data[7] < 0x80)
        return map->meta.start + (value & 0xffffffffffff) % (map->meta.end - map->meta.start);
    if (data[7] < 0xc0)
        return STACK_START + (value & 0x7ff);
    return value;
}

static void fuzz_stack(const uint8_t *data, size_t size)
{
    static struct own_process *own;
    static struct unwind *unwind;
    struct unwind_sample sample = {.stack_bytes = 0};
    uint64_t words[512];
    struct stacks stacks;
    size_t count = size / 8 < 512 ? size / 8 : 512;
    static uint64_t addresses[UNWIND_FRAMES_MAX + 1];
    uint32_t node;

    if (own == NULL) {
        own = own_process_read();
        fuzz_check(unwind_open(&unwind, &own->info, NULL) == 0);
    }
    if (count < HR_STACK_REGISTERS + 1)
        return;
    for (size_t i = 0; i < count; i++)
        words[i] = word(own, data + i * 8);
    memcpy(sample.registers, words, sizeof sample.registers);
    sample.ip = words[HR_STACK_REGISTERS];
    if ((sample.ip & 1) != 0)
        sample.registers[UNWIND_RSP] = STACK_START;
    sample.stack_bytes = (count - HR_STACK_REGISTERS - 1) * 8;
    sample.stack = malloc(sample.stack_bytes + 1); /* of its size: reads behind it are seen */
    fuzz_check(sample.stack != NULL && stacks_init(&stacks) == 0);
    memcpy((void *)(uintptr_t)sample.stack, words + HR_STACK_REGISTERS + 1, sample.stack_bytes);
    node = unwind_stack(unwind, &sample, &stacks);
    fuzz_check(node < stacks.count && stacks_addresses(&stacks, node, addresses,
                                                       UNWIND_FRAMES_MAX + 1) <= UNWIND_FRAMES_MAX);
    fuzz_check(node == unwind_stack(unwind, &sample, &stacks));
    free((void *)(uintptr_t)sample.stack);
    stacks_free(&stacks);
}

/* --- call frame information --- */

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[3]; /* none, the table, names */
    char names[32];
};

static int make_file(const uint8_t *table, size_t bytes, bool debug_frame)
{
    struct image image = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct image, segments),
                   .e_shoff = offsetof(struct image, sections),
                   .e_ehsize = sizeof image.header,
                   .e_phentsize = sizeof image.segments[0],
                   .e_phnum = 2,
                   .e_shentsize = sizeof image.sections[0],
                   .e_shnum = 3,
                   .e_shstrndx = 2},
        .segments = {{.p_type = PT_LOAD,
                      .p_flags = PF_R,
                      .p_offset = sizeof image,
                      .p_vaddr = TABLE_ADDRESS,
                      .p_filesz = bytes,
                      .p_memsz = bytes},
                     {.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_X,
                      .p_offset = CODE_ADDRESS,
                      .p_vaddr = CODE_ADDRESS,
                      .p_filesz = CODE_BYTES,
                      .p_memsz = CODE_BYTES}},
        .names = "\0.eh_frame\0.debug_frame\0.names",
    };
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    image.sections[1] = (Elf64_Shdr){.sh_name = debug_frame ? 11 : 1,
                                     .sh_type = SHT_PROGBITS,
                                     .sh_flags = debug_frame ? 0 : SHF_ALLOC,
                                     .sh_addr = debug_frame ? 0 : TABLE_ADDRESS,
                                     .sh_offset = sizeof image,
                                     .sh_size = bytes,
                                     .sh_addralign = 1};
    image.sections[2] = (Elf64_Shdr){.sh_name = 24,
                                     .sh_type = SHT_STRTAB,
                                     .sh_offset = offsetof(struct image, names),
                                     .sh_size = sizeof image.names,
                                     .sh_addralign = 1};
    fuzz_check(fd >= 0 && write(fd, &image, sizeof image) == sizeof image &&
               write(fd, table, bytes) == (ssize_t)bytes);
    return fd;
}

static void fuzz_table(const uint8_t *data, size_t size, bool debug_frame)
{
    uint64_t words[64];
    int fd = make_file(data, size, debug_frame);
    struct unwind_tables tables;
    struct unwind_rule rule;

    for (size_t i = 0; i < 64; i++)
        words[i] = STACK_START + i * 24;
    unwind_tables_open(&tables, fd, 1 << 20);
    for (uint64_t offset = CODE_ADDRESS; offset < CODE_ADDRESS + CODE_BYTES; offset += 61) {
        struct unwind_frame frame = {
            .known = (1u << UNWIND_REGISTERS) - 1,
            .stack_start = STACK_START,
            .stack = (const uint8_t *)words,
            .stack_bytes = sizeof words,
        };

        for (size_t i = 0; i < UNWIND_REGISTERS; i++)
            frame.registers[i] = STACK_START + i * 8;
        if (unwind_tables_find(&tables, offset, &rule)) {
            int end = unwind_rule_step(&rule, &frame);

            fuzz_check(end == 0 || end == HR_STACK_WHOLE || end == HR_STACK_CUT ||
                       end == HR_STACK_BROKEN);
            fuzz_check(end != 0 || (frame.known >> UNWIND_RIP & 1) != 0);
        }
    }
    unwind_tables_close(&tables);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 0)
        fuzz_stack(data + 1, size - 1);
    else if (size <= 1 << 16)
        fuzz_table(data + 1, size - 1, (data[0] & 1) != 0);
    return 0;
}
