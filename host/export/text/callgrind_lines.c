/* Writes the lines of a callgrind export. */
#include "host/export/text/callgrind_lines.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/scan/trace_parallel.h"

#define TEXT_BYTES 4096u
#define LINE_BYTES 128u /* of an entry, mostly fewer */
#define FAR_ENTRIES 8u /* their words are fetched ahead */

struct entry { /* an address of the tally */
    uint64_t ip;
    const uint64_t *words;
    uint32_t function;
};

struct part { /* some of the functions, for a thread */
    struct export *e;
    struct entry *first, *end;
    struct output *out; /* of the first part the export's; of others owned */
    char *text; /* of others; owned */
    size_t bytes, room;
    uint64_t totals[CALLGRIND_COLUMNS_MAX];
    char file[TEXT_BYTES]; /* that the lines being written are in */
    pthread_t thread;
    bool started;
};

static void put_name(struct output *out, const char *key, const char *name)
{
    char text[TEXT_BYTES];

    output_text(out, key);
    output_text(out, text_escape(text, sizeof text, name));
    output_char(out, '\n');
}

static void put_function(struct part *p, const struct function *function, const char *file)
{
    char label[FUNCTIONS_LABEL_BYTES];

    output_char(p->out, '\n');
    put_name(p->out, "ob=", function->object != NULL ? function->object : "???");
    put_name(p->out, "fl=", file);
    output_text(p->out, "fn=");
    output_text(p->out, functions_label(function, label));
    if (function->name == NULL && function->end > function->start) {
        output_text(p->out, "+");
        output_hex(p->out, trace_spaces_shown(function->start));
    }
    output_char(p->out, '\n');
    snprintf(p->file, sizeof p->file, "%s", file);
}

/* Code of a file other than the function's own was inlined. */
static void change_file(struct part *p, const char *file, const char *own)
{
    if (strncmp(p->file, file, sizeof p->file - 1) == 0)
        return;
    put_name(p->out, strcmp(file, own) == 0 ? "fe=" : "fi=", file);
    snprintf(p->file, sizeof p->file, "%s", file);
}

static void put_entry(struct part *p, const struct entry *entry, bool begins)
{
    struct export *e = p->e;
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    uint32_t count = symbols_frames(e->symbols, entry->ip, frames);
    const char *own = frames[count - 1].file, *file = frames[0].file;

    own = own != NULL ? own : "???";
    file = file != NULL ? file : own;
    if (begins)
        put_function(p, &e->functions.rows[entry->function], own);
    change_file(p, file, own);
    output_hex(p->out, trace_spaces_shown(entry->ip));
    output_char(p->out, ' ');
    output_decimal(p->out, frames[0].line);
    for (uint32_t i = callgrind_first_column(&e->info); i < 1 + e->info.event_count; i++) {
        output_char(p->out, ' ');
        output_decimal(p->out, entry->words[TALLY_SAMPLES + i]);
        p->totals[i] += entry->words[TALLY_SAMPLES + i];
    }
    output_char(p->out, '\n');
}

