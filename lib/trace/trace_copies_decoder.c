/* Decodes registers and copies of stack memory. */
#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_copies.h"
#include "lib/trace/varint.h"

#define LINE_BYTES HR_STACK_LINE_BYTES
#define RSP 7u /* its index among the registers */

void trace_copies_decoder_begin(struct trace_copies_decoder *d)
{
    trace_copies_memory_clear(&d->memory);
    memset(d->registers, 0, sizeof d->registers);
    d->stack_bytes = 0;
    d->taken = false;
    d->at = d->end = NULL;
}

void trace_copies_decoder_record(struct trace_copies_decoder *d, const struct trace_record *record)
{
    d->at = record->body;
    d->end = record->body + record->bytes;
}

static bool take(struct trace_copies_decoder *d, uint64_t *value)
{
    const uint8_t *at = varint_get(d->at, d->end, value);

    if (at == NULL)
        return false;
    d->at = at;
    return true;
}

static bool take_value(struct trace_copies_decoder *d, uint64_t *value)
{
    uint64_t token;

    if (!take(d, &token))
        return false;
    if ((token & 1) == 0) {
        *value += trace_code_unzigzag(token >> 1);
    } else if (token >> 1 < HR_STACK_VALUES) {
        *value = d->memory.values[token >> 1];
    } else {
        if (token >> 1 != TRACE_COPIES_RAW || d->end - d->at < 8)
            return false;
        *value = bytes_load64(d->at);
        d->at += 8;
    }
    d->memory.values[trace_copies_place(*value)] = *value;
    return true;
}

/* Takes the words whose bit is set in `changed`. */
static bool take_words(struct trace_copies_decoder *d, uint32_t changed, uint64_t *words)
{
    for (; changed != 0; changed &= changed - 1)
        if (!take_value(d, &words[__builtin_ctz(changed)]))
            return false;
    return true;
}

static bool take_registers(struct trace_copies_decoder *d)
{
    uint32_t changed;

    if (d->end - d->at < 2)
        return false;
    changed = d->at[0] | (uint32_t)d->at[1] << 8;
    d->at += 2;
    return take_words(d, changed, d->registers);
}

/* Takes the lines of a copy, which count from 0.  Unchanged lines are looked up, too, so that they
 * are remembered. */
static bool take_lines(struct trace_copies_decoder *d, uint64_t first, uint64_t lines)
{
    uint64_t at = 0, skip;

    for (;;) {
        uint32_t changed;

        if (!take(d, &skip) || skip > lines - at)
            return false;
        if (skip == 0)
            break;
        for (; skip > 1; skip--)
            trace_copies_line(&d->memory, first + LINE_BYTES * at++);
        if (d->at == d->end)
            return false;
        changed = *d->at++;
        if (!take_words(d, changed, trace_copies_line(&d->memory, first + LINE_BYTES * at++)))
            return false;
    }
    for (; at < lines; at++)
        trace_copies_line(&d->memory, first + LINE_BYTES * at);
    return true;
}

static void copy(struct trace_copies_decoder *d, uint64_t line, uint32_t into)
{
    for (uint32_t done = 0; done < d->stack_bytes;) {
        uint32_t left = d->stack_bytes - done;
        uint32_t part = LINE_BYTES - into < left ? LINE_BYTES - into : left;

        memcpy(d->stack + done, (const uint8_t *)trace_copies_line(&d->memory, line) + into, part);
        done += part;
        line += LINE_BYTES;
        into = 0;
    }
}

enum trace_status trace_copies_decoder_next(struct trace_copies_decoder *d)
{
    uint64_t token, rsp;
    uint32_t into;

    d->taken = false;
    if (!take(d, &token) || token > HR_STACK_BYTES_MAX + 2)
        return TRACE_BAD_RECORD;
    if (token == 0)
        return TRACE_OK;
    if (token != 1)
        d->stack_bytes = (uint32_t)(token - 2);
    if (!take_registers(d))
        return TRACE_BAD_RECORD;
    rsp = d->registers[RSP];
    into = (uint32_t)(rsp % LINE_BYTES);
    if (!take_lines(d, rsp - into, (into + d->stack_bytes + LINE_BYTES - 1) / LINE_BYTES))
        return TRACE_BAD_RECORD;
    copy(d, rsp - into, into);
    d->taken = true;
    return TRACE_OK;
}
