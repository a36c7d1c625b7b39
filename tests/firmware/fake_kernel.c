/* A kernel for tests of the loader: its archive is a text that says what it leaves behind.
 *
 *   o TEXT, e TEXT, l TEXT     a line to the program's stdout, stderr, the kernel's log
 *   t N, f N                   N KiB of trace (a pattern: tracebyte), of kept files
 *   k KIND CODE                how the program ended (enum hr_exit_kind)
 *   s SAMPLES LOST
 *   n END                      boot_result.end, also returned (enum boot_end)
 *   r VALUE                    returns this instead
 *   p TEXT                     a line of the report
 *   d                          a frame with a bad header
 *   g                          a frame whose offset leaves a gap
 *   c                          a frame that is cut in the middle
 *   x                          says that it has written more than there is room for
 *   m                          logs what it found in boot_info
 * It is called at whatever place it was loaded to: addresses are relative.
 */
#include <stdarg.h>
#include <string.h>

#include "include/boot_info.h"
#include "include/kernel_layout.h"
#include "lib/boot/run_stream.h"
#include "lib/format.h"

uint64_t uefi_entry(struct boot_info *info);

__asm__(".section .note.microtome, \"a\", @note\n"
        ".align 4\n"
        ".long 10, 8, 1\n"
        ".asciz \"Microtome\"\n"
        ".align 4\n"
        ".quad uefi_entry\n"
        ".text\n");

static struct boot_info *boot;
static uint64_t offsets[RUN_STREAM_PORTS];
static uint64_t returned;
static uint8_t zeroed[1000]; /* .bss: what the last run left there must be gone */
static uint8_t chunk[65536];

/* Copies to place boot->result.sent_bytes of all BUFFER ranges together; false: they are full. */
static bool put(const void *from, uint64_t bytes)
{
    const uint8_t *next = from;
    uint64_t skip = boot->result.sent_bytes;

    for (uint32_t i = 0; i < boot->range_count && bytes > 0; i++) {
        const struct boot_memory_range *range = &boot->ranges[i];
        uint64_t here;

        if (range->kind != BOOT_MEMORY_BUFFER)
            continue;
        if (skip >= range->bytes) {
            skip -= range->bytes;
            continue;
        }
        here = range->bytes - skip < bytes ? range->bytes - skip : bytes;
        memcpy((uint8_t *)(uintptr_t)range->base + skip, next, here);
        next += here;
        bytes -= here;
        boot->result.sent_bytes += here;
        skip = 0;
    }
    return bytes == 0;
}

static void send(enum run_stream_port port, const void *bytes, uint32_t count)
{
    struct run_frame frame;

    run_stream_frame(&frame, port, offsets[port], count);
    if (put(&frame, sizeof frame) && put(bytes, count))
        offsets[port] += count;
}

static void send_line(enum run_stream_port port, const char *text)
{
    send(port, text, (uint32_t)strlen(text));
    send(port, "\n", 1);
}

/* Writes the line before it, a hexadecimal number, plus 16. */
static void next_line(uint8_t *line)
{
    int digit = 13;

    memcpy(line, line - 16, 16);
    for (; line[digit] == 'f'; digit--)
        line[digit] = '0';
    line[digit] += line[digit] == '9' ? 'a' - '9' : 1;
}

/* Byte n of the port's stream: tests/firmware/lib.sh, pattern(). */
static void send_pattern(enum run_stream_port port, uint64_t kib)
{
    for (; kib > 0; kib -= kib < 64 ? kib : 64) {
        uint32_t bytes = (uint32_t)(kib < 64 ? kib : 64) * 1024;

        format_text((char *)chunk, 17, "%015lx\n", offsets[port]);
        for (uint32_t i = 16; i < bytes; i += 16)
            next_line(chunk + i);
        send(port, chunk, bytes);
    }
}

static uint64_t number(const char **text)
{
    uint64_t value = 0;

    while (**text == ' ')
        (*text)++;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        value = value * 10 + (uint64_t)(**text - '0');
    return value;
}

static void report(const char *text)
{
    boot->result.report_bytes +=
        (uint32_t)format_text(boot->result.report + boot->result.report_bytes,
                              BOOT_REPORT_BYTES - boot->result.report_bytes, "%s\n", text);
}

