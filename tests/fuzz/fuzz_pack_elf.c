/* Fuzzes the reader of dynamic sections: its strings lie inside the file and end there. */
#include <string.h>

#include "host/pack/libraries/pack_elf.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const struct pack_elf *elf, const char *text)
{
    const uint8_t *at = (const uint8_t *)text;

    if (text == NULL)
        return;
    fuzz_check(at >= elf->file && at < elf->file + elf->bytes);
    fuzz_check(memchr(text, 0, (size_t)(elf->file + elf->bytes - at)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size != 0 ? size : 1);
    uint64_t position = 0;
    struct pack_elf elf;
    const char *needed;

    fuzz_check(copy != NULL);
    memcpy(copy, data, size);
    if (pack_elf_parse(copy, size, &elf) == 0) {
        check_text(&elf, elf.interpreter);
        check_text(&elf, elf.soname);
        check_text(&elf, elf.rpath);
        check_text(&elf, elf.runpath);
        fuzz_check(elf.rpath == NULL || elf.runpath == NULL);
        while ((needed = pack_elf_next_needed(&elf, &position)) != NULL)
            check_text(&elf, needed);
    }
    free(copy);
    return 0;
}
