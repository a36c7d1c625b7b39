/* Fuzzes the kernel's command line. */
#include <string.h>

#include "lib/boot/boot_command.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
    fuzz_check(memchr(text, 0, BOOT_NAME_BYTES) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct boot_info *boot = calloc(1, sizeof *boot);
    uint64_t buffer_bytes;

    fuzz_check(boot != NULL);
    if (size >= sizeof boot->command_line)
        size = sizeof boot->command_line - 1;
    if (size != 0)
        memcpy(boot->command_line, data, size);
    boot_command_parse(boot, &buffer_bytes);
    fuzz_check(boot->output == BOOT_OUTPUT_VIRTIO || boot->output == BOOT_OUTPUT_TCP);
    check_text(boot->network.token);
    check_text(boot->network.machine);
    check_text(boot->network.run);
    free(boot);
    return 0;
}
