/* hr export folded: stacks as "main;work;inner 42", for flame graph tools.
 *
 * Weights are summed by the functions of a stack, wherever in them the calls are: a hash of these
 * identifies a line.  The lines of a full table are written and it is emptied: the tools add up
 * lines that occur twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/text/stack_text.h"
#include "host/scan/off_cpu.h"
#include "host/scan/row_team.h"
#include "lib/hash.h"

#define LINES_MAX (1u << 20)
#define INDEX_SLOTS (LINES_MAX * 2ul)

struct line {
    uint32_t stack; /* a node; HR_STACK_WHOLE in a trace without stacks */
    uint32_t function; /* that the sample was in */
    uint64_t hash; /* of the functions */
    uint64_t weight;
};

struct hashes { /* of the functions of each node's stack */
    const struct stacks *stacks;
    struct functions *functions;
    uint64_t *all; /* owned */
    uint32_t count; /* nodes that have one */
    uint32_t capacity;
};

struct folded {
    struct export *e;
    int event; /* -1: samples */
    struct stack_text text;
    struct row_team *team; /* that lines are left to; owned */
    int error; /* of the lines so far */
    struct off_cpu off;
    struct line *lines; /* in the order of their appearance; owned */
    uint32_t *index; /* hash table of line numbers + 1, 0: free; owned */
    uint32_t count;
    struct hashes hashes;
};

struct part { /* of a digest: a line */
    uint64_t ip; /* of its first sample, as is the node */
    uint32_t stack;
    uint64_t samples;
    uint64_t weight;
};

struct digest { /* lines of a chunk */
    int event;
    struct functions functions;
    struct hashes hashes;
    struct numbers keys;
    struct part *parts; /* by number in keys; owned */
    struct stacks_nodes nodes; /* of the export */
};

/* Hashes the nodes that are new; callers come before what they call.  0 or -ENOMEM. */
static int hash_nodes(struct hashes *h)
{
    if (stacks_extend(h->stacks, &h->all, &h->capacity, sizeof h->all[0]) != 0)
        return -ENOMEM;
    for (; h->count < h->stacks->count; h->count++) {
        const struct stacks_node *node = &h->stacks->nodes[h->count];

        h->all[h->count] = h->count < HR_STACK_ROOTS
                               ? hash_mix(0, h->count)
                               : hash_mix(h->all[node->parent],
                                          functions_at(h->functions, node->address - 1) + 1ull);
    }
    return 0;
}

/* The words of a row; its stack's follow. */
enum { WEIGHT, FUNCTION, STACK };

static void put_row(void *, struct output *out, const uint64_t *words, const char * /*bytes*/)
{
    stack_text_put_words(out, words + STACK, false);
    output_text(out, (const char *)words[FUNCTION]);
    output_char(out, ' ');
    output_decimal(out, words[WEIGHT]);
    output_char(out, '\n');
}

/* Leaves a line to the team.  0 or -ENOMEM. */
static int put_line(struct folded *f, const struct line *line)
{
    uint64_t words[STACK_TEXT_WORDS_MAX], *row;
    size_t bytes;
    uint32_t count = stack_text_words(&f->text, &f->e->scan.stacks, line->stack, words, &bytes);
    const char *function = stack_text_name(&f->text, line->function);

    if (count == 0 || function == NULL)
        return -ENOMEM;
    row_team_batch(f->team, STACK + count, 0, bytes + strlen(function) + OUTPUT_NUMBER_MAX + 2);
    row = row_team_row(f->team, STACK + count);
    row[WEIGHT] = line->weight;
    row[FUNCTION] = (uintptr_t)function;
    memcpy(row + STACK, words, count * sizeof words[0]);
    return 0;
}

static void put_lines(struct folded *f)
{
    for (uint32_t i = 0; i < f->count && f->error == 0; i++)
        if (f->lines[i].weight != 0)
            f->error = put_line(f, &f->lines[i]);
}