static int by_address(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* Functions one after the other, each by address. */
static void *put_part(void *context)
{
    struct part *p = context;

    for (struct entry *next; p->first < p->end; p->first = next) {
        next = p->first + 1;
        while (next < p->end && next->function == p->first->function)
            next++;
        qsort(p->first, (size_t)(next - p->first), sizeof *next, by_address);
        for (const struct entry *entry = p->first; entry < next; entry++) {
            if (entry + FAR_ENTRIES < next)
                __builtin_prefetch(entry[FAR_ENTRIES].words);
            put_entry(p, entry, entry == p->first);
        }
    }
    return NULL;
}

/* The tally's addresses by function, in the order of the functions' numbers.  NULL: no memory. */
static struct entry *sorted(struct export *e, const struct tally *tally)
{
    struct entry *entries = array_long((size_t)tally->used + 1, sizeof *entries);
    uint32_t *starts = calloc(FUNCTIONS_MAX + 1, sizeof starts[0]);
    const uint64_t *words;

    for (uint32_t i = 0; starts != NULL && (words = tally_next(tally, &i)) != NULL; i++)
        starts[functions_at(&e->functions, words[TALLY_IP]) + 1]++;
    for (uint32_t i = 0; starts != NULL && i < e->functions.count; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0;
         entries != NULL && starts != NULL && (words = tally_next(tally, &i)) != NULL; i++) {
        uint32_t function = functions_at(&e->functions, words[TALLY_IP]);

        entries[starts[function]++] = (struct entry){words[TALLY_IP], words, function};
    }
    if (starts == NULL) {
        free(entries);
        entries = NULL;
    }
    free(starts);
    return entries;
}

static int keep_text(void *context, const char *bytes, size_t count)
{
    struct part *p = context;

    if (p->room - p->bytes < count) {
        size_t room = p->room + p->room / 2 + count;
        char *text = realloc(p->text, room);

        if (text == NULL)
            return -ENOMEM;
        p->text = text;
        p->room = room;
    }
    memcpy(p->text + p->bytes, bytes, count);
    p->bytes += count;
    return 0;
}

/* Cuts the entries into parts of whole functions. */
static void cut(struct part *parts, unsigned int count, struct export *e, struct entry *entries,
                uint32_t used)
{
    struct entry *next = entries, *last = entries + used;

    for (unsigned int i = 0; i < count; i++) {
        struct entry *end = entries + (uint64_t)used * (i + 1) / count;

        parts[i] = (struct part){.e = e, .out = &e->output, .first = next};
        if (end < next)
            end = next;
        while (end > next && end < last && end->function == end[-1].function)
            end++;
        parts[i].end = next = end;
    }
}

/* Has a thread put a part's text into memory; where there is none, that waits for its turn. */
static void start(struct part *p)
{
    struct output *out = malloc(sizeof *out);

    p->room = (size_t)(p->end - p->first + 1) * LINE_BYTES;
    p->text = array_long(p->room, 1);
    if (out == NULL || p->text == NULL) {
        free(out);
        free(p->text);
        return;
    }
    output_init(out, -1);
    out->sink = keep_text;
    out->context = p;
    p->out = out;
    p->started = pthread_create(&p->thread, NULL, put_part, p) == 0;
    if (p->started)
        return;
    free(out);
    free(p->text);
    p->out = &p->e->output;
}

/* Writes what a part's thread made, or makes it. */
static int finish(struct part *p)
{
    int error = 0;

    if (p->started) {
        pthread_join(p->thread, NULL);
        error = output_flush(p->out);
        output_bytes(&p->e->output, p->text, p->bytes);
        free(p->text);
        free(p->out);
    } else {
        put_part(p);
    }
    return error;
}

int callgrind_lines_put(struct export *e, const struct tally *tally,
                        uint64_t totals[CALLGRIND_COLUMNS_MAX])
{
    unsigned int jobs = trace_parallel_jobs(e->scan.jobs, e->scan.file.file_bytes);
    struct entry *entries = sorted(e, tally);
    struct part *parts = calloc(jobs, sizeof *parts);
    int error = 0;

    if (entries == NULL || parts == NULL)
        error = -ENOMEM;
    else
        cut(parts, jobs, e, entries, tally->used);
    for (unsigned int i = 1; i < jobs && error == 0; i++)
        start(&parts[i]);
    for (unsigned int i = 0; i < jobs && parts != NULL && entries != NULL; i++) {
        int result = finish(&parts[i]);

        error = error != 0 ? error : result;
        for (uint32_t n = 0; n < CALLGRIND_COLUMNS_MAX; n++)
            totals[n] += parts[i].totals[n];
    }
    free(parts);
    free(entries);
    return error != 0 ? error : e->output.error;
}
