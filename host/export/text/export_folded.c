/* hr export folded: stacks as "main;work;inner 42", for flame graph tools.
 *
 * Weights are summed by the functions of a stack, wherever in them the calls are: a hash of these
 * identifies a line.  The lines of a full table are written and it is emptied: the tools add up
 * lines that occur twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/common/export.h"
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
    uint64_t *hashes; /* of the functions of each node's stack; owned */
    uint32_t hashed; /* nodes */
    uint32_t capacity; /* of hashes */
};

/* Hashes the nodes that are new; callers come before what they call.  0 or -ENOMEM. */
static int hash_nodes(struct folded *f)
{
    const struct stacks *stacks = &f->e->scan.stacks;

    if (stacks_extend(stacks, &f->hashes, &f->capacity, sizeof f->hashes[0]) != 0)
        return -ENOMEM;
    for (; f->hashed < stacks->count; f->hashed++) {
        const struct stacks_node *node = &stacks->nodes[f->hashed];

        f->hashes[f->hashed] =
            f->hashed < HR_STACK_ROOTS
                ? hash_mix(0, f->hashed)
                : hash_mix(f->hashes[node->parent],
                           functions_at(&f->e->functions, node->address - 1) + 1ull);
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
    memset(f->index, 0, INDEX_SLOTS * sizeof f->index[0]);
    f->count = 0;
}

static int result_of(const struct folded *f)
{
    return f->error != 0 ? f->error : row_team_error(f->team);
}

static struct line *find_line(struct folded *f, uint32_t stack, uint32_t function)
{
    uint64_t hash = hash_mix(f->hashes[stack], function);
    uint32_t i = (uint32_t)(hash >> 32) & (INDEX_SLOTS - 1);

    for (; f->index[i] != 0; i = (i + 1) & (INDEX_SLOTS - 1)) {
        struct line *line = &f->lines[f->index[i] - 1];

        if (line->hash == hash && line->function == function)
            return line;
    }
    if (f->count == LINES_MAX) {
        put_lines(f);
        return find_line(f, stack, function);
    }
    f->lines[f->count] = (struct line){.stack = stack, .function = function, .hash = hash};
    f->index[i] = ++f->count;
    return &f->lines[f->count - 1];
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct folded *f = context;
    const struct trace_slot *previous = samples->previous;

    if (hash_nodes(f) != 0)
        return -ENOMEM;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint32_t stack = samples->stacks != NULL ? samples->stacks[n] : HR_STACK_WHOLE;
        struct line *line = find_line(f, stack, functions_at(&f->e->functions, sample->ip));

        line->weight += f->event < 0 ? trace_samples_weight(samples, n)
                                     : export_increment(sample, previous, (uint32_t)f->event);
        previous = sample;
    }
    return result_of(f);
}

/* A wait that has ended. */
static int take_wait(void *context, const struct off_cpu_event *wait, uint64_t ticks)
{
    struct folded *f = context;

    if (hash_nodes(f) != 0)
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
    const struct trace_visitor samples = {.context = f,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .exact = true,
                                          .names = true,
                                          .samples = take_samples};
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

    f->lines = malloc(LINES_MAX * sizeof f->lines[0]);
    f->index = calloc(INDEX_SLOTS, sizeof f->index[0]);
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
    free(f->hashes);
    off_cpu_free(&f->off);
    return error;
}

static int run(struct export *e)
{
    struct folded f = {.e = e, .event = e->weight, .text = {.functions = &e->functions}};

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
