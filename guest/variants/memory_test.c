/* Test kernels: output into memory without a loader.  The command line says where:
 * buffer=BASE:BYTES[,BASE:BYTES]... in hexadecimal digits, parts of RAM at page boundaries. */
#include "guest/variants/memory_test.h"

#include <string.h>

#include "drivers/uart/uart.h"
#include "guest/base/log.h"
#include "guest/base/run.h"

static uint64_t hex(const char **text)
{
    uint64_t value = 0;

    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            value = value * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uint64_t)(c - 'a') + 10;
        else
            return value;
    }
}

static void add(struct boot_info *boot, uint64_t base, uint64_t bytes, uint32_t kind)
{
    if (bytes == 0)
        return;
    if (boot->range_count == BOOT_MEMORY_RANGES_MAX)
        panic("too many ranges of memory");
    boot->ranges[boot->range_count++] =
        (struct boot_memory_range){.base = base, .bytes = bytes, .kind = kind};
}

/* Removes the part from the RAM range that contains it. */
static void carve(struct boot_info *boot, uint64_t base, uint64_t bytes)
{
    for (uint32_t i = 0; i < boot->range_count; i++) {
        struct boot_memory_range *range = &boot->ranges[i];
        uint64_t end = range->base + range->bytes;

        if (range->kind != BOOT_MEMORY_RAM || base < range->base || base + bytes > end)
            continue;
        range->bytes = base - range->base;
        add(boot, base, bytes, BOOT_MEMORY_BUFFER);
        add(boot, base + bytes, end - base - bytes, BOOT_MEMORY_RAM);
        return;
    }
    panic("buffer=%lx:%lx is not in RAM", base, bytes);
}

void memory_test_prepare(struct boot_info *boot)
{
    const char *text = boot->command_line;
    const char *const key = "buffer=";

    if (memcmp(text, key, strlen(key)) != 0)
        return;
    boot->output = BOOT_OUTPUT_MEMORY;
    for (text += strlen(key); *text;) {
        uint64_t base = hex(&text);

        text += *text == ':';
        carve(boot, base, hex(&text));
        text += *text == ',';
    }
}

void memory_test_result(void)
{
    const struct boot_result *result = &run.boot->result;
    char line[160];

    if (run.boot->output != BOOT_OUTPUT_MEMORY)
        return;
    format_text(line, sizeof line, "result: end %u exit %u %u sent %lu lost %lu report %u\n",
                result->end, result->exit_kind, result->exit_code, result->sent_bytes,
                result->lost_samples, result->report_bytes);
    uart_write(line, strlen(line));
}
