/* The ELF64 validator: a correct image, then one defect at a time. */
#include "lib/program/elf64.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define FILE_BYTES 8192u
#define HEADERS_MAX 40u

struct fixture {
    Elf64_Ehdr eh;
    Elf64_Phdr ph[HEADERS_MAX];
    uint8_t rest[FILE_BYTES - sizeof(Elf64_Ehdr) - HEADERS_MAX * sizeof(Elf64_Phdr)];
};
_Static_assert(sizeof(struct fixture) == FILE_BYTES, "fixture");

/* Text of one page at 400000H with the headers, data in the second page with .bss after it. */
static struct fixture good(void)
{
    struct fixture f = {
        .eh = {.e_type = ET_EXEC,
               .e_machine = EM_X86_64,
               .e_version = EV_CURRENT,
               .e_entry = 0x400f00,
               .e_phoff = sizeof(Elf64_Ehdr),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 3},
        .ph = {{.p_type = PT_LOAD,
                .p_flags = PF_R | PF_X,
                .p_vaddr = 0x400000,
                .p_filesz = 0x1000,
                .p_memsz = 0x1000,
                .p_align = 0x1000},
               {.p_type = PT_LOAD,
                .p_flags = PF_R | PF_W,
                .p_offset = 0x1010,
                .p_vaddr = 0x402010,
                .p_filesz = 0x100,
                .p_memsz = 0x2000,
                .p_align = 0x1000},
               {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W}},
    };

    memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
    f.eh.e_ident[EI_CLASS] = ELFCLASS64;
    f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
    f.eh.e_ident[EI_VERSION] = EV_CURRENT;
    return f;
}

/* Parses a copy of exactly `bytes` bytes, so that ASan sees any read past it. */
static enum elf64_status parse_bytes(const void *file, size_t bytes, struct elf64_image *image)
{
    void *copy = malloc(bytes ? bytes : 1);
    enum elf64_status status;

    assert_non_null(copy);
    memcpy(copy, file, bytes);
    status = elf64_parse(copy, bytes, image);
    free(copy);
    return status;
}

static enum elf64_status parse(const struct fixture *f)
{
    struct elf64_image image;

    return parse_bytes(f, sizeof *f, &image);
}

static void accepts_a_good_image(void **state)
{
    struct fixture f = good();
    struct elf64_image image;

    (void)state;
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_false(image.relocatable);
    assert_false(image.executable_stack);
    assert_int_equal(image.entry, 0x400f00);
    assert_int_equal(image.program_headers, 0x400040);
    assert_int_equal(image.program_header_count, 3);
    assert_int_equal(image.program_header_bytes, 56);
    assert_int_equal(image.low, 0x400000);
    assert_int_equal(image.high, 0x405000);
    assert_int_equal(image.segment_count, 2);
    assert_int_equal(image.segments[1].address, 0x402010);
    assert_int_equal(image.segments[1].memory_bytes, 0x2000);
    assert_int_equal(image.segments[1].file_offset, 0x1010);
    assert_int_equal(image.segments[1].file_bytes, 0x100);
    assert_int_equal(image.segments[1].flags, PF_R | PF_W);
    assert_int_equal(image.interpreter_bytes, 0);
    assert_int_equal(image.build_id_bytes, 0);
}

static void identity(void **state)
{
    struct fixture f = good();
    struct elf64_image image;

    (void)state;
    assert_int_equal(parse_bytes("", 0, &image), ELF64_NOT_ELF);
    assert_int_equal(parse_bytes("\177EL", 3, &image), ELF64_NOT_ELF);
    assert_int_equal(parse_bytes("#!/bin/sh\n", 10, &image), ELF64_NOT_ELF);
    assert_int_equal(parse_bytes("\177ELF", 4, &image), ELF64_TRUNCATED);
    assert_int_equal(parse_bytes("\177ELF\1\1\1", 7, &image), ELF64_NOT_64BIT);
    f.eh.e_ident[EI_CLASS] = 9;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f = good();
    f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(parse(&f), ELF64_WRONG_MACHINE);
    f = good();
    f.eh.e_ident[EI_DATA] = 0;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f = good();
    f.eh.e_machine = EM_AARCH64;
    assert_int_equal(parse(&f), ELF64_WRONG_MACHINE);
    f = good();
    f.eh.e_type = ET_REL;
    assert_int_equal(parse(&f), ELF64_WRONG_TYPE);
    f.eh.e_type = ET_CORE;
    assert_int_equal(parse(&f), ELF64_WRONG_TYPE);
}

