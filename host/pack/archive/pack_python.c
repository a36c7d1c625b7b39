/* Finds CPython's symbols, and the offsets of its version. */
#include "host/pack/archive/pack_python.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "lib/array.h"
#include "lib/program/python_layout_versions.h"

#define SEGMENTS_MAX 64u
#define DEBUG_COOKIE "xdebugpy" /* begins _PyRuntime from 3.13 on: _Py_DebugOffsets follows */
#define DEBUG_WORDS 71u

struct python_symbols { /* addresses as linked; 0: not found */
    uint64_t runtime;
    uint64_t code_type;
    uint64_t version;
};

static const struct {
    uint32_t version; /* major and minor */
    struct python_layout layout;
} known[] = {{0x030b, PYTHON_LAYOUT_3_11}, {0x030c, PYTHON_LAYOUT_3_12}};

/* Where _Py_DebugOffsets has each field, in words: Include/internal/pycore_runtime.h of 3.13. */
static const uint8_t debug_words[PYTHON_LAYOUT_FIELDS] = {
    [PYTHON_INTERPRETERS] = 5, [PYTHON_INTERPRETER_NEXT] = 8, [PYTHON_THREADS] = 9,
    [PYTHON_THREAD_NEXT] = 21, [PYTHON_THREAD_ID] = 25,       [PYTHON_THREAD_FRAME] = 23,
    [PYTHON_FRAME_CODE] = 30,  [PYTHON_FRAME_PREVIOUS] = 29,  [PYTHON_FRAME_INSTRUCTION] = 31,
    [PYTHON_FRAME_OWNER] = 33, [PYTHON_CODE_FIRST_LINE] = 39, [PYTHON_CODE_FILE] = 35,
    [PYTHON_CODE_NAME] = 37,   [PYTHON_CODE_LINES] = 38,      [PYTHON_CODE_UNITS] = 43,
    [PYTHON_ASCII_BYTES] = 70,
};

static void note_symbol(struct python_symbols *symbols, const char *name, uint64_t address)
{
    if (name == NULL)
        return;
    if (strcmp(name, "_PyRuntime") == 0)
        symbols->runtime = address;
    else if (strcmp(name, "PyCode_Type") == 0)
        symbols->code_type = address;
    else if (strcmp(name, "Py_Version") == 0)
        symbols->version = address;
}

static void read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       struct python_symbols *symbols)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize != 0 ? header->sh_size / header->sh_entsize : 0;
    GElf_Sym symbol;

    for (size_t i = 0; data != NULL && i < count; i++)
        if (gelf_getsym(data, (int)i, &symbol) != NULL && symbol.st_shndx != SHN_UNDEF)
            note_symbol(symbols, elf_strptr(elf, header->sh_link, symbol.st_name), symbol.st_value);
}

static void find_symbols(Elf *elf, struct python_symbols *symbols)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
            read_table(elf, section, &header, symbols);
}

/* Finds what an address is less its place in the file: in the segment with those flags that holds
 * it, or in the first one with them.  Returns false if there is none. */
static bool segment_base(Elf *elf, uint32_t flags, const uint64_t *address, uint64_t *base)
{
    GElf_Phdr header;
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            (header.p_flags & flags) != flags)
            continue;
        if (address != NULL && *address - header.p_vaddr >= header.p_filesz)
            continue;
        *base = header.p_vaddr - header.p_offset;
        return true;
    }
    return false;
}

/* Reads memory as the file fills it. */
static bool read_at(Elf *elf, int fd, uint64_t address, void *to, size_t bytes)
{
    uint64_t base;

    return segment_base(elf, PF_R, &address, &base) &&
           pread(fd, to, bytes, (off_t)(address - base)) == (ssize_t)bytes;
}

