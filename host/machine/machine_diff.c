/* Compares the machines of two traces. */
#include "host/machine/machine_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/text.h"
#include "host/machine/machine_facts.h"
#include "host/scan/about.h"
#include "host/scan/reader_output.h"

#define SAME 0.01 /* numbers that differ by less count as equal */
#define VALUE_BYTES MACHINE_DIFF_BYTES

struct side {
    const char *path;
    struct trace_info info;
    struct machine machine;
};

struct difference {
    const struct machine_fact *fact; /* from one of the sides */
    const struct machine_fact *before, *after; /* NULL: that side lacks it */
};

struct differences {
    struct difference list[2 * MACHINE_FACTS_MAX];
    size_t count;
};

/* Returns whether a word is in a list. */
static bool has_word(const char *list, const char *word, size_t length)
{
    while (*list != 0) {
        size_t other = strcspn(list, " ");

        if (other == length && memcmp(list, word, length) == 0)
            return true;
        list += other + strspn(list + other, " ");
    }
    return false;
}

/* Writes the words of a list that another one lacks: all of them if that is NULL. */
static void words_apart(char out[VALUE_BYTES], const struct machine_fact *of,
                        const struct machine_fact *other)
{
    machine_diff_words(out, of != NULL ? of->value : "", other != NULL ? other->value : "");
}

void machine_diff_words(char out[VALUE_BYTES], const char *list, const char *other)
{
    size_t used = 0;

    out[0] = 0;
    while (*list != 0) {
        size_t length = strcspn(list, " ");

        if (used + length + 2 > VALUE_BYTES)
            return;
        if (length != 0 && !has_word(other, list, length))
            used += (size_t)snprintf(out + used, VALUE_BYTES - used, "%s%.*s", used != 0 ? " " : "",
                                     (int)length, list);
        list += length + strspn(list + length, " ");
    }
}

static bool same(const struct machine_fact *a, const struct machine_fact *b)
{
    char left[VALUE_BYTES], right[VALUE_BYTES];

    if (a == NULL || b == NULL)
        return false;
    if (a->number > 0 && b->number > 0)
        return fabs(a->number - b->number) <= SAME * fmin(a->number, b->number);
    if (!a->words)
        return strcmp(a->value, b->value) == 0;
    words_apart(left, a, b);
    words_apart(right, b, a);
    return left[0] == 0 && right[0] == 0;
}

static int by_rank(const void *a, const void *b)
{
    unsigned int left = ((const struct difference *)a)->fact->rank;
    unsigned int right = ((const struct difference *)b)->fact->rank;

    return left < right ? -1 : left > right;
}

static void compare(struct differences *d, const struct machine *a, const struct machine *b)
{
    d->count = 0;
    for (size_t i = 0; i < a->fact_count; i++) {
        const struct machine_fact *other = machine_find(b, a->facts[i].key);

        if (!same(&a->facts[i], other))
            d->list[d->count++] = (struct difference){&a->facts[i], &a->facts[i], other};
    }
    for (size_t i = 0; i < b->fact_count; i++)
        if (machine_find(a, b->facts[i].key) == NULL)
            d->list[d->count++] = (struct difference){&b->facts[i], NULL, &b->facts[i]};
    qsort(d->list, d->count, sizeof d->list[0], by_rank);
}

/* Writes a side's value for display: of a list, only what the other side lacks. */
static void value_of(char out[VALUE_BYTES], const struct machine_fact *of,
                     const struct machine_fact *other)
{
    if (of == NULL)
        out[0] = 0;
    else if (of->words)
        words_apart(out, of, other);
    else
        snprintf(out, VALUE_BYTES, "%s", of->value);
}

static void print_value(const char *when, const struct machine_fact *of,
                        const struct machine_fact *other)
{
    char value[VALUE_BYTES], safe[VALUE_BYTES];

    value_of(value, of, other);
    printf("   %-7s %s\n", when,
           of == NULL      ? "not said"
           : value[0] == 0 ? "nothing more"
                           : text_escape(safe, sizeof safe, value));
}

static void print_table(const struct side sides[2], const struct differences *d)
{
    char path[1024], program[1024];

    for (int i = 0; i < 2; i++)
        printf("# %s: %s: %s\n", i == 0 ? "before" : "after",
               text_escape(path, sizeof path, sides[i].path),
               text_escape(program, sizeof program,
                           trace_info_text(&sides[i].info, "program.args", "unknown")));
    for (size_t i = 0; i < d->count; i++) {
        const struct difference *one = &d->list[i];

        printf("\n %s: %s\n", machine_groups[one->fact->group], one->fact->label);
        print_value("before", one->before, one->after);
        print_value("after", one->after, one->before);
    }
    if (d->count == 0)
        puts("\nthe machines are the same in all that the traces say");
}

static void put_rows(struct output *out, bool json, const struct differences *d)
{
    static const char format[] = "fact:%s,before:%s,after:%s";
    struct output_rows rows = {.out = out, .json = json};
    char before[VALUE_BYTES], after[VALUE_BYTES];

    output_rows_begin(&rows, format);
    for (size_t i = 0; i < d->count; i++) {
        const struct difference *one = &d->list[i];

        value_of(before, one->before, one->after);
        value_of(after, one->after, one->before);
        output_row(&rows, format, one->fact->key, one->before != NULL ? before : NULL,
                   one->after != NULL ? after : NULL);
    }
    output_text(out, json ? "\n" : "");
    output_rows_end(&rows);
    output_text(out, json ? "\n" : "");
}

static int present(const struct side sides[2], enum reader_format format)
{
    static struct differences d;
    struct output *out;

    compare(&d, &sides[0].machine, &sides[1].machine);
    if (format == READER_TABLE) {
        print_table(sides, &d);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    put_rows(out, format == READER_JSON, &d);
    return reader_output_close(out);
}

int machine_diff(const char *before, const char *after, enum reader_format format)
{
    struct side sides[2] = {{.path = before}, {.path = after}};
    int error = 0, status = HR_EXIT_OK;

    for (int i = 0; i < 2; i++)
        trace_info_init(&sides[i].info);
    for (int i = 0; i < 2 && error == 0; i++) {
        error = about_read(&sides[i].info, sides[i].path);
        if (error == 0)
            error = machine_gather(&sides[i].machine, &sides[i].info);
        if (error != 0)
            status = reader_fail(sides[i].path, error);
    }
    if (error == 0)
        status = present(sides, format);
    for (int i = 0; i < 2; i++) {
        machine_free(&sides[i].machine);
        trace_info_free(&sides[i].info);
    }
    return status;
}