static void header_table(void **state)
{
    struct fixture f = good();

    (void)state;
    f.eh.e_phentsize = 32;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f = good();
    f.eh.e_phnum = PN_XNUM;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.eh.e_phnum = 0;
    assert_int_equal(parse(&f), ELF64_NO_SEGMENTS);
    f.eh.e_phnum = 1000;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
    f = good();
    f.eh.e_phoff = UINT64_MAX - 7;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
    f.eh.e_phoff = FILE_BYTES - 56;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
    f = good();
    f.ph[0].p_type = f.ph[1].p_type = PT_NULL;
    assert_int_equal(parse(&f), ELF64_NO_SEGMENTS);
}

static void every_truncation(void **state)
{
    struct fixture f = good();
    struct elf64_image image;

    (void)state;
    for (size_t bytes = 4; bytes < 0x1110; bytes++)
        assert_int_equal(parse_bytes(&f, bytes, &image), ELF64_TRUNCATED);
    assert_int_equal(parse_bytes(&f, 0x1110, &image), ELF64_OK);
}

static void segment_sizes_and_alignments(void **state)
{
    struct fixture f = good();

    (void)state;
    f.ph[1].p_filesz = 0x2001;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f = good();
    f.ph[1].p_align = 3;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.ph[1].p_align = 0;
    assert_int_equal(parse(&f), ELF64_OK);
    f.ph[1].p_align = 1ull << 63;
    assert_int_equal(parse(&f), ELF64_OK);
    f = good();
    f.ph[1].p_vaddr += 8; /* no longer congruent to the offset */
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.ph[1].p_filesz = 0; /* nothing of the file to map */
    assert_int_equal(parse(&f), ELF64_OK);
    f = good();
    f.ph[1].p_offset = UINT64_MAX - 0xfef;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
    f = good();
    f.ph[1].p_memsz = f.ph[1].p_filesz = 0; /* empty: skipped */
    assert_int_equal(parse(&f), ELF64_OK);
    f.ph[1].p_filesz = 1;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
}

static void segment_addresses(void **state)
{
    struct fixture f = good();

    (void)state;
    f.ph[1].p_memsz = UINT64_MAX;
    assert_int_equal(parse(&f), ELF64_BAD_ADDRESS);
    f = good();
    f.ph[1].p_vaddr = 0xffffffff80000010;
    assert_int_equal(parse(&f), ELF64_BAD_ADDRESS);
    f.ph[1].p_vaddr = ELF64_USER_END - 0x2000 + 0x10;
    assert_int_equal(parse(&f), ELF64_BAD_ADDRESS);
    f.ph[1].p_memsz = 0x1ff0;
    assert_int_equal(parse(&f), ELF64_OK);
    f = good();
    f.ph[0].p_vaddr = 0xf000;
    f.eh.e_entry = 0xf000;
    assert_int_equal(parse(&f), ELF64_BAD_ADDRESS);
    f.eh.e_type = ET_DYN;
    assert_int_equal(parse(&f), ELF64_OK);
    f.ph[1].p_vaddr = (1ull << 46) - 0x2000 + 0x10;
    assert_int_equal(parse(&f), ELF64_BAD_ADDRESS);
    f.ph[1].p_memsz = 0x1ff0;
    assert_int_equal(parse(&f), ELF64_OK);
}

static void overlap_and_order(void **state)
{
    struct fixture f = good();
    struct elf64_image image;
    Elf64_Phdr first;

    (void)state;
    f.ph[1].p_vaddr = 0x400010;
    assert_int_equal(parse(&f), ELF64_OVERLAP);
    f = good();
    f.ph[1].p_offset = 0x1000;
    f.ph[1].p_vaddr = 0x401000; /* touches, shares no byte */
    assert_int_equal(parse(&f), ELF64_OK);
    f.ph[0].p_memsz = 0x1001;
    assert_int_equal(parse(&f), ELF64_OVERLAP);
    f = good();
    first = f.ph[0];
    f.ph[0] = f.ph[1];
    f.ph[1] = first;
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.segments[0].address, 0x400000);
    assert_int_equal(image.low, 0x400000);
    assert_int_equal(image.high, 0x405000);
}

static void entry_point(void **state)
{
    struct fixture f = good();

    (void)state;
    f.eh.e_entry = 0x401000;
    assert_int_equal(parse(&f), ELF64_BAD_ENTRY);
    f.eh.e_entry = 0x402020; /* not executable */
    assert_int_equal(parse(&f), ELF64_BAD_ENTRY);
    f.eh.e_entry = 0x3fffff;
    assert_int_equal(parse(&f), ELF64_BAD_ENTRY);
    f.eh.e_entry = 0x400fff;
    assert_int_equal(parse(&f), ELF64_OK);
}

