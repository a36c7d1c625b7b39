/* Writes formulas as lists of steps. */
#include "host/view/model/view_metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/metrics/metrics.h"

/* Its place in the list, which has those alone that can be computed. */
static uint32_t place_of(const struct metrics *m, uint32_t metric)
{
    uint32_t place = 0;

    for (uint32_t i = 0; i < metric; i++)
        place += m->all[i].reason[0] == 0;
    return place;
}

static json_t *step_json(const struct metrics *m, const struct metrics_state *s,
                         const struct formula_step *step)
{
    char word[16] = {(char)step->what, 0};
    int32_t use = s->uses[step->name];

    if (step->what == '0')
        return json_real(step->number);
    if (step->what == 'm' || step->what == 'M')
        return json_string(step->what == 'm' ? "min" : "max");
    if (step->what != 'n')
        return json_string(word);
    if (use == METRICS_USES_TIME)
        return json_string("t");
    snprintf(word, sizeof word, use >= 0 ? "e%u" : "m%u",
             use >= 0 ? (uint32_t)use : place_of(m, (uint32_t)~use));
    return json_string(word);
}

/* A machine that does not count operations has no shares of slots to draw. */
static bool has_shares(const struct metrics *m, const struct trace_info *info)
{
    int retiring = metrics_table_metric(&m->set, "retiring");
    uint64_t totals[HR_EVENTS_MAX] = {0};

    for (uint32_t i = 0; i < info->event_count; i++)
        totals[i] = info->events[i].total;
    return retiring >= 0 && metrics_value_of(m, (uint32_t)retiring, totals, -1) > 0;
}

static json_t *metric_json(const struct metrics *m, const struct metrics_state *s, bool shares)
{
    json_t *steps = json_array();

    for (uint32_t i = 0; i < s->formula.step_count; i++)
        json_array_append_new(steps, step_json(m, s, &s->formula.steps[i]));
    return json_pack("{s:s, s:s, s:i, s:s, s:o}", "name", s->metric->name, "unit", s->metric->unit,
                     "level", shares ? (int)s->metric->level : 0, "words", s->metric->description,
                     "steps", steps);
}

json_t *view_metrics_json(const struct trace_info *info)
{
    struct metrics *m = metrics_of_trace(info);
    bool shares = m != NULL && has_shares(m, info);
    json_t *list = json_array();

    for (uint32_t i = 0; m != NULL && i < m->set.count; i++)
        if (m->all[i].reason[0] == 0)
            json_array_append_new(list, metric_json(m, &m->all[i], shares));
    free(m);
    return list;
}
