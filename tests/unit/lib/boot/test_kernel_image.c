/* lib/boot/kernel_image.c: the kernel's file is placed as it says, and refused when it is not one.
 */
#include "lib/boot/kernel_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "include/kernel_layout.h"
#include "tests/unit/test.h"

#define START (KERNEL_BASE + KERNEL_PHYSICAL)

struct note {
    Elf64_Nhdr header;
    char name[12];
    uint64_t entry;
} __attribute__((packed));

struct file {
    Elf64_Ehdr header;
    Elf64_Phdr program[3];
    struct note other, note;
    uint8_t text[64], data[32];
} __attribute__((packed));

static struct file file;
static struct kernel_image image;

static struct file good_file(void)
{
    struct file f = {
        .header = {.e_type = ET_EXEC,
                   .e_machine = EM_X86_64,
                   .e_phoff = offsetof(struct file, program),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 3},
        .program = {{.p_type = PT_LOAD,
                     .p_offset = offsetof(struct file, text),
                     .p_vaddr = START,
                     .p_filesz = 64,
                     .p_memsz = 64},
                    {.p_type = PT_LOAD,
                     .p_offset = offsetof(struct file, data),
                     .p_vaddr = START + 0x2000,
                     .p_filesz = 32,
                     .p_memsz = 0x1800},
                    {.p_type = PT_NOTE,
                     .p_offset = offsetof(struct file, other),
                     .p_filesz = 2 * sizeof(struct note)}},
        .other = {{10, 8, 18}, "Microtome", START},
        .note = {{10, 8, 1}, "Microtome", START + 16},
    };

    memcpy(f.header.e_ident, ELFMAG, SELFMAG);
    f.header.e_ident[EI_CLASS] = ELFCLASS64;
    f.header.e_ident[EI_DATA] = ELFDATA2LSB;
    memset(f.text, 't', sizeof f.text);
    memset(f.data, 'd', sizeof f.data);
    return f;
}

/* Parses the first `bytes` bytes in a block of that size, so that ASan sees any read past it. */
static const char *parse_bytes(size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    const char *wrong;

    assert_non_null(copy);
    memcpy(copy, &file, bytes);
    wrong = kernel_image_parse(copy, bytes, &image);
    free(copy);
    return wrong;
}

static const char *parse(void)
{
    return parse_bytes(sizeof file);
}

static void places_segments(void **state)
{
    uint8_t memory[0x4000];

    (void)state;
    file = good_file();
    assert_null(parse());
    assert_int_equal(image.bytes, 0x4000);
    assert_int_equal(image.entry, 16);
    assert_int_equal(image.segment_count, 2);
    memset(memory, 0xff, sizeof memory);
    kernel_image_place(&image, &file, memory);
    assert_int_equal(memory[0], 't');
    assert_int_equal(memory[63], 't');
    assert_int_equal(memory[64], 0);
    assert_int_equal(memory[0x2000], 'd');
    assert_int_equal(memory[0x201f], 'd');
    assert_int_equal(memory[0x2020], 0);
    assert_int_equal(memory[0x3fff], 0);
}

static void refuses_other_files(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < offsetof(struct file, data) + 32; bytes++) {
        file = good_file();
        assert_non_null(parse_bytes(bytes));
    }
#define REFUSED(change, part)                   \
    do {                                        \
        file = good_file();                     \
        change;                                 \
        assert_non_null(parse());               \
        assert_non_null(strstr(parse(), part)); \
    } while (0)
    REFUSED(file.header.e_ident[0] = 0, "no ELF file");
    REFUSED(file.header.e_ident[EI_CLASS] = ELFCLASS32, "no 64-bit");
    REFUSED(file.header.e_machine = EM_AARCH64, "no 64-bit");
    REFUSED(file.header.e_type = ET_DYN, "no 64-bit");
    REFUSED(file.header.e_phentsize = 32, "program headers");
    REFUSED(file.header.e_phoff = UINT64_MAX, "program headers");
    REFUSED(file.header.e_phnum = 1000, "program headers");
    REFUSED(file.program[0].p_vaddr = START - 1, "where no kernel is");
    REFUSED(file.program[1].p_memsz = UINT64_MAX, "where no kernel is");
    REFUSED(file.program[1].p_vaddr = UINT64_MAX - 100, "where no kernel is");
    REFUSED(file.program[1].p_vaddr = START + 0xfff, "overlap");
    REFUSED(file.program[1].p_filesz = 0x1801, "past its end");
    REFUSED(file.program[1].p_offset = sizeof file, "past its end");
    REFUSED(file.program[1].p_offset = UINT64_MAX, "past its end");
    REFUSED(file.program[2].p_type = PT_NULL, "no entry");
    REFUSED(file.program[2].p_filesz = sizeof(struct note), "no entry");
    REFUSED(file.program[2].p_filesz--, "no entry");
    REFUSED(file.program[2].p_offset = UINT64_MAX, "no entry");
    REFUSED(file.other.header.n_namesz = UINT32_MAX, "no entry");
    REFUSED(file.other.header.n_descsz = UINT32_MAX, "no entry");
    REFUSED(file.note.header.n_descsz = 4, "no entry");
    REFUSED(file.note.name[0] = 'm', "no entry");
    REFUSED(file.note.entry = START - 1, "outside");
    REFUSED(file.note.entry = START + 0x4000, "outside");
}

static void knows_the_network(void **state)
{
    (void)state;
    file = good_file();
    assert_null(parse());
    assert_false(image.network);
    file.other.header.n_type = 2;
    assert_null(parse());
    assert_true(image.network);
    file.other.entry = 0;
    assert_null(parse());
    assert_false(image.network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_segments),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(knows_the_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
