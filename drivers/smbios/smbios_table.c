/* Reads SMBIOS structures. */
#include "drivers/smbios/smbios.h"

#include <string.h>

#include "lib/array.h"
#include "lib/bytes.h"

#define STRUCTURES_MAX 8192u
#define SAME_TEXT(a, b) (strcmp((a), (b)) == 0)

enum { /* 6.1.2, structure header */
       HEADER_TYPE = 0,
       HEADER_LENGTH = 1,
       HEADER_BYTES = 4,
};
enum { TYPE_BIOS = 0, TYPE_SYSTEM = 1, TYPE_BOARD = 2, TYPE_MEMORY_DEVICE = 17, TYPE_END = 127 };

enum { /* 7.1, 7.2 and 7.3: what is read of them are string numbers */
       BIOS_VENDOR = 4,
       BIOS_VERSION = 5,
       BIOS_DATE = 8,
       SYSTEM_MAKER = 4,
       SYSTEM_PRODUCT = 5,
       SYSTEM_VERSION = 6,
       BOARD_MAKER = 4,
       BOARD_PRODUCT = 5,
       BOARD_VERSION = 6,
};
enum { /* 7.18, Memory Device */
       MEMORY_SIZE = 12,
       MEMORY_TYPE = 18,
       MEMORY_SPEED = 21,
       MEMORY_EXTENDED_SIZE = 28,
       MEMORY_CONFIGURED_SPEED = 32,
       MEMORY_EXTENDED_SPEED = 84,
       MEMORY_EXTENDED_CONFIGURED_SPEED = 88,
};
#define SIZE_UNKNOWN 0xffffu
#define SIZE_EXTENDED 0x7fffu /* then the extended field has it */
#define SIZE_IN_KIB 0x8000u
#define SPEED_EXTENDED 0xffffu

/* 7.18.2, Memory Device — Type; "": unknown, or a name that says no more. */
static const char *const memory_types[] = {
    [0x03] = "DRAM",   [0x04] = "EDRAM",  [0x0f] = "SDRAM", [0x12] = "DDR",   [0x13] = "DDR2",
    [0x14] = "DDR2",   [0x18] = "DDR3",   [0x1a] = "DDR4",  [0x1b] = "LPDDR", [0x1c] = "LPDDR2",
    [0x1d] = "LPDDR3", [0x1e] = "LPDDR4", [0x20] = "HBM",   [0x21] = "HBM2",  [0x22] = "DDR5",
    [0x23] = "LPDDR5", [0x24] = "HBM3",
};
enum { MEMORY_ROM_FIRST = 0x08, MEMORY_ROM_LAST = 0x0c }; /* ROM and flash */

struct structure {
    const uint8_t *bytes; /* the formatted area: `length` of them */
    uint8_t length;
    const uint8_t *strings; /* up to the two NULs that end them */
    size_t string_bytes;
};

/* Takes the structure at the table's beginning.  Returns its bytes, or 0 if it is none. */
static size_t smbios_table_take(const uint8_t *table, size_t bytes, struct structure *s)
{
    if (bytes < HEADER_BYTES || table[HEADER_LENGTH] < HEADER_BYTES || table[HEADER_LENGTH] > bytes)
        return 0;
    *s = (struct structure){
        .bytes = table, .length = table[HEADER_LENGTH], .strings = table + table[HEADER_LENGTH]};
    for (size_t at = s->length; at + 1 < bytes; at++) {
        if (table[at] == 0 && table[at + 1] == 0) {
            s->string_bytes = at - s->length;
            return at + 2;
        }
    }
    return 0;
}

