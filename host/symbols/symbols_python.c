/* Decodes CPython's location table (Objects/locations.md in its source). */
#include "host/symbols/symbols_python.h"

#define UNIT_BYTES 2u /* of an instruction or an inline cache */

enum { /* codes of entries; those below are short forms on the same line */
       CODE_ONE_LINE = 10, /* to 12: the line advances by the code less this */
       CODE_NO_COLUMNS = 13,
       CODE_LONG = 14,
       CODE_NONE = 15,
};

struct table {
    const uint8_t *at;
    const uint8_t *end;
};

/* Six bits a byte, the lowest first; bit 6 says that more follow. */
static uint32_t get_number(struct table *t)
{
    uint32_t value = 0, shift = 0;

    while (t->at < t->end) {
        uint8_t byte = *t->at++;

        if (shift < 32)
            value |= (uint32_t)(byte & 63) << shift;
        shift += 6;
        if ((byte & 64) == 0)
            break;
    }
    return value;
}

static uint32_t get_signed(struct table *t)
{
    uint32_t value = get_number(t);

    return (value & 1) != 0 ? 0u - (value >> 1) : value >> 1;
}

static void skip(struct table *t, ptrdiff_t bytes)
{
    t->at = t->end - t->at > bytes ? t->at + bytes : t->end;
}

/* Reads the rest of an entry and advances the line. */
static void get_entry(struct table *t, uint32_t code, uint32_t *line)
{
    switch (code) {
    case CODE_NONE:
        return;
    case CODE_LONG:
        *line += get_signed(t);
        get_number(t); /* the end's line, and two columns */
        get_number(t);
        get_number(t);
        return;
    case CODE_NO_COLUMNS:
        *line += get_signed(t);
        return;
    default:
        if (code >= CODE_ONE_LINE)
            *line += code - CODE_ONE_LINE;
        skip(t, code >= CODE_ONE_LINE ? 2 : 1); /* columns */
    }
}

uint32_t symbols_python_line(const uint8_t *table, size_t bytes, uint32_t first_line,
                             uint32_t offset)
{
    struct table t = {table, table + bytes};
    uint64_t end = 0; /* of the entry's instructions */
    uint32_t line = first_line;

    while (t.at < t.end) {
        uint8_t head = *t.at++;
        uint32_t code = head >> 3 & 15;

        if ((head & 128) == 0)
            return 0; /* no entry begins here */
        end += UNIT_BYTES * ((head & 7ull) + 1);
        get_entry(&t, code, &line);
        if (offset < end)
            return code != CODE_NONE ? line : 0;
    }
    return 0;
}
