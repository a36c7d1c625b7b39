/* What the firmware's SMBIOS tables say about the machine: its maker, firmware and memory.  System
 * Management BIOS Reference Specification 3.6 (DMTF DSP0134); sections in the code.
 *
 * Serial numbers, asset tags and UUIDs are never read, because traces are passed on. The tables are
 * hostile: every length, string number and address is checked.  Context: boot, no locks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SMBIOS_TEXT_BYTES 64 /* NUL included; longer strings are cut */
#define SMBIOS_KINDS_MAX 8

struct smbios_modules { /* memory modules that are alike */
    uint32_t count;
    uint64_t bytes; /* of one */
    const char *type; /* "DDR4"; "" if unknown */
    uint32_t speed; /* what it can do, in MT/s; 0: unknown */
    uint32_t configured_speed; /* what it does */
};

struct smbios { /* texts: printable ASCII, "" if unknown */
    uint8_t major, minor; /* of the specification that the tables follow */
    char bios_vendor[SMBIOS_TEXT_BYTES];
    char bios_version[SMBIOS_TEXT_BYTES];
    char bios_date[SMBIOS_TEXT_BYTES];
    char system_maker[SMBIOS_TEXT_BYTES];
    char system_product[SMBIOS_TEXT_BYTES];
    char system_version[SMBIOS_TEXT_BYTES];
    char board_maker[SMBIOS_TEXT_BYTES];
    char board_product[SMBIOS_TEXT_BYTES];
    char board_version[SMBIOS_TEXT_BYTES];
    uint32_t memory_slots; /* empty ones included */
    uint32_t memory_modules; /* of all kinds, also of those that found no room below */
    uint64_t memory_bytes; /* in all modules; saturates */
    uint32_t kind_count;
    struct smbios_modules kinds[SMBIOS_KINDS_MAX];
};

/* entry: physical address of the entry point, or 0 to search the BIOS area.  Returns 0, or -ENOENT
 * if there are no usable tables; then everything is unknown. */
int smbios_read(uint64_t entry, struct smbios *out);

/* Reads `bytes` bytes of structures and adds what they say to *out.  Pure. */
void smbios_parse(const uint8_t *table, size_t bytes, struct smbios *out);
