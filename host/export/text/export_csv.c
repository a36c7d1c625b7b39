/* hr export csv: one row a sample, with its stack where the trace has stacks. */
#include <errno.h>
#include <stdlib.h>

#include "host/export/common/export.h"
#include "host/export/text/stack_text.h"
#include "host/scan/sample_rows.h"

struct csv {
    struct export *e;
    struct sample_rows rows;
    bool begun;
};

static void put_header(struct csv *csv, bool stacks)
{
    csv->begun = true;
    sample_rows_header(&csv->rows);
    output_text(&csv->e->output, stacks ? ",stack\n" : "\n");
    if (!stacks)
        sample_rows_start(&csv->rows, &csv->e->scan);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct csv *csv = context;
    struct export *e = csv->e;
    const struct trace_slot *previous = samples->previous;

    if (!csv->begun)
        put_header(csv, samples->stacks != NULL);
    if (samples->stacks == NULL)
        return sample_rows_run(&csv->rows, samples);
    sample_rows_wait(&csv->rows);
    for (uint32_t n = 0; n < samples->count; n++) {
        sample_rows_put(&csv->rows, samples, &samples->slots[n], previous);
        output_char(&e->output, ',');
        stack_text_field(&e->output, &e->scan.stacks, samples->stacks[n], &e->functions);
        output_char(&e->output, '\n');
        previous = &samples->slots[n];
    }
    return e->output.error;
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
    csv->rows.output = &e->output;
    csv->rows.info = &e->info;
    csv->rows.symbols = e->symbols;
    error = export_walk(e, &visitor);
    if (error == 0 && !csv->begun)
        put_header(csv, false);
    sample_rows_finish(&csv->rows);
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