static void describe(void)
{
    char line[256];

    for (uint32_t i = 0; i < boot->range_count; i++) {
        format_text(line, sizeof line, "range %u %lx %lx", boot->ranges[i].kind,
                    boot->ranges[i].base, boot->ranges[i].bytes);
        send_line(RUN_STREAM_LOG, line);
    }
    format_text(line, sizeof line,
                "entry %u output %u timeout %lu unix %lu kernel %lx trampoline %lx rsdp %d "
                "smbios %d archive %lu zeroed %d",
                boot->entry, boot->output, boot->timeout_ns, boot->unix_ns / 1000000000,
                boot->kernel_physical, boot->trampoline, boot->rsdp != 0, boot->smbios != 0,
                boot->archive_bytes, zeroed[0] == 0 && zeroed[sizeof zeroed - 1] == 0);
    send_line(RUN_STREAM_LOG, line);
    format_text(line, sizeof line, "acpi %c%c%c smbios %c%c%c", ((char *)(uintptr_t)boot->rsdp)[0],
                ((char *)(uintptr_t)boot->rsdp)[1], ((char *)(uintptr_t)boot->rsdp)[2],
                ((char *)(uintptr_t)boot->smbios)[0], ((char *)(uintptr_t)boot->smbios)[1],
                ((char *)(uintptr_t)boot->smbios)[2]);
    send_line(RUN_STREAM_LOG, line);
    format_text(line, sizeof line, "network %08x %08x %08x %08x %u token %s machine %s run %s",
                boot->network.address, boot->network.netmask, boot->network.gateway,
                boot->network.collector, boot->network.port, boot->network.token,
                boot->network.machine, boot->network.run);
    send_line(RUN_STREAM_LOG, line);
    report(line);
}

static void bad_frame(char how)
{
    struct run_frame frame;

    run_stream_frame(&frame, RUN_STREAM_TRACE, offsets[RUN_STREAM_TRACE] + (how == 'g' ? 7 : 0),
                     how == 'c' ? 1000 : 10);
    if (how == 'd')
        frame.header_crc ^= 1;
    put(&frame, sizeof frame);
    put("0123456789", 10);
}

static void perform(const char *line)
{
    const char *text = line + 1 + (line[1] == ' ');

    switch (line[0]) {
    case 'o':
        send_line(RUN_STREAM_STDOUT, text);
        break;
    case 'e':
        send_line(RUN_STREAM_STDERR, text);
        break;
    case 'l':
        send_line(RUN_STREAM_LOG, text);
        break;
    case 't':
        send_pattern(RUN_STREAM_TRACE, number(&text));
        break;
    case 'f':
        send_pattern(RUN_STREAM_FILES, number(&text));
        break;
    case 'k':
        boot->result.exit_kind = (uint32_t)number(&text);
        boot->result.exit_code = (uint32_t)number(&text);
        break;
    case 's':
        boot->result.samples = number(&text);
        boot->result.lost_samples = number(&text);
        break;
    case 'n':
        boot->result.end = (uint32_t)number(&text);
        returned = boot->result.end;
        break;
    case 'r':
        returned = number(&text);
        break;
    case 'p':
        report(text);
        break;
    case 'x':
        boot->result.sent_bytes = UINT64_MAX / 2;
        break;
    case 'm':
        describe();
        break;
    default:
        bad_frame(line[0]);
        break;
    }
}

uint64_t uefi_entry(struct boot_info *info)
{
    const char *text = (const char *)(uintptr_t)info->archive_base;
    uint64_t left = info->archive_bytes;

    boot = info;
    info->result.end = BOOT_END_DONE;
    returned = BOOT_END_DONE;
    while (left > 0) {
        char line[256];
        uint64_t bytes = 0;

        while (bytes < left && bytes + 1 < sizeof line && text[bytes] != '\n') {
            line[bytes] = text[bytes];
            bytes++;
        }
        line[bytes] = '\0';
        text += bytes + 1;
        left -= bytes < left ? bytes + 1 : bytes;
        perform(line);
    }
    memset(zeroed, 1, sizeof zeroed);
    return returned;
}
