/* Writes the tables of a thread. */
#include "host/export/firefox/firefox_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/text.h"

#define UNUSED UINT32_MAX

int firefox_used_init(struct firefox_used *used, uint32_t count)
{
    used->numbers = malloc(count * sizeof used->numbers[0]);
    used->list = malloc(count * sizeof used->list[0]);
    used->count = 0;
    if (used->numbers == NULL || used->list == NULL)
        return -ENOMEM;
    memset(used->numbers, 0xff, count * sizeof used->numbers[0]);
    return 0;
}

void firefox_used_free(struct firefox_used *used)
{
    free(used->numbers);
    free(used->list);
}

void firefox_put_ms(struct output *out, uint64_t ns)
{
    char text[32];

    snprintf(text, sizeof text, "%lu.%06lu", ns / 1000000, ns % 1000000);
    output_text(out, text);
}

void firefox_comma(struct output *out, uint32_t i)
{
    if (i != 0)
        output_char(out, ',');
}

/* "name":[value,value ...]; NULL: the numbers 0, 1 ... */
static void put_column(struct output *out, const char *name, const char *value, uint32_t count)
{
    output_json_print(out, ",%s:[", name);
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        if (value != NULL)
            output_text(out, value);
        else
            output_decimal(out, i);
    }
    output_char(out, ']');
}

static void put_length(struct output *out, const char *table, uint32_t length)
{
    output_json_print(out, ",%s:{\"length\":%u", table, length);
}

static void forget(struct firefox_used *used)
{
    for (uint32_t n = 0; n < used->count; n++)
        used->numbers[used->list[n]] = UNUSED;
    used->count = 0;
}

/* Returns false if it was noted before. */
static bool note(struct firefox_used *used, uint32_t i)
{
    if (used->numbers[i] != UNUSED)
        return false;
    used->numbers[i] = 0;
    used->list[used->count++] = i;
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Numbers what is used in the order of the whole trace: callers stay before what they call. */
static void number(struct firefox_used *used)
{
    if (used->count > 1)
        qsort(used->list, used->count, sizeof used->list[0], compare);
    for (uint32_t n = 0; n < used->count; n++)
        used->numbers[used->list[n]] = n;
}

static void find_used(struct firefox *f, const struct firefox_sample *samples, uint32_t count,
                      const struct firefox_marker *markers, uint32_t marker_count)
{
    const struct firefox_tables *tables = &f->tables;

    forget(&f->stacks);
    forget(&f->functions);
    forget(&f->names);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t s = samples[i].stack; s != FIREFOX_NO_STACK && note(&f->stacks, s);
             s = tables->stacks[s].prefix)
            note(&f->functions, tables->stacks[s].function);
    for (uint32_t i = 0; i < marker_count; i++)
        note(&f->names, markers[i].name);
    number(&f->stacks);
    number(&f->functions);
    number(&f->names);
}

static const struct function *function_row(struct firefox *f, uint32_t function)
{
    return function < FUNCTIONS_MAX ? &f->e->functions.rows[function] : NULL;
}

static void put_function_name(struct firefox *f, uint32_t number)
{
    const struct function *function = function_row(f, number);
    char label[FUNCTIONS_LABEL_BYTES], name[FUNCTIONS_LABEL_BYTES + 16];

    if (function == NULL) {
        output_json(f->out, number == FIREFOX_TRUNCATED ? "[truncated]" : "[broken]");
        return;
    }
    snprintf(name, sizeof name, "%s%s", function->kernel ? "[kernel] " : "",
             functions_label(function, label));
    output_json(f->out, name);
}

/* Functions' names, then maps', then markers'. */
static void put_strings(struct firefox *f)
{
    const struct trace_info *info = &f->e->info;
    uint32_t n = 0;

    output_text(f->out, ",\"stringArray\":[");
    for (; n < f->functions.count; n++) {
        firefox_comma(f->out, n);
        put_function_name(f, f->functions.list[n]);
    }
    for (size_t i = 0; i < info->map_count; i++) {
        firefox_comma(f->out, n++);
        output_json(f->out, text_base_name(info->maps[i].path));
    }
    for (uint32_t i = 0; i < f->names.count; i++) {
        firefox_comma(f->out, n++);
        output_json(f->out, f->tables.names[f->names.list[i]]);
    }
    output_char(f->out, ']');
}

/* One value for each function that is used. */
static void put_of_functions(struct firefox *f, const char *name,
                             void (*put)(struct firefox *f, const struct function *function))
{
    output_json_print(f->out, ",%s:[", name);
    for (uint32_t n = 0; n < f->functions.count; n++) {
        firefox_comma(f->out, n);
        put(f, function_row(f, f->functions.list[n]));
    }
    output_char(f->out, ']');
}

/* Category 1 is the kernel, 0 the rest. */
static void put_category(struct firefox *f, const struct function *function)
{
    output_char(f->out, function != NULL && function->kernel ? '1' : '0');
}