static void many_segments(void **state)
{
    struct fixture f = good();

    (void)state;
    for (uint16_t i = 1; i < HEADERS_MAX; i++)
        f.ph[i] = (Elf64_Phdr){
            .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x500000 + i * 0x1000ull, .p_memsz = 16};
    f.eh.e_phnum = ELF64_SEGMENTS_MAX;
    assert_int_equal(parse(&f), ELF64_OK);
    f.eh.e_phnum = ELF64_SEGMENTS_MAX + 1;
    assert_int_equal(parse(&f), ELF64_TOO_MANY_SEGMENTS);
}

static void interpreter_and_stack(void **state)
{
    struct fixture f = good();
    struct elf64_image image;
    size_t offset = 0x1800;

    (void)state;
    f.ph[2].p_flags |= PF_X;
    f.eh.e_phnum = 4;
    f.ph[3] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = offset, .p_filesz = 7};
    memcpy((uint8_t *)&f + offset, "/lib/x", 7);
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_true(image.executable_stack);
    assert_int_equal(image.interpreter_offset, offset);
    assert_int_equal(image.interpreter_bytes, 7);
    f.ph[3].p_filesz = 6;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.ph[3].p_filesz = 1;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.ph[3].p_filesz = 5000;
    assert_int_equal(parse(&f), ELF64_BAD_HEADERS);
    f.ph[3].p_filesz = 7;
    f.ph[3].p_offset = FILE_BYTES - 6;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
    f.ph[3].p_offset = UINT64_MAX;
    assert_int_equal(parse(&f), ELF64_TRUNCATED);
}

static void put_note(uint8_t *at, uint32_t name_bytes, uint32_t bytes, uint32_t type)
{
    const uint32_t words[3] = {name_bytes, bytes, type};

    memcpy(at, words, sizeof words);
    memcpy(at + 12, "GNU", 4);
}

static void build_id(void **state)
{
    struct fixture f = good();
    struct elf64_image image;
    uint8_t *notes = (uint8_t *)&f + 0x1800;

    (void)state;
    f.eh.e_phnum = 4;
    f.ph[3] =
        (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0x1800, .p_filesz = 32 + 36, .p_align = 4};
    put_note(notes, 4, 16, NT_GNU_ABI_TAG);
    put_note(notes + 32, 4, 20, NT_GNU_BUILD_ID);
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.build_id_offset, 0x1800 + 32 + 16);
    assert_int_equal(image.build_id_bytes, 20);
    /* malformed notes are ignored, never fatal */
    f.ph[3].p_filesz--;
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.build_id_bytes, 0);
    f.ph[3].p_filesz = UINT64_MAX;
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.build_id_bytes, 0);
    f.ph[3].p_filesz = 68;
    put_note(notes, 0xffffffff, 0xffffffff, 1);
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.build_id_bytes, 0);
    put_note(notes, 4, 65, NT_GNU_BUILD_ID); /* longer than any build-id */
    f.ph[3].p_filesz = 200;
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.build_id_bytes, 0);
}

static void headers_outside_memory(void **state)
{
    struct fixture f = good();
    struct elf64_image image;

    (void)state;
    f.eh.e_phoff = 0x1200; /* in the file, in no segment */
    memcpy((uint8_t *)&f + 0x1200, f.ph, 3 * sizeof f.ph[0]);
    assert_int_equal(parse_bytes(&f, sizeof f, &image), ELF64_OK);
    assert_int_equal(image.program_headers, 0);
}

static void statuses_have_words(void **state)
{
    (void)state;
    for (int status = ELF64_OK; status <= ELF64_BAD_ENTRY; status++)
        assert_true(strlen(elf64_status_text((enum elf64_status)status)) > 0);
    assert_string_equal(elf64_status_text((enum elf64_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_good_image),
        cmocka_unit_test(identity),
        cmocka_unit_test(header_table),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(segment_sizes_and_alignments),
        cmocka_unit_test(segment_addresses),
        cmocka_unit_test(overlap_and_order),
        cmocka_unit_test(entry_point),
        cmocka_unit_test(many_segments),
        cmocka_unit_test(interpreter_and_stack),
        cmocka_unit_test(build_id),
        cmocka_unit_test(headers_outside_memory),
        cmocka_unit_test(statuses_have_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
