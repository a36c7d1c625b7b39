/* hr export csv: one row a sample, with its stack where the trace has stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/common/export.h"
#include "host/export/text/stack_text.h"
#include "host/scan/sample_rows.h"

struct csv {
    struct export *e;
    struct sample_rows rows;
    struct stack_text text;
    bool begun;
};

static void put_stack(struct output *out, const uint64_t *words)
{
    output_text(out, ",\"");
    stack_text_put_words(out, words, true);
    output_text(out, "\"\n");
}

/* Of a row with a stack, which its last words are. */
static void put_row(void *owner, struct output *out, const uint64_t *words, const char *bytes)
{
    const struct csv *csv = owner;

    put_stack(out, sample_rows_columns(&csv->rows, out, words, bytes));
}

static int put_header(struct csv *csv, bool stacks)
{
    int error;

    csv->begun = true;
    sample_rows_header(&csv->rows);
    output_text(&csv->e->output, stacks ? ",stack\n" : "\n");
    error = sample_rows_start(&csv->rows, &csv->e->scan, stacks ? put_row : NULL, csv);
    csv->text.team = csv->rows.team;
    return error;
}

/* Puts sample n with its stack.  0 or -ENOMEM. */
static int put_sample(struct csv *csv, const struct trace_samples *samples, uint32_t n)
{
    uint64_t words[STACK_TEXT_WORDS_MAX];
    size_t bytes;
    uint32_t count =
        stack_text_words(&csv->text, &csv->e->scan.stacks, samples->stacks[n], words, &bytes);

    if (count == 0)
        return -ENOMEM;
    if (samples->accesses == NULL) {
        memcpy(sample_rows_add(&csv->rows, samples, n, count, bytes + 4), words,
               count * sizeof words[0]);
        return 0;
    }
    sample_rows_put(&csv->rows, samples, n);
    put_stack(&csv->e->output, words);
    return 0;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct csv *csv = context;
    int error = csv->begun ? 0 : put_header(csv, samples->stacks != NULL);

    if (error != 0)
        return error;
    if (samples->stacks == NULL)
        return sample_rows_run(&csv->rows, samples);
    for (uint32_t n = 0; n < samples->count && error == 0; n++)
        error = put_sample(csv, samples, n);
    return error != 0 ? error : row_team_error(csv->rows.team);
}

static int run(struct export *e)
{
    struct csv *csv = calloc(1, sizeof *csv);
    const struct trace_visitor visitor = {.context = csv,
                                          .names = true,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .accesses = true,
                                          .samples = take_samples};
    int error;

    if (csv == NULL)
        return -ENOMEM;
    csv->e = e;
    csv->text.functions = &e->functions;
    csv->rows.output = &e->output;
    csv->rows.info = &e->info;
    csv->rows.symbols = e->symbols;
    error = export_walk(e, &visitor);
    if (error == 0 && !csv->begun)
        error = put_header(csv, false);
    sample_rows_finish(&csv->rows);
    stack_text_free(&csv->text);
    free(csv);
    return error;
}

const struct export_format export_csv = {
    .name = "csv",
    .extension = "csv",
    .summary = "one row a sample: time, CPU, thread, address, function, events, stack",
    .opener = "spreadsheets, pandas and R",
    .run = run,
};
