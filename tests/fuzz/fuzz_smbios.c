/* Fuzzes the reader of SMBIOS tables.  The first byte chooses: the rest is structures, or the BIOS
 * area with entry points, whose checksums are made right. */
#include "drivers/smbios/smbios.c"
#include "drivers/smbios/smbios_table.c"

#include "tests/fuzz/fuzz.h"

#define AREA 0xf0000u

static const uint8_t *memory;
static size_t memory_bytes;

const void *platform_physical_pointer(uint64_t physical)
{
    return physical >= AREA && physical - AREA < memory_bytes ? memory + (physical - AREA) : NULL;
}

static void seal(uint8_t *bytes, size_t count, size_t checksum)
{
    uint8_t sum = 0;

    bytes[checksum] = 0;
    for (size_t i = 0; i < count; i++)
        sum = (uint8_t)(sum + bytes[i]);
    bytes[checksum] = (uint8_t)-sum;
}

static void seal_entries(uint8_t *area, size_t bytes)
{
    for (size_t at = 0; at + 31 <= bytes; at += 16) {
        if (memcmp(area + at, "_SM3_", 5) == 0 && area[at + 6] > 5 && area[at + 6] <= bytes - at)
            seal(area + at, area[at + 6], 5);
        if (memcmp(area + at, "_SM_", 4) == 0) {
            seal(area + at + 16, 15, 5);
            seal(area + at, 31, 4);
        }
    }
}

static void check_text(const char *text)
{
    size_t bytes = strnlen(text, SMBIOS_TEXT_BYTES);

    fuzz_check(bytes < SMBIOS_TEXT_BYTES);
    for (size_t i = 0; i < bytes; i++)
        fuzz_check(text[i] >= ' ' && text[i] < 0x7f);
}

static void check(const struct smbios *s)
{
    uint32_t modules = 0;

    check_text(s->bios_vendor);
    check_text(s->bios_version);
    check_text(s->bios_date);
    check_text(s->system_maker);
    check_text(s->system_product);
    check_text(s->system_version);
    check_text(s->board_maker);
    check_text(s->board_product);
    check_text(s->board_version);
    fuzz_check(s->kind_count <= SMBIOS_KINDS_MAX && s->memory_modules <= s->memory_slots);
    for (uint32_t i = 0; i < s->kind_count; i++) {
        fuzz_check(s->kinds[i].type && s->kinds[i].bytes && s->kinds[i].count);
        modules += s->kinds[i].count;
    }
    fuzz_check(modules <= s->memory_modules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct smbios found;
    uint8_t *copy;

    if (size < 2)
        return 0;
    copy = malloc(size - 1); /* so that every byte beyond is an error */
    fuzz_check(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    memset(&found, 0, sizeof found);
    if (data[0] & 1) {
        smbios_parse(copy, size - 1, &found);
    } else {
        memory = copy;
        memory_bytes = size - 1;
        seal_entries(copy, memory_bytes);
        if (smbios_read(0, &found) != 0)
            fuzz_check(found.memory_slots == 0 && !found.bios_vendor[0]);
    }
    check(&found);
    free(copy);
    return 0;
}