static bool describe_itself(Elf *elf, int fd, uint64_t runtime, struct python_layout *layout)
{
    uint64_t words[DEBUG_WORDS];

    if (!read_at(elf, fd, runtime, words, sizeof words) ||
        memcmp(words, DEBUG_COOKIE, sizeof words[0]) != 0 || words[1] >> 16 != 0x030d)
        return false;
    for (uint32_t i = 0; i < PYTHON_LAYOUT_FIELDS; i++)
        if (debug_words[i] != 0)
            layout->at[i] = words[debug_words[i]];
    layout->at[PYTHON_HOLDER_FRAME] = PYTHON_NO_HOLDER;
    layout->at[PYTHON_COMPACT_BYTES] = layout->at[PYTHON_ASCII_BYTES] + 16; /* UTF-8 and its size */
    return true;
}

static int choose_layout(Elf *elf, int fd, const struct python_symbols *symbols,
                         struct python_layout *layout)
{
    uint64_t version = 0;

    if (describe_itself(elf, fd, symbols->runtime, layout))
        return 0;
    if (symbols->version == 0 || !read_at(elf, fd, symbols->version, &version, sizeof version))
        return -ENOTSUP;
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (known[i].version == version >> 16) {
            *layout = known[i].layout;
            return 0;
        }
    return -ENOTSUP;
}

static int look_at(Elf *elf, int fd, struct python_layout *layout)
{
    struct python_symbols symbols = {0};
    uint64_t base;
    int error;

    find_symbols(elf, &symbols);
    if (symbols.runtime == 0 || symbols.code_type == 0 || !segment_base(elf, PF_X, NULL, &base))
        return -ENOENT;
    error = choose_layout(elf, fd, &symbols, layout);
    layout->at[PYTHON_RUNTIME] = symbols.runtime - base;
    layout->at[PYTHON_CODE_TYPE] = symbols.code_type - base;
    return error;
}

int pack_python_look(const char *path, struct pack_python *python)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = -ENOENT;
    Elf *elf;

    if (fd < 0)
        return -ENOENT;
    *python = (struct pack_python){.name = ""};
    snprintf(python->name, sizeof python->name, "%s", text_base_name(path));
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
        error = look_at(elf, fd, &python->layout);
    elf_end(elf);
    close(fd);
    return error;
}

int pack_python_find(const struct pack_list *list, struct pack_python *python)
{
    int result = -ENOENT;

    for (size_t i = 0; i < list->count && result != 0; i++) {
        const struct pack_entry *entry = list->entries[i];
        const char *name = entry->source != NULL ? text_base_name(entry->name) : "";

        if (strncmp(name, "python3", 7) == 0 || strncmp(name, "libpython3", 10) == 0) {
            int error = pack_python_look(entry->source, python);

            result = error != -ENOENT ? error : result;
        }
    }
    return result;
}

static int look_at_real(const char *path, struct pack_python *python)
{
    char real[PATH_MAX];

    return realpath(path, real) != NULL ? pack_python_look(real, python) : -ENOENT;
}

static int look_in(const char *directories, const char *name, struct pack_python *python)
{
    char path[PATH_MAX];
    int result = -ENOENT;

    while (directories != NULL && *directories != 0 && result == -ENOENT) {
        size_t bytes = strcspn(directories, ":");

        if (snprintf(path, sizeof path, "%.*s/%s", (int)bytes, directories, name) <
            (int)sizeof path)
            result = look_at_real(path, python);
        directories += bytes + (directories[bytes] == ':');
    }
    return result;
}

int pack_python_word(const char *command, const char *path, struct pack_python *python)
{
    static const char ends[] = " \t\n;&|()'\"";
    char word[NAME_MAX + 1];
    int result = -ENOENT;

    for (const char *at = command; *at != 0 && result == -ENOENT;) {
        size_t bytes = strcspn(at, ends);

        snprintf(word, sizeof word, "%.*s", bytes < sizeof word ? (int)bytes : 0, at);
        if (strncmp(text_base_name(word), "python3", 7) == 0)
            result = strchr(word, '/') != NULL ? look_at_real(word, python)
                                               : look_in(path, word, python);
        at += bytes;
        at += strspn(at, ends);
    }
    return result;
}