static int result_of(const struct folded *f)
{
    return f->error != 0 ? f->error : row_team_error(f->team);
}

static struct line *find_line(struct folded *f, uint32_t stack, uint32_t function)
{
    uint64_t hash = hash_mix(f->hashes.all[stack], function);
    uint32_t i = (uint32_t)(hash >> 32) & (INDEX_SLOTS - 1);

    for (; f->index[i] != 0; i = (i + 1) & (INDEX_SLOTS - 1)) {
        struct line *line = &f->lines[f->index[i] - 1];

        if (line->hash == hash && line->function == function)
            return line;
    }
    if (f->count == LINES_MAX) {
        put_lines(f);
        memset(f->index, 0, INDEX_SLOTS * sizeof f->index[0]);
        f->count = 0;
        return find_line(f, stack, function);
    }
    f->lines[f->count] = (struct line){.stack = stack, .function = function, .hash = hash};
    f->index[i] = ++f->count;
    return &f->lines[f->count - 1];
}

static uint64_t weight_of(int event, const struct trace_samples *samples, uint32_t n)
{
    return event < 0 ? trace_samples_weight(samples, n)
                     : export_increment(&samples->slots[n], trace_samples_before(samples, n),
                                        (uint32_t)event);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct folded *f = context;

    if (hash_nodes(&f->hashes) != 0)
        return -ENOMEM;
    for (uint32_t n = 0; n < samples->count; n++)
        find_line(f, trace_samples_stack(samples, n, HR_STACK_WHOLE),
                  functions_at(&f->e->functions, samples->slots[n].ip))
            ->weight += weight_of(f->event, samples, n);
    return result_of(f);
}

static int begin_digest(void *context, const struct trace_chunk * /*chunk*/, bool /*continues*/)
{
    struct digest *d = context;

    numbers_forget(&d->keys);
    d->hashes.count = 0;
    return 0;
}

static int digest_samples(void *context, const struct trace_samples *samples)
{
    struct digest *d = context;

    if (hash_nodes(&d->hashes) != 0)
        return -ENOMEM;
    for (uint32_t n = 0; n < samples->count; n++) {
        uint64_t ip = samples->slots[n].ip;
        uint32_t stack = trace_samples_stack(samples, n, HR_STACK_WHOLE);
        struct part *part;
        bool added;

        if (numbers_full(&d->keys))
            return -ENOSPC;
        part = &d->parts[numbers_of(&d->keys, d->hashes.all[stack], functions_at(&d->functions, ip),
                                    &added) -
                         d->keys.first];
        if (added)
            *part = (struct part){.ip = ip, .stack = stack};
        part->samples++;
        part->weight += weight_of(d->event, samples, n);
    }
    return 0;
}

/* Where a table may become full, samples are to be visited one after the other. */
static int take_digest(void *context, void *digest)
{
    struct folded *f = context;
    struct digest *d = digest;
    struct functions *functions = &f->e->functions;
    uint32_t count = numbers_count(&d->keys);

    if (f->count + count > LINES_MAX || functions->count + d->functions.count > FUNCTIONS_MAX)
        return -EAGAIN;
    if (stacks_adopt(&f->e->scan.stacks, d->hashes.stacks, &d->nodes) != 0 ||
        hash_nodes(&f->hashes) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct part *part = &d->parts[i];

        find_line(f, d->nodes.all[part->stack], functions_at(functions, part->ip))->weight +=
            part->weight;
        export_count(f->e, part->ip, part->samples);
    }
    return result_of(f);
}

static void leave(void *digest)
{
    struct digest *d = digest;

    free(d->parts);
    functions_free(&d->functions);
    free(d->hashes.all);
    numbers_free(&d->keys);
    free(d->nodes.all);
    free(d);
}

