/* A small C++ program with functions inlined two deep at a known place, built by the test, and a
 * trace's load map of it.
 */
#ifndef TESTS_UNIT_HOST_PROGRAM_H
#define TESTS_UNIT_HOST_PROGRAM_H

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/trace/trace_info.h"
#include "tests/unit/host/tree.h"

#define PROGRAM_BASE 0x7f1200000000ull /* where a position-independent one is mapped */

/* At the label `probe`: scale, inlined into sum (line 6), inlined into work (line 11). */
#define PROGRAM_SOURCE                                                                    \
    "namespace demo {\n"                                                                  \
    "inline __attribute__((always_inline)) int scale(int x) {\n"                          \
    "    __asm__ volatile(\"probe: nop\"); return x * 3;\n"                               \
    "}\n"                                                                                 \
    "inline __attribute__((always_inline)) int sum(int a, int b) {\n"                     \
    "    return scale(a) +\n"                                                             \
    "           b;\n"                                                                     \
    "}\n"                                                                                 \
    "__attribute__((noinline)) int work(int a, int b) {\n"                                \
    "    __asm__ volatile(\"\" : : \"r\"(a));\n"                                          \
    "    return sum(a, b);\n"                                                             \
    "}\n"                                                                                 \
    "}\n"                                                                                 \
    "extern \"C\" __attribute__((visibility(\"default\"))) int exported(int a) { return " \
    "demo::work(a, a / 2) + 1; }\n"                                                       \
    "int main(int argc, char **) { return exported(argc); }\n"

struct program {
    struct tree tree;
    char path[128];
    char recorded[128]; /* the map's path */
    struct trace_map map;
    struct trace_info info;
    uint64_t probe; /* run-time address */
};

/* Runs a command in the folder; "$p" is the program. */
static inline void program_run(const struct program *p, const char *command)
{
    char line[2048];

    snprintf(line, sizeof line, "cd %s && p=program && { %s; } >log 2>&1", p->tree.root, command);
    if (system(line) == 0)
        return;
    snprintf(line, sizeof line, "cat %s/log >&2", p->tree.root);
    (void)!system(line);
    fail_msg("%s", command);
}

/* The value of a symbol of the file. */
static inline uint64_t program_symbol(const struct program *p, const char *name)
{
    int fd = open(p->path, O_RDONLY);
    Elf_Scn *section = NULL;
    Elf_Data *data = NULL;
    GElf_Shdr header = {0};
    GElf_Sym symbol;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    while (header.sh_type != SHT_SYMTAB) {
        section = elf_nextscn(elf, section);
        assert_non_null(gelf_getshdr(section, &header));
    }
    data = elf_getdata(section, NULL);
    for (int i = 0;; i++) {
        assert_non_null(gelf_getsym(data, i, &symbol));
        if (symbol.st_shndx != SHN_UNDEF &&
            strcmp(elf_strptr(elf, header.sh_link, symbol.st_name), name) == 0)
            break;
    }
    elf_end(elf);
    close(fd);
    return symbol.st_value;
}

/* A map of the file's executable segment, as the dynamic linker makes it. */
static inline void program_map(struct program *p)
{
    int fd = open(p->path, O_RDONLY);
    const void *build_id = NULL;
    ssize_t bytes;
    size_t count;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    p->map = (struct trace_map){.path = p->recorded};
    if (bytes > 0)
        memcpy(p->map.build_id, build_id, (size_t)bytes);
    p->map.meta.build_id_bytes = bytes > 0 ? (uint16_t)bytes : 0;
    assert_int_equal(elf_getphdrnum(elf, &count), 0);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        GElf_Ehdr header;

        assert_non_null(gelf_getphdr(elf, (int)i, &segment));
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
            continue;
        assert_non_null(gelf_getehdr(elf, &header));
        uint64_t base = header.e_type == ET_DYN ? PROGRAM_BASE : 0;

        p->probe = base + program_symbol(p, "probe");
        p->map.meta.start = (base + segment.p_vaddr) & ~4095ull;
        p->map.meta.end = (base + segment.p_vaddr + segment.p_memsz + 4095) & ~4095ull;
        p->map.meta.file_offset = segment.p_offset & ~4095ull;
    }
    elf_end(elf);
    close(fd);
    trace_info_init(&p->info);
    p->info.maps = &p->map;
    p->info.map_count = 1;
}

/* Compiles the source; the command knows it as program.cc. */
static inline void program_build(struct program *p, const char *command)
{
    memset(p, 0, sizeof *p);
    tree_init(&p->tree);
    tree_put(&p->tree, "program.cc", PROGRAM_SOURCE);
    snprintf(p->path, sizeof p->path, "%s/program", p->tree.root);
    strcpy(p->recorded, p->path);
    program_run(p, command);
    program_map(p);
}

static inline void program_free(struct program *p)
{
    tree_free(&p->tree);
}

/* Where a debug folder below the root has a file of this build-id, with `suffix`. */
static inline void program_build_id_name(const struct program *p, const char *folder,
                                         const char *suffix, char name[256])
{
    int used = snprintf(name, 128, "%s/.build-id/%02x/", folder, p->map.build_id[0]);

    for (int i = 1; i < p->map.meta.build_id_bytes; i++)
        used += sprintf(name + used, "%02x", p->map.build_id[i]);
    strcpy(name + used, suffix);
}

#endif
