/* hr export callgrind: costs by instruction and line, for callgrind_annotate and KCachegrind.
 *
 * The callgrind format, version 1, of valgrind's manual ("Callgrind Format Specification").  Costs
 * are each function's own: nothing here knows what a call cost in all.  Samples are added up by
 * address.  A full table is written and emptied: the tools add up what occurs twice.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/text/callgrind_lines.h"
#include "include/version.h"

#define TABLE_BYTES (64u << 20)
#define TEXT_BYTES 4096u

struct digest { /* of a chunk, by address */
    uint32_t event_count;
    uint32_t run; /* samples of its longest */
    struct numbers keys;
    uint64_t *words; /* as the tally has them; owned */
};

struct callgrind {
    struct export *e;
    struct tally tally;
    uint64_t totals[CALLGRIND_COLUMNS_MAX];
};

/* The tools know instructions as Ir, and take letters and digits only: "branch-misses" is
 * BranchMisses. */
static void put_event(struct output *out, const char *word)
{
    bool begins = true;

    output_char(out, ' ');
    if (strcmp(word, "instructions") == 0) {
        output_text(out, "Ir");
        return;
    }
    if (!isalpha((unsigned char)word[0]))
        output_text(out, "Event");
    for (; *word != 0; word++) {
        if (isalnum((unsigned char)*word))
            output_char(out, begins ? (char)toupper((unsigned char)*word) : *word);
        begins = !isalnum((unsigned char)*word);
    }
}

static void put_head(struct callgrind *c)
{
    struct output *out = &c->e->output;
    const struct trace_info *info = &c->e->info;
    char text[TEXT_BYTES], word[64];

    output_text(out, "# callgrind format\nversion: 1\ncreator: hr " VERSION_TEXT "\ncmd: ");
    output_text(out,
                text_escape(text, sizeof text, trace_info_text(info, "program.args", "unknown")));
    output_text(out, "\npositions: instr line\nevents:");
    if (callgrind_first_column(&c->e->info) == 0)
        put_event(out, "samples");
    for (uint32_t i = 0; i < info->event_count; i++)
        put_event(out, trace_info_event_word(info, i, word));
    output_text(out, "\n");
}

static int put_lines(struct callgrind *c)
{
    int error = callgrind_lines_put(c->e, &c->tally, c->totals);

    tally_clear(&c->tally);
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct callgrind *c = context;
    int error = 0;

    if (samples->event_count != c->e->info.event_count) /* forged */
        return 0;
    error = tally_reserve(&c->tally, samples->event_count, samples->count);
    if (error == -ENOSPC) {
        error = put_lines(c);
        if (error == 0)
            error = tally_reserve(&c->tally, samples->event_count, samples->count);
    }
    if (error == 0)
        tally_add(&c->tally, samples, 0, samples->count, 0);
    return error;
}

static int begin_digest(void *context, const struct trace_chunk * /*chunk*/, bool /*continues*/)
{
    struct digest *d = context;

    numbers_forget(&d->keys);
    d->run = 0;
    return 0;
}

static int digest_samples(void *context, const struct trace_samples *samples)
{
    struct digest *d = context;
    uint32_t words = TALLY_SUMS + d->event_count;

    if (samples->event_count != d->event_count) /* forged */
        return -EAGAIN;
    if (samples->count > d->run)
        d->run = samples->count;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        const struct trace_slot *previous = trace_samples_before(samples, n);
        uint64_t *row;
        bool added;

        if (numbers_full(&d->keys))
            return -ENOSPC;
        row = d->words + (numbers_of(&d->keys, sample->ip, 0, &added) - d->keys.first) * words;
        if (added)
            memset(row, 0, words * sizeof *row);
        row[TALLY_IP] = sample->ip;
        row[TALLY_SAMPLES]++;
        for (uint32_t i = 0; i < d->event_count; i++)
            row[TALLY_SUMS + i] += export_increment(sample, previous, i);
    }
    return 0;
}

static int take_digest(void *context, void *digest)
{
    struct callgrind *c = context;
    const struct digest *d = digest;
    uint32_t words = TALLY_SUMS + d->event_count, count = numbers_count(&d->keys);
    int error = tally_take(&c->tally, d->event_count, d->words, count, d->run);

    for (uint32_t i = 0; i < count && error == 0; i++)
        export_count(c->e, d->words[(size_t)i * words + TALLY_IP],
                     d->words[(size_t)i * words + TALLY_SAMPLES]);
    return error;
}

static void leave(void *digest)
{
    struct digest *d = digest;

    numbers_free(&d->keys);
    free(d->words);
    free(d);
}

static void *join(void *context, struct trace_scan * /*scan*/)
{
    const struct callgrind *c = context;
    struct digest *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->event_count = c->e->info.event_count;
    d->words = array_long(EXPORT_DIGEST_ROWS, (TALLY_SUMS + d->event_count) * sizeof d->words[0]);
    if (d->words != NULL && numbers_init(&d->keys, EXPORT_DIGEST_ROWS) == 0)
        return d;
    leave(d);
    return NULL;
}

static int run(struct export *e)
{
    static const struct trace_digest digest = {
        .visitor = {.names = true, .chunk = begin_digest, .samples = digest_samples},
        .join = join,
        .take = take_digest,
        .leave = leave};
    struct callgrind *c = calloc(1, sizeof *c);
    const struct trace_visitor visitor = {
        .context = c, .exact = true, .names = true, .samples = take_samples, .digest = &digest};
    int error;

    if (c == NULL)
        return -ENOMEM;
    c->e = e;
    tally_init(&c->tally, TABLE_BYTES);
    put_head(c);
    error = export_walk(e, &visitor);
    if (error == 0)
        error = put_lines(c);
    output_text(&e->output, "\ntotals:");
    for (uint32_t i = callgrind_first_column(&c->e->info); i < 1 + e->info.event_count; i++) {
        output_char(&e->output, ' ');
        output_decimal(&e->output, c->totals[i]);
    }
    output_char(&e->output, '\n');
    tally_free(&c->tally);
    free(c);
    return error;
}

const struct export_format export_callgrind = {
    .name = "callgrind",
    .extension = "callgrind",
    .summary = "costs by instruction and line, for callgrind_annotate and KCachegrind",
    .opener = "callgrind_annotate and KCachegrind",
    .exact = true,
    .run = run,
};
