/* Binds formulas to the events of a trace, and computes them. */
#include "host/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/base/text.h"

#define DEPTH_MAX 8u /* of metrics that are made of metrics */
/* Event and unit mask, edge, inversion, counter mask, AMD's event bits 11:8. */
#define SELECT_BITS 0xfff84ffffull

static int32_t as_metric(int metric)
{
    return ~metric;
}

static bool same_name(const char *name, const char *word)
{
    size_t bytes = strlen(word);

    return strncasecmp(name, word, bytes) == 0 &&
           (name[bytes] == 0 || strcmp(name + bytes, ":u") == 0 ||
            strcmp(name + bytes, ":k") == 0 || strcmp(name + bytes, ":uk") == 0);
}

/* Whether the input is what a word of a formula stands for. */
static bool is_meant(const struct metrics_set *set, const char *word,
                     const struct metrics_input *input)
{
    for (size_t list = 0; list < 2; list++)
        for (const struct metrics_event *e = set->events[list]; e->word != NULL; e++)
            if (strcasecmp(e->word, word) == 0 && input->select != 0 &&
                (input->select & SELECT_BITS) == e->select)
                return true;
    return same_name(input->name, word);
}

static int find_input(const struct metrics_set *set, const char *word,
                      const struct metrics_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_meant(set, word, &inputs[i]))
            return (int)i;
    return -1;
}

struct binding {
    struct metrics *m;
    const struct metrics_input *inputs;
    uint32_t count;
};

static void refuse(struct metrics_state *s, const char *word, const char *why)
{
    char safe[FORMULA_NAME_BYTES * 4];

    if (s->reason[0] == 0)
        snprintf(s->reason, sizeof s->reason, "%s %s", text_escape(safe, sizeof safe, word), why);
}

/* Finds what the names of a formula are.  Events must be counted, in the rings of the first one. */
static void bind(const struct binding *b, struct metrics_state *s, const struct formula *formula,
                 int32_t uses[FORMULA_NAMES_MAX])
{
    const struct metrics_input *first = NULL;

    for (uint32_t i = 0; i < formula->name_count; i++) {
        const char *word = formula->names[i];
        int metric = metrics_table_metric(&b->m->set, word);
        int event;

        uses[i] = metric >= 0 ? as_metric(metric) : METRICS_USES_TIME;
        if (metric >= 0)
            continue;
        if (strcasecmp(word, METRICS_TIME) == 0) {
            s->timed = true;
            continue;
        }
        event = find_input(&b->m->set, word, b->inputs, b->count);
        uses[i] = event;
        if (event < 0)
            refuse(s, word, "was not recorded");
        else if (!b->inputs[event].counted)
            refuse(s, word, "was not counted by a performance counter");
        else if (first != NULL && first->rings != b->inputs[event].rings)
            refuse(s, word, "was counted in other rings than the rest");
        else if (first == NULL)
            first = &b->inputs[event];
    }
}

/* What cannot be computed of its parts, or needs the time, passes it on. */
static void inherit(struct metrics *m)
{
    for (uint32_t round = 0; round < DEPTH_MAX; round++)
        for (uint32_t i = 0; i < m->set.count; i++) {
            struct metrics_state *s = &m->all[i];

            for (uint32_t j = 0; j < s->formula.name_count; j++) {
                const struct metrics_state *part;

                if (s->uses[j] >= 0 || s->uses[j] == METRICS_USES_TIME || s->reason[0] != 0)
                    continue;
                part = &m->all[~s->uses[j]];
                s->timed |= part->timed;
                memcpy(s->reason, part->reason, sizeof s->reason);
            }
        }
}

