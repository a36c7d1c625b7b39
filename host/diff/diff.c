/* Joins two traces' places by name. */
#include "host/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/event_kind.h"

static uint64_t count_of(const struct diff_row *row, int event)
{
    return event < 0 ? row->counts.samples : row->counts.sums[event];
}

static int find_events(struct diff *diff, const char *name)
{
    const struct trace_info *a = &diff->a->scan.info, *b = &diff->b->scan.info;

    diff->event = diff->event_b = -1;
    if (name != NULL && strcmp(name, "samples") == 0)
        return 0;
    diff->event = name != NULL ? trace_info_find_event(a, name) : event_kind_instructions(a);
    diff->event_b = name != NULL ? trace_info_find_event(b, name) : event_kind_instructions(b);
    if (diff->event >= 0 && diff->event_b >= 0)
        return 0;
    if (name != NULL)
        return -ENOENT;
    diff->event = diff->event_b = -1;
    return 0;
}

static int by_size(const void *x, const void *y)
{
    const struct diff_change *a = x, *b = y;
    uint64_t left = diff_size(a), right = diff_size(b);
    int order;

    if (left != right)
        return left > right ? -1 : 1;
    order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->object, b->object);
}

/* A place's row before and after, NULL where it has none; `known` is one of them. */
static void add(struct diff *diff, const struct diff_row *known, const struct diff_row *a,
                const struct diff_row *b)
{
    diff->places[diff->place_count++] = (struct diff_change){
        .name = known->name,
        .object = known->object,
        .before = a != NULL ? count_of(a, diff->event) : 0,
        .after = b != NULL ? count_of(b, diff->event_b) : 0,
        .runs = {a != NULL ? a->runs : 0, b != NULL ? b->runs : 0},
        .in_before = a != NULL && a->counts.samples != 0,
        .in_after = b != NULL && b->counts.samples != 0,
    };
}

int diff_compare(struct diff *diff, const struct diff_side *a, const struct diff_side *b,
                 const char *event)
{
    uint32_t i = 0, k = 0;
    int error;

    *diff = (struct diff){.a = a, .b = b};
    error = find_events(diff, event);
    if (error != 0)
        return error;
    diff->places = calloc((size_t)a->row_count + b->row_count + 1, sizeof diff->places[0]);
    if (diff->places == NULL)
        return -ENOMEM;
    while (i < a->row_count || k < b->row_count) {
        int order = i == a->row_count   ? 1
                    : k == b->row_count ? -1
                                        : diff_side_compare(&a->rows[i], &b->rows[k]);

        add(diff, order <= 0 ? &a->rows[i] : &b->rows[k], order <= 0 ? &a->rows[i] : NULL,
            order >= 0 ? &b->rows[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
    qsort(diff->places, diff->place_count, sizeof diff->places[0], by_size);
    return 0;
}

void diff_free(struct diff *diff)
{
    free(diff->places);
    diff->places = NULL;
}

struct diff_change diff_total(const struct diff *diff)
{
    const struct diff_side *a = diff->a, *b = diff->b;

    return (struct diff_change){
        .name = "",
        .object = "",
        .before = diff->event < 0 ? a->all.samples : diff_side_total(a, (uint32_t)diff->event),
        .after = diff->event_b < 0 ? b->all.samples : diff_side_total(b, (uint32_t)diff->event_b),
        .in_before = true,
        .in_after = true,
    };
}

void diff_offer_functions(const struct diff *diff, struct function_choice *choice)
{
    for (uint32_t i = 0; i < diff->place_count; i++)
        if (diff->places[i].in_before || diff->places[i].in_after)
            function_choice_offer(choice, diff->places[i].name, diff->places[i].object);
}

void diff_function(const struct diff *diff, const struct function_choice *function,
                   struct diff_change *change)
{
    *change = (struct diff_change){.name = function->names[0], .object = ""};
    for (uint32_t i = 0; i < diff->place_count; i++) {
        const struct diff_change *place = &diff->places[i];

        if (!function_choice_has(function, place->name, place->object))
            continue;
        change->before += place->before;
        change->after += place->after;
        change->runs[0] += place->runs[0];
        change->runs[1] += place->runs[1];
        change->in_before |= place->in_before;
        change->in_after |= place->in_after;
    }
}

/* Events of a side that one sample stands for. */
static double stride(const struct diff_side *side, int event)
{
    if (side->scan.info.has_exact || side->all.samples == 0)
        return 0;
    return event < 0 ? 1 : (double)side->all.sums[event] / (double)side->all.samples;
}

double diff_chance(const struct diff *diff, const struct diff_change *change)
{
    double before = stride(diff->a, diff->event), after = stride(diff->b, diff->event_b);

    return 3 * sqrt(before * before * (double)change->runs[0] +
                    after * after * (double)change->runs[1]);
}

bool diff_is_sampled(const struct diff *diff)
{
    return !diff->a->scan.info.has_exact || !diff->b->scan.info.has_exact;
}

bool diff_is_certain(const struct diff *diff, const struct diff_change *change)
{
    double chance = diff_chance(diff, change);

    return chance == 0 || (double)diff_size(change) > chance;
}

bool diff_parse_limit(const char *text, struct diff_limit *limit)
{
    char *end;

    limit->value = strtod(text, &end);
    if (end == text || !isfinite(limit->value) || limit->value < 0)
        return false;
    end += strspn(end, " ");
    limit->percent = *end == '%';
    limit->given = true;
    return strcmp(end, limit->percent ? "%" : "") == 0;
}

bool diff_exceeds(const struct diff_change *change, const struct diff_limit *limit)
{
    double size = (double)diff_size(change);

    if (!limit->percent)
        return size > limit->value;
    return size * 100 > limit->value * (double)change->before;
}

bool diff_grew(const struct diff_change *change, const struct diff_limit *limit)
{
    return change->after > change->before && diff_exceeds(change, limit);
}
