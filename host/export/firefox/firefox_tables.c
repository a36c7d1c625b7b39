/* Gathers samples, markers and call stacks for the Firefox Profiler. */
#include "host/export/firefox/firefox_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/program/syscall_names.h"

/* The stack of a function called from another stack. */
static uint32_t stack_of(struct firefox_tables *tables, uint32_t prefix, uint32_t function)
{
    bool added;
    uint32_t number;

    if (numbers_full(&tables->numbers))
        return 0;
    number = (uint32_t)numbers_of(&tables->numbers, prefix, function, &added) - 1;
    if (added)
        tables->stacks[tables->stack_count++] = (struct firefox_stack){prefix, function};
    return number;
}

int firefox_tables_init(struct firefox_tables *tables, struct export *e)
{
    *tables = (struct firefox_tables){.e = e};
    tables->samples = malloc(FIREFOX_SAMPLES_MAX * sizeof tables->samples[0]);
    tables->markers = malloc(FIREFOX_MARKERS_MAX * sizeof tables->markers[0]);
    tables->stacks = malloc(FIREFOX_STACKS_MAX * sizeof tables->stacks[0]);
    tables->names = calloc(FIREFOX_NAMES_MAX, sizeof tables->names[0]);
    if (tables->samples == NULL || tables->markers == NULL || tables->stacks == NULL ||
        tables->names == NULL || numbers_init(&tables->numbers, FIREFOX_STACKS_MAX) != 0 ||
        numbers_init(&tables->name_numbers, FIREFOX_NAMES_MAX) != 0)
        return -ENOMEM;
    stack_of(tables, FIREFOX_NO_STACK, FIREFOX_TRUNCATED); /* has number 0 */
    return 0;
}

void firefox_tables_free(struct firefox_tables *tables)
{
    for (uint32_t i = 0; i < tables->name_count; i++)
        free(tables->names[i]);
    free(tables->names);
    free(tables->samples);
    free(tables->markers);
    free(tables->stacks);
    free(tables->by_node);
    numbers_free(&tables->numbers);
    numbers_free(&tables->name_numbers);
}

/* Finds the stacks of nodes that are new; callers come before what they call.  0 or -ENOMEM. */
static int follow_nodes(struct firefox_tables *tables)
{
    const struct stacks *stacks = &tables->e->scan.stacks;

    if (stacks_extend(stacks, &tables->by_node, &tables->capacity, sizeof tables->by_node[0]) != 0)
        return -ENOMEM;
    for (; tables->nodes < stacks->count; tables->nodes++) {
        const struct stacks_node *node = &stacks->nodes[tables->nodes];
        uint32_t *stack = &tables->by_node[tables->nodes];

        if (tables->nodes >= HR_STACK_ROOTS)
            *stack = stack_of(tables, tables->by_node[node->parent],
                              functions_at(&tables->e->functions, node->address - 1));
        else if (tables->nodes == HR_STACK_CUT)
            *stack = stack_of(tables, FIREFOX_NO_STACK, FIREFOX_TRUNCATED);
        else if (tables->nodes == HR_STACK_BROKEN)
            *stack = stack_of(tables, FIREFOX_NO_STACK, FIREFOX_BROKEN);
        else
            *stack = FIREFOX_NO_STACK;
    }
    return 0;
}

int firefox_tables_samples(struct firefox_tables *tables, const struct trace_samples *samples)
{
    if (follow_nodes(tables) != 0)
        return -ENOMEM;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *slot = &samples->slots[n];
        uint32_t prefix =
            samples->stacks != NULL ? tables->by_node[samples->stacks[n]] : FIREFOX_NO_STACK;

        if (tables->sample_count == FIREFOX_SAMPLES_MAX) {
            tables->refused += samples->count - n;
            return 0;
        }
        tables->samples[tables->sample_count++] = (struct firefox_sample){
            .ns = trace_info_time_ns(&tables->e->info, slot->time),
            .tid = slot->tid,
            .stack = stack_of(tables, prefix, functions_at(&tables->e->functions, slot->ip)),
        };
    }
    return 0;
}

/* A marker of a raw name; times in ticks.  0 or -ENOMEM. */
static int add_marker(struct firefox_tables *tables, enum firefox_kind kind, uint32_t tid,
                      uint64_t from, uint64_t to, const char *name)
{
    bool added;
    uint64_t number;

    if (tables->marker_count == FIREFOX_MARKERS_MAX) {
        tables->refused++;
        return 0;
    }
    if (numbers_full(&tables->name_numbers)) /* too many names: the first one stands for it */
        number = 1;
    else
        number = numbers_of_text(&tables->name_numbers, name, &added);
    if (number > tables->name_count) {
        tables->names[tables->name_count] = strdup(name);
        if (tables->names[tables->name_count] == NULL)
            return -ENOMEM;
        tables->name_count++;
    }
    tables->markers[tables->marker_count++] = (struct firefox_marker){
        .ns = trace_info_time_ns(&tables->e->info, from),
        .end_ns = trace_info_time_ns(&tables->e->info, to),
        .tid = tid,
        .name = (uint16_t)(number - 1),
        .kind = (uint16_t)kind,
    };
    return 0;
}

static int take_syscall(struct firefox_tables *tables, const struct trace_record *record)
{
    struct hr_rec_syscall call;
    char number[32];
    const char *name;

    if (!trace_body(record, &call, sizeof call, NULL, NULL))
        return 0;
    name = syscall_name(call.number);
    snprintf(number, sizeof number, "system call %u", call.number);
    return add_marker(tables, FIREFOX_SYSCALL, call.tid, call.time, call.time + call.duration_ticks,
                      name != NULL ? name : number);
}

static int take_gap(struct firefox_tables *tables, const struct trace_record *record)
{
    struct hr_rec_gap gap;

    if (!trace_body(record, &gap, sizeof gap, NULL, NULL) || gap.time_last < gap.time_first)
        return 0;
    return add_marker(tables, FIREFOX_GAP, gap.tid, gap.time_first, gap.time_last,
                      "the program does not run");
}

static int take_mark(struct firefox_tables *tables, const struct trace_record *record)
{
    struct hr_rec_mark mark;
    const uint8_t *tail;
    size_t bytes;
    char text[1024];

    if (!trace_body(record, &mark, sizeof mark, &tail, &bytes))
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)tail);
    return add_marker(tables, FIREFOX_MARK, mark.tid, mark.time, mark.time, text);
}

int firefox_tables_record(struct firefox_tables *tables, const struct trace_record *record)
{
    switch (record->type) {
    case HR_REC_SYSCALL:
        return take_syscall(tables, record);
    case HR_REC_GAP:
        return take_gap(tables, record);
    case HR_REC_MARK:
        return take_mark(tables, record);
    default:
        return 0;
    }
}

static int compare_samples(const void *a, const void *b)
{
    const struct firefox_sample *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int compare_markers(const void *a, const void *b)
{
    const struct firefox_marker *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

void firefox_tables_sort(struct firefox_tables *tables)
{
    qsort(tables->samples, tables->sample_count, sizeof tables->samples[0], compare_samples);
    qsort(tables->markers, tables->marker_count, sizeof tables->markers[0], compare_markers);
}
