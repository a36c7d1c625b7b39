/* Encodes the events of a run for CPUs that are not here. */
#include "host/events/events_targets.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events_run.h"

#define CPUS_MAX 4096 /* bounds an array: families times models */

struct target {
    struct events_cpu cpu;
    bool others; /* every CPU of its vendor that no group names */
    bool encoded;
    struct events_encoding encodings[HR_EVENTS_MAX];
};

struct targets {
    struct target *items;
    size_t count;
};

static struct target *add(struct targets *list, const struct events_cpu *cpu, bool others)
{
    struct target *target;

    if (list->items == NULL)
        list->items = calloc(CPUS_MAX, sizeof *list->items);
    if (list->items == NULL || list->count == CPUS_MAX)
        return NULL;
    target = &list->items[list->count++];
    *target = (struct target){.cpu = *cpu, .others = others};
    return target;
}

static bool same_encodings(const struct events_encoding *a, const struct events_encoding *b,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].select != b[i].select || a[i].companion != b[i].companion ||
            a[i].counters != b[i].counters)
            return false;
    return true;
}

/* The kernel cannot distinguish steppings of a model that encode the events differently. */
static void drop_contradictions(struct targets *list, size_t events)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct target *a = &list->items[i], *b = &list->items[j];

            if (a->others || b->others || a->cpu.vendor != b->cpu.vendor ||
                a->cpu.family != b->cpu.family || a->cpu.model != b->cpu.model)
                continue;
            if (!a->encoded || !b->encoded || !same_encodings(a->encodings, b->encodings, events))
                b->encoded = false;
            a->encoded = false; /* kept at most once */
        }
}

/* Adds one row of the table of CPUs: what depends only on the row is encoded once. */
static int add_row(struct targets *list, const struct events_cpu *first, uint32_t last,
                   const struct events_wanted *wanted)
{
    const char *table = events_cpu_table(first);
    struct events_encoding encodings[HR_EVENTS_MAX];
    struct run_failure unasked = {0};
    bool encoded = events_run_encode(first, wanted, encodings, &unasked) == 0;
    struct events_cpu cpu = *first;

    for (; cpu.model <= last; cpu.model++) {
        struct target *target;

        if (events_cpu_table(&cpu) != table)
            continue; /* belongs to another row */
        target = add(list, &cpu, false);
        if (target == NULL)
            return -1;
        target->encoded = encoded;
        memcpy(target->encodings, encodings, sizeof encodings);
    }
    return 0;
}

/* Adds CPUs newer than the tables: with architectural events, and raw bits. */
static int add_others(struct targets *list, const struct events_wanted *wanted)
{
    static const struct events_cpu newer[] = {
        {.vendor = RUN_CPU_INTEL, .family = 0xff, .fixed_counters = 3},
        {.vendor = RUN_CPU_AMD, .family = 0xff},
    };

    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        struct target *target = add(list, &newer[i], true);
        struct run_failure unasked = {0};

        if (target == NULL)
            return -1;
        target->encoded = events_run_encode(&newer[i], wanted, target->encodings, &unasked) == 0;
    }
    return 0;
}

static void count_kinds(struct events_targets *t, const struct events_wanted *wanted)
{
    const char *table;

    for (size_t i = 0; (table = events_cpu_table_at(i)) != NULL; i++) {
        struct events_encoding encodings[HR_EVENTS_MAX];
        struct run_failure unasked = {0};
        struct events_cpu cpu;

        t->kinds_known++;
        t->kinds += events_cpu_of_table(&cpu, table) == 0 &&
                    events_run_encode(&cpu, wanted, encodings, &unasked) == 0;
    }
}

static int add_all(struct targets *list, struct events_targets *t,
                   const struct events_wanted *wanted, struct run_failure *failure)
{
    struct events_cpu first;
    uint32_t last;

    for (size_t i = 0; events_cpu_models_at(i, &first, &last) == 0; i++)
        if (add_row(list, &first, last, wanted) != 0)
            return run_fail(failure, "out of memory; end other programs");
    if (add_others(list, wanted) != 0)
        return run_fail(failure, "out of memory; end other programs");
    drop_contradictions(list, wanted->count);
    count_kinds(t, wanted);
    return 0;
}

/* Returns the length of the list's first CPU: after a comma, a part with '=' belongs to it. */
static size_t item_bytes(const char *list)
{
    size_t bytes = strcspn(list, ",");

    while (list[bytes] == ',') {
        size_t next = strcspn(list + bytes + 1, ",");

        if (memchr(list + bytes + 1, '=', next) == NULL)
            break;
        bytes += 1 + next;
    }
    return bytes;
}

/* Adds every model of a table of libpfm4.  Returns 1 if there is no table of that name. */
static int add_table(struct targets *list, const char *name, const struct events_wanted *wanted,
                     struct run_failure *failure)
{
    struct events_encoding encodings[HR_EVENTS_MAX];
    struct events_cpu first;
    const char *table;
    uint32_t last;

    if (events_cpu_of_table(&first, name) != 0)
        return 1;
    table = events_cpu_table(&first);
    if (events_run_encode(&first, wanted, encodings, failure) != 0)
        return -1;
    events_run_warn(&first, wanted, encodings);
    for (size_t i = 0; events_cpu_models_at(i, &first, &last) == 0; i++)
        if (strcmp(events_cpu_table(&first), table) == 0 &&
            add_row(list, &first, last, wanted) != 0)
            return run_fail(failure, "out of memory; end other programs");
    return 0;
}

