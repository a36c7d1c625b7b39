/* Memory with SMBIOS tables, as firmware leaves them, for unit tests and the fuzz target. */
#ifndef TESTS_UNIT_DRIVERS_SMBIOS_IMAGE_H
#define TESTS_UNIT_DRIVERS_SMBIOS_IMAGE_H

#include <stdint.h>
#include <string.h>

#include "lib/bytes.h"

#define IMAGE_BASE 0xf0000u /* physical: the BIOS area and a little more */
#define IMAGE_BYTES 0x12000u
#define IMAGE_TABLE 0x100f00u

static uint8_t *image; /* IMAGE_BYTES of them */
static uint32_t image_used; /* of the table */

static inline uint8_t *image_at(uint64_t physical)
{
    return image + (physical - IMAGE_BASE);
}

const void *platform_physical_pointer(uint64_t physical)
{
    return physical >= IMAGE_BASE && physical < IMAGE_BASE + IMAGE_BYTES ? image_at(physical)
                                                                         : NULL;
}

static inline void image_seal(uint8_t *bytes, size_t count, size_t checksum)
{
    uint8_t sum = 0;

    bytes[checksum] = 0;
    for (size_t i = 0; i < count; i++)
        sum = (uint8_t)(sum + bytes[i]);
    bytes[checksum] = (uint8_t)-sum;
}

/* Appends a structure; its strings end with an empty one.  The structure's formatted area. */
static inline uint8_t *image_add(uint8_t type, uint8_t length, const char *const *strings)
{
    uint8_t *begin = image_at(IMAGE_TABLE) + image_used, *at = begin + length;

    memset(begin, 0, length);
    begin[0] = type;
    begin[1] = length;
    for (; strings && *strings; strings++) {
        memcpy(at, *strings, strlen(*strings) + 1);
        at += strlen(*strings) + 1;
    }
    if (at == begin + length)
        *at++ = 0;
    *at++ = 0;
    image_used += (uint32_t)(at - begin);
    return begin;
}

static inline void image_entry32(uint64_t physical)
{
    uint8_t *entry = image_at(physical);

    memset(entry, 0, 31);
    memcpy(entry, "_SM_", 4);
    entry[5] = 31;
    entry[6] = 2;
    entry[7] = 8;
    memcpy(entry + 16, "_DMI_", 5);
    bytes_store16(entry + 22, (uint16_t)image_used);
    bytes_store32(entry + 24, IMAGE_TABLE);
    image_seal(entry + 16, 15, 5);
    image_seal(entry, 31, 4);
}

static inline void image_entry64(uint64_t physical)
{
    uint8_t *entry = image_at(physical);

    memset(entry, 0, 24);
    memcpy(entry, "_SM3_", 5);
    entry[6] = 24;
    entry[7] = 3;
    entry[8] = 6;
    bytes_store32(entry + 12, image_used);
    bytes_store64(entry + 16, IMAGE_TABLE);
    image_seal(entry, 24, 5);
}

/* A module of `mib` in the memory device's own field, or in the extended one. */
static inline void image_module(uint32_t mib, uint8_t type, uint16_t speed, uint16_t configured)
{
    uint8_t *module = image_add(17, 92, NULL);

    bytes_store16(module + 12, mib < 0x7fff ? (uint16_t)mib : 0x7fff);
    module[18] = type;
    bytes_store16(module + 21, speed);
    bytes_store32(module + 28, mib < 0x7fff ? 0 : mib);
    bytes_store16(module + 32, configured);
}

/* Two modules of 16 GiB in four slots, a flash chip, names and numbers that are nobody's business.
 */
static inline void image_build(void)
{
    static const char *const bios[] = {"Example Firmware  ", "2.17", "04/01/2024", NULL};
    static const char *const system[] = {"Maker & Sons", "Model\x7f 9", "rev A", "SERIAL-123",
                                         NULL};
    static const char *const board[] = {"Board Works", "X12", "1.0", "SERIAL-456", NULL};

    image_used = 0;
    uint8_t *s = image_add(0, 24, bios);
    s[4] = 1;
    s[5] = 2;
    s[8] = 3;
    s = image_add(1, 27, system);
    s[4] = 1;
    s[5] = 2;
    s[6] = 3;
    s[7] = 4;
    s = image_add(2, 15, board);
    s[4] = 1;
    s[5] = 2;
    s[6] = 3;
    s[7] = 4;
    image_module(16384, 0x1a, 3200, 2933);
    image_module(0, 0x02, 0, 0);
    image_module(16384, 0x1a, 3200, 2933);
    image_module(0, 0x02, 0, 0);
    image_module(32, 0x09, 0, 0);
    image_add(127, 4, NULL);
}

#endif
