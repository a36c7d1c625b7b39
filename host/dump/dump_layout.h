/* The fixed bodies of records: names of their fields. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump_field { /* of a fixed record body */
    const char *name;
    uint16_t offset;
    uint8_t bytes;
    bool hex;
};

struct dump_layout {
    const char *name;
    uint8_t type;
    bool text; /* the rest is text */
    uint8_t bytes; /* of the fixed body */
    uint8_t field_count;
    const struct dump_field *fields;
};

extern const struct dump_layout dump_layouts[];
extern const size_t dump_layout_count;
