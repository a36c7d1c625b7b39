/* Finds the SMBIOS tables by their entry point, of either form. */
#include "drivers/smbios/smbios.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "drivers/firmware_memory.h"
#include "lib/bytes.h"

#define TABLE_BYTES_MAX (1u << 20) /* larger than any machine's */

/* 5.2: the entry point is on a 16-byte boundary there, unless the firmware names it. */
#define SEARCH_START 0xf0000u
#define SEARCH_END 0x100000u
#define SEARCH_STEP 16u

enum { /* 5.2.1, SMBIOS 2.1 (32-bit) Entry Point */
       ENTRY32_LENGTH = 5,
       ENTRY32_MAJOR = 6,
       ENTRY32_MINOR = 7,
       ENTRY32_INTERMEDIATE = 16, /* an anchor and a checksum of its own */
       ENTRY32_TABLE_BYTES = 22,
       ENTRY32_TABLE = 24,
       ENTRY32_BYTES = 31,
       ENTRY32_BYTES_OLD = 30, /* as version 2.1 of the specification had it, by mistake */
       INTERMEDIATE_BYTES = 15,
};
enum { /* 5.2.2, SMBIOS 3.0 (64-bit) Entry Point */
       ENTRY64_LENGTH = 6,
       ENTRY64_MAJOR = 7,
       ENTRY64_MINOR = 8,
       ENTRY64_TABLE_BYTES = 12,
       ENTRY64_TABLE = 16,
       ENTRY64_BYTES = 24,
};

struct entry { /* what both forms say */
    uint64_t table;
    uint32_t bytes;
    uint8_t major, minor;
};

static bool read_entry64(uint64_t address, struct entry *entry)
{
    const uint8_t *bytes = firmware_memory(address, ENTRY64_BYTES);
    uint8_t length;

    if (bytes == NULL || memcmp(bytes, "_SM3_", 5) != 0)
        return false;
    length = bytes[ENTRY64_LENGTH];
    if (length < ENTRY64_BYTES || firmware_memory(address, length) == NULL ||
        !firmware_memory_sums_to_zero(bytes, length))
        return false;
    *entry = (struct entry){.table = bytes_load64(bytes + ENTRY64_TABLE),
                            .bytes = bytes_load32(bytes + ENTRY64_TABLE_BYTES),
                            .major = bytes[ENTRY64_MAJOR],
                            .minor = bytes[ENTRY64_MINOR]};
    return true;
}

static bool read_entry32(uint64_t address, struct entry *entry)
{
    const uint8_t *bytes = firmware_memory(address, ENTRY32_BYTES);
    uint8_t length;

    if (bytes == NULL || memcmp(bytes, "_SM_", 4) != 0)
        return false;
    length = bytes[ENTRY32_LENGTH];
    if (length == ENTRY32_BYTES_OLD)
        length = ENTRY32_BYTES;
    if (length != ENTRY32_BYTES || !firmware_memory_sums_to_zero(bytes, length) ||
        memcmp(bytes + ENTRY32_INTERMEDIATE, "_DMI_", 5) != 0 ||
        !firmware_memory_sums_to_zero(bytes + ENTRY32_INTERMEDIATE, INTERMEDIATE_BYTES))
        return false;
    *entry = (struct entry){.table = bytes_load32(bytes + ENTRY32_TABLE),
                            .bytes = bytes_load16(bytes + ENTRY32_TABLE_BYTES),
                            .major = bytes[ENTRY32_MAJOR],
                            .minor = bytes[ENTRY32_MINOR]};
    return true;
}

static bool smbios_search(bool (*read)(uint64_t address, struct entry *entry), struct entry *entry)
{
    for (uint64_t at = SEARCH_START; at < SEARCH_END; at += SEARCH_STEP)
        if (read(at, entry))
            return true;
    return false;
}

/* The 64-bit form first: its table may hold more. */
static bool find_entry(uint64_t address, struct entry *entry)
{
    if (address)
        return read_entry64(address, entry) || read_entry32(address, entry);
    return smbios_search(read_entry64, entry) || smbios_search(read_entry32, entry);
}

/* The 64-bit form says only how long the table is at most: less may be there. */
static const uint8_t *find_table(struct entry *entry)
{
    const uint8_t *table = NULL;

    if (entry->bytes > TABLE_BYTES_MAX)
        entry->bytes = TABLE_BYTES_MAX;
    while (entry->bytes && (table = firmware_memory(entry->table, entry->bytes)) == NULL)
        entry->bytes /= 2;
    return table;
}

int smbios_read(uint64_t address, struct smbios *out)
{
    struct entry entry;
    const uint8_t *table;

    memset(out, 0, sizeof *out);
    if (!find_entry(address, &entry) || (table = find_table(&entry)) == NULL)
        return -ENOENT;
    out->major = entry.major;
    out->minor = entry.minor;
    smbios_parse(table, entry.bytes, out);
    return 0;
}