/* Resource i is map i. */
static void put_resource(struct firefox *f, const struct function *function)
{
    size_t map = function != NULL ? export_map(&f->e->info, function->start) : 0;

    if (map == 0)
        output_text(f->out, "-1");
    else
        output_decimal(f->out, map - 1);
}

static void put_functions(struct firefox *f)
{
    struct output *out = f->out;
    uint32_t count = f->functions.count;

    put_length(out, "frameTable", count);
    put_column(out, "address", "-1", count);
    put_column(out, "inlineDepth", "0", count);
    put_of_functions(f, "category", put_category);
    put_column(out, "subcategory", "0", count);
    put_column(out, "func", NULL, count);
    put_column(out, "nativeSymbol", "null", count);
    put_column(out, "innerWindowID", "0", count);
    put_column(out, "implementation", "null", count);
    put_column(out, "line", "null", count);
    put_column(out, "column", "null", count);
    output_char(out, '}');
    put_length(out, "funcTable", count);
    put_column(out, "name", NULL, count);
    put_column(out, "isJS", "false", count);
    put_column(out, "relevantForJS", "false", count);
    put_of_functions(f, "resource", put_resource);
    put_column(out, "fileName", "null", count);
    put_column(out, "lineNumber", "null", count);
    put_column(out, "columnNumber", "null", count);
    output_char(out, '}');
}

static void put_resources(struct firefox *f)
{
    struct output *out = f->out;
    uint32_t count = (uint32_t)f->e->info.map_count;

    put_length(out, "resourceTable", count);
    put_column(out, "lib", NULL, count);
    output_text(out, ",\"name\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        output_decimal(out, f->functions.count + i);
    }
    output_char(out, ']');
    put_column(out, "host", "null", count);
    put_column(out, "type", "1", count); /* a library */
    output_text(out, "},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
                     "\"functionSize\":[]}");
}

static void put_stacks(struct firefox *f)
{
    const struct firefox_tables *tables = &f->tables;
    struct output *out = f->out;
    const uint32_t *list = f->stacks.list;
    uint32_t count = f->stacks.count;

    put_length(out, "stackTable", count);
    output_text(out, ",\"prefix\":[");
    for (uint32_t n = 0; n < count; n++) {
        uint32_t prefix = tables->stacks[list[n]].prefix;

        firefox_comma(out, n);
        if (prefix == FIREFOX_NO_STACK)
            output_text(out, "null");
        else
            output_decimal(out, f->stacks.numbers[prefix]);
    }
    output_text(out, "],\"frame\":[");
    for (uint32_t n = 0; n < count; n++) {
        firefox_comma(out, n);
        output_decimal(out, f->functions.numbers[tables->stacks[list[n]].function]);
    }
    output_text(out, "],\"category\":[");
    for (uint32_t n = 0; n < count; n++) {
        firefox_comma(out, n);
        put_category(f, function_row(f, tables->stacks[list[n]].function));
    }
    output_char(out, ']');
    put_column(out, "subcategory", "0", count);
    output_char(out, '}');
}

static void put_samples(struct firefox *f, const struct firefox_sample *samples, uint32_t count)
{
    struct output *out = f->out;

    put_length(out, "samples", count);
    output_text(out, ",\"weightType\":\"samples\",\"weight\":null,\"stack\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        output_decimal(out, f->stacks.numbers[samples[i].stack]);
    }
    output_text(out, "],\"time\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        firefox_put_ms(out, samples[i].ns);
    }
    output_text(out, "]}");
}

static void put_markers(struct firefox *f, const struct firefox_marker *markers, uint32_t count)
{
    static const char *const types[] = {
        [FIREFOX_MARK] = "Mark", [FIREFOX_SYSCALL] = "Syscall", [FIREFOX_GAP] = "Gap"};
    struct output *out = f->out;

    put_length(out, "markers", count);
    put_column(out, "category", "0", count);
    output_text(out, ",\"name\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        output_decimal(out, f->functions.count + f->e->info.map_count +
                                f->names.numbers[markers[i].name]);
    }
    output_text(out, "],\"startTime\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        firefox_put_ms(out, markers[i].ns);
    }
    output_text(out, "],\"endTime\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        if (markers[i].kind == FIREFOX_MARK)
            output_text(out, "null");
        else
            firefox_put_ms(out, markers[i].end_ns);
    }
    output_text(out, "],\"phase\":["); /* 0: an instant, 1: a span */
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        output_char(out, markers[i].kind == FIREFOX_MARK ? '0' : '1');
    }
    output_text(out, "],\"data\":[");
    for (uint32_t i = 0; i < count; i++) {
        firefox_comma(out, i);
        output_json_print(out, "{\"type\":%s}", types[markers[i].kind]);
    }
    output_text(out, "]}");
}

void firefox_thread_put(struct firefox *f, const struct firefox_sample *samples,
                        uint32_t sample_count, const struct firefox_marker *markers,
                        uint32_t marker_count)
{
    find_used(f, samples, sample_count, markers, marker_count);
    put_samples(f, samples, sample_count);
    put_markers(f, markers, marker_count);
    put_stacks(f);
    put_functions(f);
    put_resources(f);
    put_strings(f);
}