static void *join(void *context, struct trace_scan *scan)
{
    const struct folded *f = context;
    struct digest *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->parts = array_long(EXPORT_DIGEST_ROWS, sizeof d->parts[0]);
    d->event = f->event;
    d->hashes = (struct hashes){.stacks = &scan->stacks, .functions = &d->functions};
    if (d->parts != NULL && functions_init(&d->functions, f->e->symbols) == 0 &&
        numbers_init(&d->keys, EXPORT_DIGEST_ROWS) == 0)
        return d;
    leave(d);
    return NULL;
}

/* A wait that has ended. */
static int take_wait(void *context, const struct off_cpu_event *wait, uint64_t ticks)
{
    struct folded *f = context;

    if (hash_nodes(&f->hashes) != 0)
        return -ENOMEM;
    find_line(f, wait->stack, functions_at(&f->e->functions, wait->ip))->weight +=
        trace_info_ns(&f->e->info, ticks);
    return result_of(f);
}

static int take_waits(void *context, const struct trace_samples *samples)
{
    struct folded *f = context;
    int error = off_cpu_full(&f->off) ? off_cpu_settle(&f->off, take_wait, f) : 0;

    return error == 0 ? off_cpu_take_waits(&f->off, samples) : error;
}

static int take_record(void *context, const struct trace_chunk * /*chunk*/,
                       const struct trace_record *record)
{
    return off_cpu_take_record(&((struct folded *)context)->off, record);
}

static int walk(struct folded *f)
{
    static const struct trace_digest digest = {.visitor = {.stacks = TRACE_SCAN_STACKS,
                                                           .names = true,
                                                           .chunk = begin_digest,
                                                           .samples = digest_samples},
                                               .join = join,
                                               .take = take_digest,
                                               .leave = leave};
    const struct trace_visitor samples = {.context = f,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .exact = true,
                                          .names = true,
                                          .samples = take_samples,
                                          .digest = &digest};
    const struct trace_visitor waits = {.context = f,
                                        .stacks = TRACE_SCAN_STACKS,
                                        .names = true,
                                        .waits = take_waits,
                                        .record = take_record};
    int error = export_walk(f->e, f->e->options->off_cpu ? &waits : &samples);

    return error == 0 ? off_cpu_settle(&f->off, take_wait, f) : error;
}

static int fold(struct folded *f)
{
    int error = -ENOMEM;

    f->lines = array_long(LINES_MAX, sizeof f->lines[0]);
    f->index = array_zeros(INDEX_SLOTS * sizeof f->index[0]);
    f->text.team = f->team = row_team_new(&f->e->output, &f->e->scan, put_row, NULL);
    if (f->lines != NULL && f->index != NULL && f->team != NULL)
        error = walk(f);
    if (error == 0) {
        put_lines(f);
        error = f->error;
    }
    row_team_free(f->team);
    stack_text_free(&f->text);
    free(f->lines);
    free(f->index);
    free(f->hashes.all);
    off_cpu_free(&f->off);
    return error;
}

static int run(struct export *e)
{
    struct folded f = {
        .e = e,
        .event = e->weight,
        .text = {.functions = &e->functions},
        .hashes = {.stacks = &e->scan.stacks, .functions = &e->functions},
    };

    return fold(&f);
}

/* "main;work 42": lines that end in a number; where the bytes end, a line need not be whole. */
static bool looks_alike(const uint8_t *bytes, size_t count, uint64_t /* file_bytes */)
{
    size_t start = 0, lines = 0;

    for (size_t i = 0; i < count; i++) {
        size_t digits = i;

        if (bytes[i] != '\n')
            continue;
        while (digits > start && bytes[digits - 1] >= '0' && bytes[digits - 1] <= '9')
            digits--;
        if (digits == i || digits < start + 2 || bytes[digits - 1] != ' ')
            return false;
        start = i + 1;
        lines++;
    }
    return lines != 0;
}

const struct export_format export_folded = {
    .name = "folded",
    .extension = "folded",
    .summary = "one line a call stack and its weight, for flame graph tools",
    .opener = "flamegraph.pl and https://www.speedscope.app",
    .looks_alike = looks_alike,
    .exact = true,
    .run = run,
};
