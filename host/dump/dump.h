/* The formats of `hr dump`.  For host/dump*.c. */
#pragma once

#include "host/base/output.h"
#include "host/scan/reader.h"
#include "host/scan/sample_rows.h"
#include "host/symbols/symbols.h"

struct dump {
    struct reader reader;
    const struct dump_format *format;
    struct output output;
    struct symbols *symbols; /* opened when first needed: the maps come before the samples */
    bool header_done;
    bool any; /* sample was selected */
    size_t map_count; /* that the symbols know */
    struct sample_rows rows; /* of csv */
};

struct dump_format {
    const char *name;
    struct trace_visitor visitor; /* the context is the struct dump */
    int (*finish)(struct dump *dump); /* after the walk; may be NULL */
};

/* One row a sample.  A trace without samples gives the header alone. */
extern const struct dump_format dump_csv;

/* One line a chunk, a damaged stretch, a record and a sample; times in ticks. */
extern const struct dump_format dump_records;