/* The kernel distinguishes models, not steppings, so a list cannot contain steppings of a model
 * that encode the events differently. */
static int check_models(struct targets *list, const struct events_wanted *wanted,
                        struct run_failure *failure)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct target *a = &list->items[i];
            const struct target *b = &list->items[j];
            char name[EVENTS_CPU_TEXT_BYTES];

            if (!a->encoded || !b->encoded || a->cpu.vendor != b->cpu.vendor ||
                a->cpu.family != b->cpu.family || a->cpu.model != b->cpu.model)
                continue;
            if (!same_encodings(a->encodings, b->encodings, wanted->count))
                return run_fail(failure,
                                "--target-cpu: %s is in two of the listed tables, which encode the "
                                "events differently; name one of these tables",
                                events_cpu_text(&a->cpu, name));
            a->encoded = false; /* once is enough */
        }
    return 0;
}

static int add_cpu(struct targets *list, const struct events_cpu *cpu,
                   const struct events_wanted *wanted, struct run_failure *failure)
{
    struct target *target = add(list, cpu, false);

    if (target == NULL)
        return run_fail(failure, "out of memory; end other programs");
    if (events_run_encode(cpu, wanted, target->encodings, failure) != 0)
        return -1;
    events_run_warn(cpu, wanted, target->encodings);
    target->encoded = true;
    return 0;
}

static int add_listed(struct targets *list, const char *text, const struct events_wanted *wanted,
                      struct run_failure *failure)
{
    for (;; text++) {
        size_t bytes = item_bytes(text);
        struct events_cpu cpu;
        char name[128];
        int result = 1;

        snprintf(name, sizeof name, "%.*s", (int)bytes, text);
        if (bytes < sizeof name)
            result = events_cpu_parse(&cpu, name) == 0 ? add_cpu(list, &cpu, wanted, failure)
                                                       : add_table(list, name, wanted, failure);
        if (result > 0)
            return run_fail(
                failure,
                "--target-cpu %s: neither VENDOR-FAMILY-MODEL, such as intel-6-106 or amd-25-1, "
                "nor a CPU model of QEMU, nor a table of libpfm4, such as icx, nor all",
                name);
        if (result != 0)
            return -1;
        text += bytes;
        if (*text == 0)
            return check_models(list, wanted, failure);
    }
}

/* Adds the CPU's name to the group. */
static int join(struct events_group *group, const struct target *target)
{
    char name[EVENTS_CPU_TEXT_BYTES];
    size_t used = group->cpus != NULL ? strlen(group->cpus) : 0;
    char *grown;

    events_cpu_text(&target->cpu, name);
    if (target->others)
        name[strcspn(name, "-")] = 0;
    grown = realloc(group->cpus, used + strlen(name) + 2);
    if (grown == NULL)
        return -1;
    sprintf(grown + used, "%s%s", used != 0 ? "," : "", name);
    group->cpus = grown;
    return 0;
}

static int group(struct events_targets *t, const struct targets *list, size_t events)
{
    t->groups = calloc(list->count + 1, sizeof *t->groups);
    for (size_t i = 0; t->groups != NULL && i < list->count; i++) {
        const struct target *target = &list->items[i];
        size_t g = 0;

        if (!target->encoded)
            continue;
        while (g < t->count && !same_encodings(t->groups[g].encodings, target->encodings, events))
            g++;
        if (g == t->count)
            memcpy(t->groups[t->count++].encodings, target->encodings, sizeof target->encodings);
        if (join(&t->groups[g], target) != 0)
            return -1;
    }
    return t->groups != NULL ? 0 : -1;
}

/* If no CPU has all the events, says how many kinds have each. */
static int fail_nowhere(const struct events_wanted *wanted, struct run_failure *failure)
{
    char list[512] = "";

    for (size_t i = 0; i < wanted->count; i++) {
        struct events_wanted alone = {.names = {wanted->names[i]}, .count = 1};
        struct events_targets t = {0};
        size_t used = strlen(list);

        count_kinds(&t, &alone);
        snprintf(list + used, sizeof list - used, "%s%s on %zu", used != 0 ? ", " : "",
                 wanted->names[i], t.kinds);
    }
    return run_fail(failure,
                    "no known CPU has all of these events (%s kinds of CPU); count them in two "
                    "runs, or name the CPU with --target-cpu",
                    list);
}

int events_targets_make(struct events_targets *t, const char *list,
                        const struct events_wanted *wanted, struct run_failure *failure)
{
    bool all = strcmp(list, "all") == 0;
    struct targets targets = {0};
    int result;

    *t = (struct events_targets){0};
    result =
        all ? add_all(&targets, t, wanted, failure) : add_listed(&targets, list, wanted, failure);
    if (result == 0 && group(t, &targets, wanted->count) != 0)
        result = run_fail(failure, "out of memory; end other programs");
    if (result == 0 && t->count == 0)
        result = fail_nowhere(wanted, failure);
    free(targets.items);
    if (result != 0)
        events_targets_free(t);
    return result;
}

void events_targets_free(struct events_targets *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->groups[i].cpus);
    free(t->groups);
    *t = (struct events_targets){0};
}