/* Printable ASCII without spaces at its ends. */
static void copy_text(char out[SMBIOS_TEXT_BYTES], const uint8_t *from, size_t count)
{
    while (count && from[0] == ' ') {
        from++;
        count--;
    }
    if (count >= SMBIOS_TEXT_BYTES)
        count = SMBIOS_TEXT_BYTES - 1;
    while (count && from[count - 1] == ' ')
        count--;
    for (size_t i = 0; i < count; i++)
        out[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
    out[count] = 0;
}

/* 6.1.3: the byte at `field` is the string's number, from 1; 0: none.  The first structure of a
 * kind counts: what is known already stays. */
static void read_text(const struct structure *s, unsigned field, char out[SMBIOS_TEXT_BYTES])
{
    const uint8_t *text = s->strings, *end = text + s->string_bytes;
    uint8_t number = field < s->length ? s->bytes[field] : 0;

    if (!number || out[0])
        return;
    for (;;) {
        const uint8_t *nul = text;

        while (nul < end && *nul)
            nul++;
        if (--number == 0) {
            copy_text(out, text, (size_t)(nul - text));
            return;
        }
        if (nul == end)
            return;
        text = nul + 1;
    }
}

static uint16_t smbios_table_word(const struct structure *s, unsigned field)
{
    return field + 2 <= s->length ? bytes_load16(s->bytes + field) : 0;
}

static uint32_t double_word(const struct structure *s, unsigned field)
{
    return field + 4 <= s->length ? bytes_load32(s->bytes + field) : 0;
}

/* Returns a module's size in bytes; 0 if the slot is empty or the size unknown. */
static uint64_t module_bytes(const struct structure *s)
{
    uint16_t size = smbios_table_word(s, MEMORY_SIZE);

    if (size == SIZE_UNKNOWN)
        return 0;
    if (size == SIZE_EXTENDED)
        return (uint64_t)(double_word(s, MEMORY_EXTENDED_SIZE) & 0x7fffffff) << 20;
    if (size & SIZE_IN_KIB)
        return (uint64_t)(size & ~SIZE_IN_KIB) << 10;
    return (uint64_t)size << 20;
}

static uint32_t smbios_table_speed(const struct structure *s, unsigned field, unsigned extended)
{
    uint16_t value = smbios_table_word(s, field);

    return value == SPEED_EXTENDED ? double_word(s, extended) & 0x7fffffff : value;
}

static void add_module(struct smbios *out, const struct smbios_modules *module)
{
    uint64_t sum = out->memory_bytes + module->bytes;

    out->memory_modules++;
    out->memory_bytes = sum < module->bytes ? UINT64_MAX : sum;
    for (uint32_t i = 0; i < out->kind_count; i++) {
        struct smbios_modules *kind = &out->kinds[i];
        if (kind->bytes == module->bytes && kind->speed == module->speed &&
            kind->configured_speed == module->configured_speed &&
            SAME_TEXT(kind->type, module->type)) {
            kind->count++;
            return;
        }
    }
    if (out->kind_count < SMBIOS_KINDS_MAX)
        out->kinds[out->kind_count++] = *module;
}

static void read_memory_device(const struct structure *s, struct smbios *out)
{
    uint8_t type = MEMORY_TYPE < s->length ? s->bytes[MEMORY_TYPE] : 0;
    const char *name = type < ARRAY_COUNT(memory_types) ? memory_types[type] : NULL;
    const struct smbios_modules module = {
        .count = 1,
        .bytes = module_bytes(s),
        .type = name != NULL ? name : "",
        .speed = smbios_table_speed(s, MEMORY_SPEED, MEMORY_EXTENDED_SPEED),
        .configured_speed =
            smbios_table_speed(s, MEMORY_CONFIGURED_SPEED, MEMORY_EXTENDED_CONFIGURED_SPEED),
    };

    if (type >= MEMORY_ROM_FIRST && type <= MEMORY_ROM_LAST)
        return;
    out->memory_slots++;
    if (module.bytes)
        add_module(out, &module);
}

static void read_structure(const struct structure *s, struct smbios *out)
{
    switch (s->bytes[HEADER_TYPE]) {
    case TYPE_BIOS:
        read_text(s, BIOS_VENDOR, out->bios_vendor);
        read_text(s, BIOS_VERSION, out->bios_version);
        read_text(s, BIOS_DATE, out->bios_date);
        break;
    case TYPE_SYSTEM:
        read_text(s, SYSTEM_MAKER, out->system_maker);
        read_text(s, SYSTEM_PRODUCT, out->system_product);
        read_text(s, SYSTEM_VERSION, out->system_version);
        break;
    case TYPE_BOARD:
        read_text(s, BOARD_MAKER, out->board_maker);
        read_text(s, BOARD_PRODUCT, out->board_product);
        read_text(s, BOARD_VERSION, out->board_version);
        break;
    case TYPE_MEMORY_DEVICE:
        read_memory_device(s, out);
        break;
    default:
        break;
    }
}

void smbios_parse(const uint8_t *table, size_t bytes, struct smbios *out)
{
    struct structure s;
    size_t used;

    for (uint32_t i = 0; i < STRUCTURES_MAX && (used = smbios_table_take(table, bytes, &s)); i++) {
        if (s.bytes[HEADER_TYPE] == TYPE_END)
            return;
        read_structure(&s, out);
        table += used;
        bytes -= used;
    }
}
