/* Counts and prints the records of precise events. */
#include "host/summary/summary_precise.h"

#include "host/base/json.h"
#include "host/base/text.h"
#include "host/summary/summary_sampling.h"

#define ROW SUMMARY_ROW

void summary_precise_samples(struct summary_precise *p, const struct trace_samples *samples)
{
    for (uint32_t n = 0; samples->accesses != NULL && n < samples->count; n++)
        for (uint32_t left = samples->accesses[n].events; left != 0; left &= left - 1)
            p->records[__builtin_ctz(left)]++;
}

void summary_precise_merge(struct summary_precise *p, const struct summary_precise *next)
{
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        p->records[i] += next->records[i];
}

void summary_precise_print(FILE *out, const struct summary_precise *p,
                           const struct trace_info *info)
{
    const struct hr_meta_accesses *accesses = &info->accesses;
    const char *jitter = (accesses->flags & HR_ACCESSES_JITTER) != 0 ? ", on average" : "";
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], word[64], event[64 * 4];

    if (!info->has_accesses)
        return;
    for (uint32_t i = 0; i < info->event_count; i++) {
        if (accesses->periods[i] == 0)
            continue;
        trace_info_event_word(info, i, word);
        fprintf(out, ROW "of %s, one each %s%s\n", text_count(a, p->records[i]), "records",
                text_escape(event, sizeof event, word), text_count(b, accesses->periods[i]),
                jitter);
    }
    if (accesses->latency_least > 3)
        fprintf(out, ROW "or less: such loads are not counted\n",
                text_count(a, accesses->latency_least), "cycles");
}

json_t *summary_precise_json(const struct summary_precise *p, const struct trace_info *info)
{
    json_t *events;

    if (!info->has_accesses)
        return json_null();
    events = json_array();
    for (uint32_t i = 0; i < info->event_count; i++) {
        char room[16];

        if (info->accesses.periods[i] == 0)
            continue;
        json_array_append_new(events, json_pack("{s:o, s:o, s:o}", "name",
                                                json_text(trace_info_event_name(info, i, room)),
                                                "period", json_number(info->accesses.periods[i]),
                                                "records", json_number(p->records[i])));
    }
    return json_pack("{s:o, s:b, s:b, s:o}", "events", events, "jitter",
                     (info->accesses.flags & HR_ACCESSES_JITTER) != 0, "registers",
                     (info->accesses.flags & HR_ACCESSES_REGISTERS) != 0, "latency_least",
                     json_number(info->accesses.latency_least));
}
