/* Symbolises the report of a kernel panic through libdw. */
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/run/panic_report.h"

#define KERNEL_PREFIX "ffffffff8" /* the top 2 GB, where the kernel is linked */
#define KERNEL_DIGITS 16
#define CONTEXT_LINES 3 /* before the panic's first line */
#define TAIL_BYTES 4000

static Dwfl *open_kernel(const char *kernel)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);

    if (dwfl == NULL)
        return NULL;
    if (dwfl_report_offline(dwfl, "", kernel, -1) != NULL && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* Only code has source lines: a stack address gets no symbol.  `back` is 1 for a return address,
 * because the call is before it. */
static bool print_symbol(FILE *out, Dwfl *dwfl, uint64_t address, uint64_t back)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address - back);
    Dwfl_Line *line = module != NULL ? dwfl_module_getsrc(module, address - back) : NULL;
    const char *file;
    const char *name;
    GElf_Off offset;
    GElf_Sym symbol;
    int number;

    if (line == NULL)
        return false;
    file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    name = dwfl_module_addrinfo(module, address - back, &offset, &symbol, NULL, NULL, NULL);
    if (file == NULL || name == NULL)
        return false;
    fprintf(out, " %s+0x%" PRIx64 " (%s:%d)", name, (uint64_t)offset + back, file, number);
    return true;
}

static void print_line(FILE *out, Dwfl *dwfl, const char *line, size_t bytes)
{
    const char *end = line + bytes;
    const char *frame = memchr(line, '#', bytes);
    uint64_t back = frame != NULL && frame + 1 < end && frame[1] != '0';

    while (line < end) {
        const char *address =
            memmem(line, (size_t)(end - line), KERNEL_PREFIX, sizeof KERNEL_PREFIX - 1);
        char *after = NULL;
        uint64_t value = 0;

        if (address == NULL || end - address < KERNEL_DIGITS)
            break;
        value = strtoull(address, &after, 16);
        fwrite(line, 1, (size_t)(after - line), out);
        /* The call of panic may be the last instruction of a function, so it counts as a return
         * address. */
        if (dwfl != NULL && after - address == KERNEL_DIGITS &&
            !print_symbol(out, dwfl, value, back))
            (void)print_symbol(out, dwfl, value, 1);
        line = after;
    }
    fwrite(line, 1, line < end ? (size_t)(end - line) : 0, out);
    putc('\n', out);
}

/* Returns the panic's first line, with a few lines before it. */
static const char *find_start(const char *text)
{
    const char *start = strcasestr(text, "panic");
    size_t bytes = strlen(text);
    int lines = 0;

    if (start == NULL)
        return bytes > TAIL_BYTES ? text + bytes - TAIL_BYTES : text;
    while (start > text && (start[-1] != '\n' || ++lines <= CONTEXT_LINES))
        start--;
    return start;
}

bool panic_report_is_in(const char *text)
{
    static const char mark[] = "panic: ";

    for (const char *at = text; (at = strstr(at, mark)) != NULL; at += sizeof mark - 1)
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

void panic_report_print(FILE *out, const char *text, const char *kernel)
{
    Dwfl *dwfl = open_kernel(kernel);

    for (text = find_start(text); *text != 0;) {
        size_t bytes = strcspn(text, "\n");

        print_line(out, dwfl, text, bytes);
        text += bytes + (text[bytes] == '\n');
    }
    if (dwfl != NULL)
        dwfl_end(dwfl);
}