struct metrics *metrics_make(const struct metrics_cpu *cpu, const struct metrics_input *inputs,
                             uint32_t count)
{
    struct metrics *m = calloc(1, sizeof *m);
    const struct binding b = {m, inputs, count};
    uint32_t at;

    if (m == NULL)
        return NULL;
    metrics_table_find(cpu, &m->set);
    for (uint32_t i = 0; i < m->set.count; i++) {
        struct metrics_state *s = &m->all[i];
        struct metrics_state unasked = {.metric = NULL};

        s->metric = m->set.all[i];
        if (formula_parse(&s->formula, s->metric->formula, &at) != NULL)
            refuse(s, s->metric->name, "has a formula that cannot be read");
        bind(&b, s, &s->formula, s->uses);
        if (s->metric->threshold == NULL)
            continue;
        if (formula_parse(&s->threshold, s->metric->threshold, &at) != NULL)
            s->threshold.step_count = 0;
        bind(&b, &unasked, &s->threshold, s->judges);
    }
    inherit(m);
    for (uint32_t i = 0; i < m->set.count; i++)
        m->known += m->all[i].reason[0] == 0;
    return m;
}

static enum run_cpu_vendor vendor_of(const char *name)
{
    return strcmp(name, "GenuineIntel") == 0                                        ? RUN_CPU_INTEL
           : strcmp(name, "AuthenticAMD") == 0 || strcmp(name, "HygonGenuine") == 0 ? RUN_CPU_AMD
                                                                                    : RUN_CPU_OTHER;
}

struct metrics *metrics_of_trace(const struct trace_info *info)
{
    struct metrics_input inputs[HR_EVENTS_MAX];
    struct metrics_cpu cpu = {.vendor = vendor_of(trace_info_text(info, "machine.vendor", ""))};
    char room[HR_EVENTS_MAX][16];

    sscanf(trace_info_text(info, "machine.family", ""), "family %" SCNu32 " model %" SCNu32,
           &cpu.family, &cpu.model);
    for (uint32_t i = 0; i < info->event_count; i++) {
        const struct hr_meta_event *event = &info->events[i].meta;

        inputs[i] = (struct metrics_input){
            .name = trace_info_event_name(info, i, room[i]),
            .select = event->encoding_ext == 0 ? event->encoding : 0,
            .rings = event->flags,
            .counted = event->source == HR_SOURCE_PMU,
        };
    }
    return metrics_make(&cpu, inputs, info->event_count);
}

struct computing {
    const struct metrics *m;
    const double *counts;
    double seconds;
};

static double compute(const struct computing *c, const struct formula *formula,
                      const int32_t uses[FORMULA_NAMES_MAX], uint32_t depth)
{
    double values[FORMULA_NAMES_MAX];

    if (depth == 0)
        return NAN;
    for (uint32_t i = 0; i < formula->name_count; i++) {
        if (uses[i] == METRICS_USES_TIME) {
            values[i] = c->seconds >= 0 ? c->seconds : NAN;
        } else if (uses[i] >= 0) {
            values[i] = c->counts[uses[i]];
        } else {
            const struct metrics_state *part = &c->m->all[~uses[i]];

            values[i] =
                part->reason[0] != 0 ? NAN : compute(c, &part->formula, part->uses, depth - 1);
        }
    }
    return formula_value(formula, values);
}

double metrics_value(const struct metrics *m, uint32_t metric, const double *counts, double seconds)
{
    const struct metrics_state *s = &m->all[metric];
    const struct computing c = {m, counts, seconds};

    return s->reason[0] != 0 ? NAN : compute(&c, &s->formula, s->uses, DEPTH_MAX);
}

double metrics_value_of(const struct metrics *m, uint32_t metric,
                        const uint64_t counts[HR_EVENTS_MAX], double seconds)
{
    double real[HR_EVENTS_MAX];

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        real[i] = (double)counts[i];
    return metrics_value(m, metric, real, seconds);
}

bool metrics_is_marked(const struct metrics *m, uint32_t metric, const double *counts,
                       double seconds)
{
    const struct metrics_state *s = &m->all[metric];
    const struct computing c = {m, counts, seconds};

    return s->reason[0] == 0 && s->threshold.step_count != 0 &&
           compute(&c, &s->threshold, s->judges, DEPTH_MAX) == 1;
}
