/* Compares chunks' headers with their records. */
#include "host/trace/trace_rules.h"

#include <string.h>

/* The sum of intervals without these bits cannot overflow in the longest run. */
#define WRAPPING_BITS (~UINT64_C(0) << (64 - 11))
_Static_assert(TRACE_RUN_SAMPLES_MAX <= 1u << 10, "a run of intervals below 2^53 is below 2^63");

enum { FOREIGN, UNTIMED, TIME, TIME_AND_END, TIMES };

/* The records of DATA and END chunks: least bytes of a body, and the times at its start. */
static const struct known {
    uint8_t bytes;
    uint8_t times;
} known[256] = {
    [HR_META_INFO] = {0, UNTIMED},
    [HR_REC_BASE] = {sizeof(struct hr_rec_base), UNTIMED},
    [HR_REC_SAMPLES] = {sizeof(struct hr_rec_samples), UNTIMED},
    [HR_REC_SAMPLES_WIDE] = {sizeof(struct hr_rec_samples), UNTIMED},
    [HR_REC_LOST] = {sizeof(struct hr_rec_lost), TIMES},
    [HR_REC_SYSCALL] = {sizeof(struct hr_rec_syscall), TIME},
    [HR_REC_SWITCH] = {sizeof(struct hr_rec_switch), TIME},
    [HR_REC_OUTPUT] = {sizeof(struct hr_rec_output), TIME},
    [HR_REC_MARK] = {sizeof(struct hr_rec_mark), TIME},
    [HR_REC_GAP] = {sizeof(struct hr_rec_gap), TIME_AND_END},
    [HR_REC_FAULT] = {sizeof(struct hr_rec_fault), TIME},
    [HR_REC_PERIOD] = {sizeof(struct hr_rec_period), TIME},
    [HR_REC_PROBES] = {sizeof(struct hr_rec_probes), UNTIMED},
    [HR_REC_PROBES_WIDE] = {sizeof(struct hr_rec_probes), UNTIMED},
    [HR_REC_REQUEST] = {sizeof(struct hr_rec_request), TIME},
    [HR_REC_WAIT] = {sizeof(struct hr_rec_wait), TIME},
    [HR_REC_WAKE] = {sizeof(struct hr_rec_wake), TIME},
    [HR_REC_MAPPING] = {sizeof(struct hr_rec_mapping), TIME},
    [HR_REC_PAGES] = {sizeof(struct hr_rec_pages), TIME},
    [HR_REC_PAGE_FAULT] = {sizeof(struct hr_rec_page_fault), TIME},
    [HR_REC_STACK_NODES] = {0, UNTIMED},
    [HR_REC_STACKS] = {0, UNTIMED},
    [HR_REC_USER_STACKS] = {0, UNTIMED},
    [HR_REC_ACCESSES] = {1, UNTIMED},
    [HR_REC_EXIT] = {sizeof(struct hr_rec_exit), TIME},
    [HR_REC_TOTAL] = {sizeof(struct hr_rec_total), UNTIMED},
    [HR_REC_STREAM] = {sizeof(struct hr_rec_stream), UNTIMED},
    [HR_REC_REGION] = {sizeof(struct hr_rec_region), UNTIMED},
    [HR_REC_NMI] = {sizeof(struct hr_rec_nmi), UNTIMED},
    [HR_REC_CALLS] = {sizeof(struct hr_rec_calls), UNTIMED},
    [HR_REC_ACTIVITY] = {sizeof(struct hr_rec_activity), UNTIMED},
    [HR_REC_MACHINE_CPU] = {sizeof(struct hr_rec_machine_cpu), UNTIMED},
};

static void note(struct trace_rules *rules, uint64_t first, uint64_t last, uint64_t end)
{
    if (!rules->timed || first < rules->first)
        rules->first = first;
    if (!rules->timed || last > rules->last)
        rules->last = last;
    if (!rules->timed || end > rules->last_end)
        rules->last_end = end;
    rules->timed = true;
}

static void note_times(struct trace_rules *rules, const struct trace_record *record, uint8_t times)
{
    uint64_t time[2]; /* the times are at the start of a record */

    memcpy(time, record->body, times == TIME ? sizeof time[0] : sizeof time);
    if (times == TIME)
        note(rules, time[0], time[0], time[0]);
    else if (times == TIME_AND_END)
        note(rules, time[0], time[0], time[1] > time[0] ? time[1] : time[0]);
    else
        note(rules, time[0] < time[1] ? time[0] : time[1], time[0] < time[1] ? time[1] : time[0],
             time[0] < time[1] ? time[1] : time[0]);
}

enum trace_status trace_rules_record(struct trace_rules *rules, uint16_t chunk_type,
                                     const struct trace_record *record)
{
    const struct known *type = &known[record->type];
    bool base = record->type == HR_REC_BASE;

    rules->records++;
    if (chunk_type != HR_CHUNK_DATA && chunk_type != HR_CHUNK_END)
        return TRACE_OK;
    if (chunk_type == HR_CHUNK_DATA && base != (rules->records == 1))
        return TRACE_BAD_RECORD;
    if (type->times == FOREIGN) {
        rules->foreign = true;
        return TRACE_OK;
    }
    if (record->bytes < type->bytes)
        return TRACE_BAD_RECORD;
    if (type->times != UNTIMED)
        note_times(rules, record, type->times);
    return TRACE_OK;
}

void trace_rules_samples(struct trace_rules *rules, const struct trace_slot *slots, uint32_t count,
                         uint64_t intervals)
{
    uint64_t first = slots[0].time, last = slots[count - 1].time;

    if ((slots[0].flags & HR_SAMPLE_ASIDE) == 0)
        rules->samples += count;
    if ((intervals & WRAPPING_BITS) != 0 || last < first) /* they are not in order */
        for (uint32_t i = 0; i < count; i++) {
            first = slots[i].time < first ? slots[i].time : first;
            last = slots[i].time > last ? slots[i].time : last;
        }
    note(rules, first, last, last);
}

void trace_rules_hits(struct trace_rules *rules, const struct trace_hit *hits, uint32_t count,
                      uint64_t intervals)
{
    uint64_t first = hits[0].time, last = hits[count - 1].time;

    if ((intervals & WRAPPING_BITS) != 0 || last < first) /* they are not in order */
        for (uint32_t i = 0; i < count; i++) {
            first = hits[i].time < first ? hits[i].time : first;
            last = hits[i].time > last ? hits[i].time : last;
        }
    note(rules, first, last, last);
}

static bool times_agree(const struct trace_rules *rules, const struct hr_chunk_header *header)
{
    if (!rules->timed)
        return rules->foreign || (header->time_first == 0 && header->time_last == 0);
    if (rules->foreign)
        return header->time_first <= rules->first && header->time_last >= rules->last;
    return header->time_first == rules->first && header->time_last >= rules->last &&
           header->time_last <= rules->last_end;
}

enum trace_status trace_rules_end(const struct trace_rules *rules,
                                  const struct hr_chunk_header *header)
{
    bool data = header->type == HR_CHUNK_DATA;

    if (rules->records != header->record_count)
        return TRACE_BAD_HEADER;
    if (data && (rules->samples != header->sample_count || rules->lost != header->lost_count))
        return TRACE_BAD_HEADER;
    if ((data || header->type == HR_CHUNK_END) && !times_agree(rules, header))
        return TRACE_BAD_HEADER;
    return TRACE_OK;
}
