/* Chooses metrics by name, and says why there are none. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/metrics/metrics.h"

#define NAMES_BYTES ((size_t)NEAREST_COUNT * (NEAREST_NAME_BYTES + 2) + 32)

uint32_t metrics_group_level(const char *name, size_t bytes)
{
    static const char *const groups[] = {"@tma1", "@tma2"};

    for (uint32_t i = 0; i < 2; i++)
        if (strlen(groups[i]) == bytes && strncasecmp(name, groups[i], bytes) == 0)
            return i + 1;
    return 0;
}

static int unknown(const struct metrics *m, const char *name, struct run_failure *failure)
{
    struct nearest nearest;
    char names[NAMES_BYTES] = "", safe[4 * FORMULA_NAME_BYTES];

    nearest_init(&nearest, name);
    for (uint32_t i = 0; i < m->set.count; i++)
        nearest_offer(&nearest, m->set.all[i]->name);
    if (nearest.count != 0)
        snprintf(names, sizeof names, "; the nearest: ");
    nearest_list(&nearest, names + strlen(names), sizeof names - strlen(names));
    return run_fail(failure, "unknown metric '%s'%s; 'hr events' lists them",
                    text_escape(safe, sizeof safe, name), names);
}

struct choice {
    const struct metrics *m;
    bool timed;
    uint32_t *chosen;
    uint32_t count;
};

static int choose(struct choice *c, uint32_t metric, struct run_failure *failure)
{
    const struct metrics_state *s = &c->m->all[metric];

    if (s->reason[0] != 0)
        return run_fail(failure, "metric %s: %s; -e @%s records what it needs", s->metric->name,
                        s->reason, s->metric->name);
    if (s->timed && !c->timed)
        return run_fail(failure,
                        "metric %s needs the time, which is not known for parts of a program; "
                        "'hr timeline --metric %s' shows it",
                        s->metric->name, s->metric->name);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->chosen[i] == metric)
            return 0;
    c->chosen[c->count++] = metric;
    return 0;
}

/* All that can be computed, or those of a group. */
static int choose_several(struct choice *c, uint32_t level, struct run_failure *failure)
{
    uint32_t before = c->count;

    for (uint32_t i = 0; i < c->m->set.count; i++) {
        const struct metrics_state *s = &c->m->all[i];

        if (level != 0 ? s->metric->level == 0 || s->metric->level > level
                       : s->reason[0] != 0 || (s->timed && !c->timed))
            continue;
        if (choose(c, i, failure) != 0)
            return -1;
    }
    if (level != 0 && c->count == before)
        return run_fail(failure, "@tma%u: no top-down metrics are known of the CPU of this trace",
                        level);
    return 0;
}

int metrics_choose(const struct metrics *m, const char *list, bool timed,
                   uint32_t chosen[METRICS_MAX], struct run_failure *failure)
{
    struct choice c = {m, timed, chosen, 0};
    int result = 0;

    for (;; list++) {
        size_t bytes = strcspn(list, ",");
        char name[FORMULA_NAME_BYTES];
        uint32_t level = metrics_group_level(list, bytes);
        int metric;

        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1),
                 list);
        metric = metrics_table_metric(&m->set, name[0] == '@' ? name + 1 : name);
        if (level != 0 || strcmp(name, "all") == 0)
            result = choose_several(&c, level, failure);
        else
            result =
                metric >= 0 ? choose(&c, (uint32_t)metric, failure) : unknown(m, name, failure);
        list += bytes;
        if (result != 0 || *list == 0)
            return result != 0 ? -1 : (int)c.count;
    }
}

static int explain(const struct trace_info *info, struct run_failure *failure)
{
    bool stubs = info->event_count != 0;

    for (uint32_t i = 0; i < info->event_count; i++)
        stubs &= info->events[i].meta.source != HR_SOURCE_PMU;
    if (stubs)
        return run_fail(failure, "no performance counter counted the events of the trace: metrics "
                                 "need a machine with counters ('hr doctor' says what is here)");
    return run_fail(failure, "the events of the trace make no metric; record some with 'hr run -e "
                             "@tma1' or -e instructions,cycles");
}

int metrics_choose_of(struct metrics_choice *choice, const struct trace_info *info,
                      const char *list, bool timed, struct run_failure *failure)
{
    struct metrics *m = metrics_of_trace(info);
    int count;

    *choice = (struct metrics_choice){.metrics = m};
    if (m == NULL)
        return run_fail(failure, "out of memory; end other programs");
    count = metrics_choose(m, list, timed, choice->chosen, failure);
    if (count == 0)
        return explain(info, failure);
    choice->count = count > 0 ? (uint32_t)count : 0;
    return count > 0 ? 0 : -1;
}
