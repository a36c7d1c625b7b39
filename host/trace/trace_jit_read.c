/* Reads perf maps and perf's jitdumps (tools/perf/Documentation of Linux: jit-interface.txt,
 * jitdump-specification.txt). */
#include "host/trace/trace_jit_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define DUMP_MAGIC 0x4a695444u /* "JiTD" */
#define DUMP_TSC 1u /* times are of the processor, not of CLOCK_MONOTONIC */
#define SAME_FILE "\xff" /* as of the entry before */

/* ---- perf maps: "START SIZE name", hexadecimal */

static bool get_hex(char **at, uint64_t *value)
{
    char *end;

    if (**at == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
        *at += 2;
    if (strspn(*at, "0123456789abcdefABCDEF") == 0)
        return false;
    *value = strtoull(*at, &end, 16);
    *at = end;
    return true;
}

static bool get_map_line(char *line, struct trace_jit_code *code)
{
    uint64_t bytes;

    if (!get_hex(&line, &code->start) || *line++ != ' ' || !get_hex(&line, &bytes) ||
        *line++ != ' ' || *line == 0)
        return false;
    code->name = line;
    return !__builtin_add_overflow(code->start, bytes, &code->end);
}

/* A line without an end was still being written. */
int trace_jit_read_map(struct trace_jit *jit, const struct trace_jit_file *file)
{
    char *line = (char *)file->bytes, *end = line + file->count, *newline;
    int error = 0;

    for (; error == 0 && (newline = memchr(line, '\n', (size_t)(end - line))) != NULL;
         line = newline + 1) {
        struct trace_jit_code code = {.file = file, .order = jit->count};

        *newline = 0;
        if (get_map_line(line, &code))
            error = trace_jit_put(jit, &code);
        else
            jit->refused++;
    }
    return error;
}

/* ---- jitdumps */

enum { DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_LINES = 2 };

struct dump_header {
    uint32_t magic;
    uint32_t version;
    uint32_t header_bytes;
    uint32_t machine;
    uint32_t reserved;
    uint32_t pid;
    uint64_t time;
    uint64_t flags;
};

struct dump_record {
    uint32_t type;
    uint32_t bytes; /* with this */
    uint64_t time;
};

struct dump_load { /* then the name, and the code */
    uint32_t pid;
    uint32_t tid;
    uint64_t linked;
    uint64_t address;
    uint64_t bytes;
    uint64_t number; /* of the code */
};

struct dump_move {
    uint32_t pid;
    uint32_t tid;
    uint64_t linked;
    uint64_t from;
    uint64_t to;
    uint64_t bytes;
    uint64_t number;
};

struct dump_lines { /* then the entries */
    uint64_t address; /* of code that a record to come loads */
    uint64_t count;
};

struct dump_line { /* then the file's name */
    uint64_t address;
    int32_t line;
    uint32_t discriminator;
};

#define PLACES_BITS 20u

struct dump {
    struct trace_jit *jit;
    const struct trace_jit_file *file;
    uint32_t *places; /* by a hash of an address: 1 more than the code that was put there last */
    uint64_t lines_address; /* of the lines read last */
    uint32_t lines_first;
    uint32_t lines_count;
    bool timed;
};

static uint32_t *place(const struct dump *d, uint64_t address)
{
    return &d->places[hash_place(address, PLACES_BITS)];
}

static int put_code(struct dump *d, const struct trace_jit_code *code)
{
    size_t count = d->jit->count;
    int error = trace_jit_put(d->jit, code);

    if (d->jit->count != count)
        *place(d, code->start) = (uint32_t)d->jit->count;
    return error;
}

/* A dump's times are those of one clock; pieces of different files are in the order of files. */
static int take_load(struct dump *d, uint64_t time, const uint8_t *body, size_t bytes)
{
    struct trace_jit_code code = {.file = d->file, .order = time, .timed = d->timed};
    struct dump_load load;

    if (bytes <= sizeof load || memchr(body + sizeof load, 0, bytes - sizeof load) == NULL) {
        d->jit->refused++;
        return 0;
    }
    memcpy(&load, body, sizeof load);
    code.name = (const char *)body + sizeof load;
    code.start = load.address;
    if (__builtin_add_overflow(load.address, load.bytes, &code.end) || code.name[0] == 0) {
        d->jit->refused++;
        return 0;
    }
    if (d->lines_count != 0 && d->lines_address == load.address) {
        code.first_line = d->lines_first;
        code.line_count = d->lines_count;
    }
    d->lines_count = 0;
    return put_code(d, &code);
}

/* The code that moves is the last one that was put where it moves from.  Its lines do not move with
 * it. */
static int take_move(struct dump *d, uint64_t time, const uint8_t *body, size_t bytes)
{
    struct trace_jit_code code = {.file = d->file, .order = time, .timed = d->timed};
    struct dump_move move;
    uint32_t from;

    if (bytes < sizeof move) {
        d->jit->refused++;
        return 0;
    }
    memcpy(&move, body, sizeof move);
    from = *place(d, move.from);
    code.start = move.to;
    if (from == 0 || d->jit->codes[from - 1].start != move.from ||
        __builtin_add_overflow(move.to, move.bytes, &code.end)) {
        d->jit->refused++;
        return 0;
    }
    code.name = d->jit->codes[from - 1].name;
    return put_code(d, &code);
}

static int take_lines(struct dump *d, const uint8_t *body, size_t bytes)
{
    const uint8_t *end = body + bytes;
    const char *file = NULL;
    struct dump_lines lines;
    int error = 0;

    if (bytes < sizeof lines)
        return 0;
    memcpy(&lines, body, sizeof lines);
    body += sizeof lines;
    d->lines_address = lines.address;
    d->lines_first = (uint32_t)d->jit->line_count;
    for (uint64_t i = 0; i < lines.count && error == 0; i++) {
        struct dump_line line;
        const uint8_t *nul;

        if ((size_t)(end - body) <= sizeof line)
            break;
        memcpy(&line, body, sizeof line);
        body += sizeof line;
        nul = memchr(body, 0, (size_t)(end - body));
        if (nul == NULL)
            break;
        if (file == NULL || strcmp((const char *)body, SAME_FILE) != 0)
            file = (const char *)body;
        body = nul + 1;
        error = trace_jit_put_line(
            d->jit, &(struct trace_jit_line){line.address, file, (uint32_t)line.line});
    }
    d->lines_count = (uint32_t)d->jit->line_count - d->lines_first;
    return error;
}

static int take_record(struct dump *d, const struct dump_record *record, const uint8_t *body)
{
    size_t bytes = record->bytes - sizeof *record;

    switch (record->type) {
    case DUMP_LOAD:
        return take_load(d, record->time, body, bytes);
    case DUMP_MOVE:
        return take_move(d, record->time, body, bytes);
    case DUMP_LINES:
        return take_lines(d, body, bytes);
    default: /* the end, and tables for unwinding */
        return 0;
    }
}

static bool dump_begins(const struct trace_jit_file *file, struct dump_header *header)
{
    if (file->count < sizeof *header)
        return false;
    memcpy(header, file->bytes, sizeof *header);
    return header->magic == DUMP_MAGIC && header->header_bytes >= sizeof *header;
}

int trace_jit_read_dump(struct trace_jit *jit, const struct trace_jit_file *file)
{
    struct dump d = {.jit = jit, .file = file};
    struct dump_header header;
    struct dump_record record;
    size_t at;
    int error = 0;

    if (!dump_begins(file, &header)) {
        jit->refused++;
        return 0;
    }
    d.timed = (header.flags & DUMP_TSC) == 0;
    d.places = calloc(1u << PLACES_BITS, sizeof d.places[0]);
    if (d.places == NULL)
        return -ENOMEM;
    for (at = header.header_bytes; error == 0 && at < file->count; at += record.bytes) {
        if (file->count - at < sizeof record)
            break;
        memcpy(&record, file->bytes + at, sizeof record);
        if (record.bytes < sizeof record || record.bytes > file->count - at)
            break;
        error = take_record(&d, &record, file->bytes + at + sizeof record);
    }
    jit->refused += at < file->count; /* it was cut off, or still being written */
    free(d.places);
    return error;
}
