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

#include "host/base/text.h"
#include "host/export/common/export.h"
#include "host/report/tally.h"
#include "include/version.h"

#define TABLE_BYTES (64u << 20)
#define TEXT_BYTES 4096u

struct entry { /* an address of the tally */
    const uint64_t *words;
    const struct function *function;
};

struct callgrind {
    struct export *e;
    struct tally tally;
    uint64_t totals[1 + HR_EVENTS_MAX]; /* samples, events */
    char file[TEXT_BYTES]; /* that the lines being written are in */
};

/* Exact counts have no samples: their weight is the first event. */
static uint32_t first_column(const struct callgrind *c)
{
    return c->e->info.has_exact ? 1 : 0;
}

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
    if (first_column(c) == 0)
        put_event(out, "samples");
    for (uint32_t i = 0; i < info->event_count; i++)
        put_event(out, trace_info_event_word(info, i, word));
    output_text(out, "\n");
}

static void put_name(struct output *out, const char *key, const char *name)
{
    char text[TEXT_BYTES];

    output_text(out, key);
    output_text(out, text_escape(text, sizeof text, name));
    output_char(out, '\n');
}

static void put_function(struct callgrind *c, const struct function *function, const char *file)
{
    struct output *out = &c->e->output;
    char label[FUNCTIONS_LABEL_BYTES];

    output_char(out, '\n');
    put_name(out, "ob=", function->object != NULL ? function->object : "???");
    put_name(out, "fl=", file);
    output_text(out, "fn=");
    output_text(out, functions_label(function, label));
    if (function->name == NULL && function->end > function->start) {
        output_text(out, "+");
        output_hex(out, trace_spaces_shown(function->start));
    }
    output_char(out, '\n');
    snprintf(c->file, sizeof c->file, "%s", file);
}

/* Code of a file other than the function's own was inlined. */
static void change_file(struct callgrind *c, const char *file, const char *own)
{
    if (strncmp(c->file, file, sizeof c->file - 1) == 0)
        return;
    put_name(&c->e->output, strcmp(file, own) == 0 ? "fe=" : "fi=", file);
    snprintf(c->file, sizeof c->file, "%s", file);
}

static void put_entry(struct callgrind *c, const struct entry *entry, bool begins)
{
    struct output *out = &c->e->output;
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    uint64_t ip = entry->words[TALLY_IP];
    uint32_t count = symbols_frames(c->e->symbols, ip, frames);
    const char *own = frames[count - 1].file, *file = frames[0].file;

    own = own != NULL ? own : "???";
    file = file != NULL ? file : own;
    if (begins)
        put_function(c, entry->function, own);
    change_file(c, file, own);
    output_hex(out, trace_spaces_shown(ip));
    output_char(out, ' ');
    output_decimal(out, frames[0].line);
    for (uint32_t i = first_column(c); i < 1 + c->e->info.event_count; i++) {
        output_char(out, ' ');
        output_decimal(out, entry->words[TALLY_SAMPLES + i]);
        c->totals[i] += entry->words[TALLY_SAMPLES + i];
    }
    output_char(out, '\n');
}

/* Functions one after the other, each by address. */
static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->words[TALLY_IP] < y->words[TALLY_IP] ? -1 : x->words[TALLY_IP] > y->words[TALLY_IP];
}

static int put_entries(struct callgrind *c)
{
    struct entry *entries = calloc((size_t)c->tally.used + 1, sizeof *entries);
    struct functions *functions = &c->e->functions;
    const uint64_t *words;
    uint32_t count = 0;

    if (entries == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; (words = tally_next(&c->tally, &i)) != NULL; i++) /* rows may move */
        functions_at(functions, words[TALLY_IP]);
    for (uint32_t i = 0; (words = tally_next(&c->tally, &i)) != NULL; i++)
        entries[count++] =
            (struct entry){words, &functions->rows[functions_at(functions, words[TALLY_IP])]};
    qsort(entries, count, sizeof *entries, compare);
    for (uint32_t i = 0; i < count; i++)
        put_entry(c, &entries[i], i == 0 || entries[i].function != entries[i - 1].function);
    free(entries);
    tally_clear(&c->tally);
    return c->e->output.error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct callgrind *c = context;
    int error = 0;

    if (samples->event_count != c->e->info.event_count) /* forged */
        return 0;
    error = tally_reserve(&c->tally, samples->event_count, samples->count);
    if (error == -ENOSPC) {
        error = put_entries(c);
        if (error == 0)
            error = tally_reserve(&c->tally, samples->event_count, samples->count);
    }
    if (error == 0)
        tally_add(&c->tally, samples, 0, samples->count, 0);
    return error;
}

static int run(struct export *e)
{
    struct callgrind *c = calloc(1, sizeof *c);
    const struct trace_visitor visitor = {
        .context = c, .exact = true, .names = true, .samples = take_samples};
    int error;

    if (c == NULL)
        return -ENOMEM;
    c->e = e;
    tally_init(&c->tally, TABLE_BYTES);
    put_head(c);
    error = export_walk(e, &visitor);
    if (error == 0)
        error = put_entries(c);
    output_text(&e->output, "\ntotals:");
    for (uint32_t i = first_column(c); i < 1 + e->info.event_count; i++) {
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
