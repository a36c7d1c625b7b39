/* hr export csv: one row a sample, with its stack where the trace has stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/common/export.h"
#include "host/export/text/stack_text.h"
#include "host/scan/sample_rows.h"

#define NAMES_BYTES (16u << 20)

struct csv {
    struct export *e;
    struct sample_rows rows;
    char **names; /* of functions in stacks, by number, NULL: not met yet; owned */
    size_t names_bytes;
    bool begun;
};

enum { BEGINNING, COUNT, NAMES }; /* the last words of a row with a stack: texts, innermost first */

static void put_row(void *owner, struct output *out, const uint64_t *words, const char *bytes)
{
    const struct csv *csv = owner;
    const uint64_t *word = sample_rows_columns(&csv->rows, out, words, bytes);
    const char *beginning = (const char *)word[BEGINNING];

    output_text(out, ",\"");
    output_text(out, beginning);
    for (uint64_t i = word[COUNT]; i-- > 0;) {
        const char *name = (const char *)word[NAMES + i];

        if (*beginning == 0 && i + 1 == word[COUNT] && output_csv_is_formula(name))
            output_char(out, '\'');
        output_text(out, name);
        output_char(out, ';');
    }
    output_text(out, "\"\n");
}

static int put_header(struct csv *csv, bool stacks)
{
    csv->begun = true;
    sample_rows_header(&csv->rows);
    output_text(&csv->e->output, stacks ? ",stack\n" : "\n");
    return sample_rows_start(&csv->rows, &csv->e->scan, stacks ? put_row : NULL, csv);
}

/* The name of the function at an address, which stays; NULL when there are too many. */
static const char *name_at(struct csv *csv, uint64_t address)
{
    struct functions *functions = &csv->e->functions;
    uint32_t number = functions_at(functions, address);
    char text[STACK_TEXT_NAME_BYTES];

    if (csv->names[number] != NULL || csv->names_bytes > NAMES_BYTES)
        return csv->names[number];
    csv->names[number] = strdup(stack_text_name(&functions->rows[number], text));
    csv->names_bytes += strlen(text);
    return csv->names[number];
}

/* Leaves the row of sample n to the team.  False: it is to be formatted at once. */
static bool put_later(struct csv *csv, const struct trace_samples *samples, uint32_t n)
{
    const struct stacks *stacks = &csv->e->scan.stacks;
    uint64_t frames[STACK_TEXT_FRAMES_MAX], *word;
    uint32_t count = stacks_addresses(stacks, samples->stacks[n], frames, STACK_TEXT_FRAMES_MAX);
    const char *beginning = stack_text_beginning(stacks, samples->stacks[n], count);
    size_t text = strlen(beginning) + 8;

    for (uint32_t i = 0; i < count; i++) {
        const char *name = name_at(csv, frames[i] - 1);

        if (name == NULL)
            return false;
        text += strlen(name) + 1;
        frames[i] = (uintptr_t)name;
    }
    word = sample_rows_add(&csv->rows, samples, n, NAMES + count, text);
    word[BEGINNING] = (uintptr_t)beginning;
    word[COUNT] = count;
    memcpy(word + NAMES, frames, count * sizeof frames[0]);
    return true;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct csv *csv = context;
    struct export *e = csv->e;
    int error = csv->begun ? 0 : put_header(csv, samples->stacks != NULL);

    if (error != 0)
        return error;
    if (samples->stacks == NULL)
        return sample_rows_run(&csv->rows, samples);
    for (uint32_t n = 0; n < samples->count; n++) {
        if (samples->accesses == NULL && put_later(csv, samples, n))
            continue;
        sample_rows_put(&csv->rows, samples, n);
        output_char(&e->output, ',');
        stack_text_field(&e->output, &e->scan.stacks, samples->stacks[n], &e->functions);
        output_char(&e->output, '\n');
    }
    return row_team_error(csv->rows.team);
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
    csv->names = calloc(FUNCTIONS_MAX, sizeof csv->names[0]);
    csv->e = e;
    csv->rows.output = &e->output;
    csv->rows.info = &e->info;
    csv->rows.symbols = e->symbols;
    error = csv->names != NULL ? export_walk(e, &visitor) : -ENOMEM;
    if (error == 0 && !csv->begun)
        error = put_header(csv, false);
    sample_rows_finish(&csv->rows);
    for (uint32_t i = 0; csv->names != NULL && i < e->functions.count; i++)
        free(csv->names[i]);
    free(csv->names);
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
