/* From ring slots to records that are no samples. */
#include "guest/trace/trace_record.h"

#include "guest/base/log.h"
#include "guest/trace/marks.h"

/* A record's fixed body, as the slot's words describe it; see guest/sample/sampler.h's users. */
union record_body {
    struct hr_rec_syscall syscall;
    struct hr_rec_switch switched;
    struct hr_rec_output output;
    struct hr_rec_gap gap;
    struct hr_rec_fault fault;
    struct hr_rec_period period;
    struct hr_rec_request request;
    struct hr_rec_wait wait;
    struct hr_rec_wake wake;
    struct hr_rec_mapping mapping;
    struct hr_rec_page_fault page_fault;
} __attribute__((packed, aligned(1))); /* in a chunk */

static uint32_t saturated(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint32_t put_syscall(const struct trace_slot *slot, union record_body *body)
{
    body->syscall = (struct hr_rec_syscall){.time = slot->time,
                                            .result = slot->ip,
                                            .duration_ticks = saturated(slot->counters[0]),
                                            .tid = slot->tid,
                                            .number = (uint32_t)slot->counters[1]};
    return sizeof body->syscall;
}

static uint32_t put_switched(const struct trace_slot *slot, union record_body *body)
{
    body->switched = (struct hr_rec_switch){.time = slot->time,
                                            .from_tid = (uint32_t)slot->counters[0],
                                            .to_tid = (uint32_t)slot->counters[1],
                                            .reason = (uint32_t)slot->counters[2],
                                            .waker_tid = (uint32_t)slot->counters[3]};
    return sizeof body->switched;
}

static uint32_t put_output(const struct trace_slot *slot, union record_body *body)
{
    body->output = (struct hr_rec_output){.time = slot->time,
                                          .offset = slot->counters[0],
                                          .bytes = (uint32_t)slot->counters[1],
                                          .stream = (uint32_t)slot->counters[2]};
    return sizeof body->output;
}

static uint32_t put_gap(const struct trace_slot *slot, union record_body *body)
{
    body->gap = (struct hr_rec_gap){.time_first = slot->time,
                                    .time_last = slot->counters[0],
                                    .reason = (uint32_t)slot->counters[1],
                                    .tid = slot->tid};
    return sizeof body->gap;
}

static uint32_t put_fault(const struct trace_slot *slot, union record_body *body)
{
    body->fault = (struct hr_rec_fault){.time = slot->time,
                                        .ip = slot->ip,
                                        .address = slot->counters[0],
                                        .vector = (uint32_t)slot->counters[1],
                                        .error = (uint32_t)slot->counters[2],
                                        .signal = (uint32_t)slot->counters[3],
                                        .tid = slot->tid};
    return sizeof body->fault;
}

static uint32_t put_period(const struct trace_slot *slot, union record_body *body)
{
    body->period = (struct hr_rec_period){.time = slot->time, .period = slot->counters[0]};
    return sizeof body->period;
}

static uint32_t put_request(const struct trace_slot *slot, union record_body *body)
{
    body->request = (struct hr_rec_request){.time = slot->time,
                                            .request = slot->ip,
                                            .tid = slot->tid,
                                            .kind = (uint32_t)slot->counters[0]};
    return sizeof body->request;
}

static uint32_t put_wait(const struct trace_slot *slot, union record_body *body)
{
    body->wait = (struct hr_rec_wait){.time = slot->time,
                                      .address = slot->ip,
                                      .tid = slot->tid,
                                      .number = (uint32_t)slot->counters[0],
                                      .operation = (uint32_t)slot->counters[1],
                                      .joins = (uint32_t)slot->counters[2]};
    return sizeof body->wait;
}

static uint32_t put_wake(const struct trace_slot *slot, union record_body *body)
{
    body->wake = (struct hr_rec_wake){.time = slot->time, .woken = slot->ip, .tid = slot->tid};
    return sizeof body->wake;
}

static uint32_t put_mapping(const struct trace_slot *slot, union record_body *body)
{
    body->mapping = (struct hr_rec_mapping){.time = slot->time,
                                            .address = slot->ip,
                                            .bytes = slot->counters[0],
                                            .old_address = slot->counters[1],
                                            .old_bytes = slot->counters[2],
                                            .tid = slot->tid,
                                            .kind = (uint32_t)slot->counters[3],
                                            .flags = (uint32_t)(slot->counters[3] >> 32),
                                            .protection = (uint32_t)slot->counters[4]};
    return sizeof body->mapping;
}

static uint32_t put_page_fault(const struct trace_slot *slot, union record_body *body)
{
    body->page_fault = (struct hr_rec_page_fault){.time = slot->time,
                                                  .address = slot->counters[0],
                                                  .ip = slot->ip,
                                                  .tid = slot->tid,
                                                  .bytes = (uint32_t)slot->counters[1],
                                                  .flags = (uint32_t)slot->counters[2]};
    return sizeof body->page_fault;
}

/* By kind of the slot; they return the body's bytes. */
static uint32_t (*const put[UINT8_MAX + 1])(const struct trace_slot *slot,
                                            union record_body *body) = {
    [HR_REC_SYSCALL] = put_syscall,
    [HR_REC_SWITCH] = put_switched,
    [HR_REC_OUTPUT] = put_output,
    [HR_REC_GAP] = put_gap,
    [HR_REC_FAULT] = put_fault,
    [HR_REC_PERIOD] = put_period,
    [HR_REC_REQUEST] = put_request,
    [HR_REC_WAIT] = put_wait,
    [HR_REC_WAKE] = put_wake,
    [HR_REC_MAPPING] = put_mapping,
    [HR_REC_PAGE_FAULT] = put_page_fault,
};

static int write_mark(struct trace_writer *w, const struct trace_slot *slot)
{
    const struct hr_rec_mark mark = {.time = slot->time, .tid = slot->tid};
    uint32_t bytes;
    const char *text = marks_text(slot->counters[0], &bytes);

    return trace_writer_record(w, HR_REC_MARK, slot->time, &mark, sizeof mark, text, bytes);
}

/* The runs are in the slot's counters, and their bytes in its cost. */
static int write_pages(struct trace_writer *w, const struct trace_slot *slot)
{
    const struct hr_rec_pages pages = {.time = slot->time, .address = slot->ip, .pid = slot->tid};

    return trace_writer_record(w, HR_REC_PAGES, slot->time, &pages, sizeof pages, slot->counters,
                               slot->cost_ticks);
}

/* Where a run of samples ends, or the chunk may be full. */
static __attribute__((noinline)) int write_aside(struct trace_writer *w,
                                                 const struct trace_slot *slot)
{
    union record_body body;
    uint32_t bytes = put[slot->kind](slot, &body);

    return trace_writer_record(w, slot->kind, slot->time, &body, bytes, NULL, 0);
}

int trace_record_write(struct trace_writer *w, const struct trace_slot *slot)
{
    uint32_t (*fill)(const struct trace_slot *slot, union record_body *body) = put[slot->kind];

    if (__builtin_expect(fill != NULL, 1)) {
        union record_body *at = (union record_body *)trace_writer_body(w, sizeof *at);

        if (__builtin_expect(at == NULL, 0))
            return write_aside(w, slot);
        trace_writer_add_body(w, slot->kind, slot->time, fill(slot, at));
        return 0;
    }
    if (slot->kind == HR_REC_LOST) {
        const struct hr_rec_lost lost = {
            .time_first = slot->time, .time_last = slot->ip, .count = slot->counters[0]};
        return trace_writer_lost(w, &lost);
    }
    if (slot->kind == HR_REC_MARK)
        return write_mark(w, slot);
    if (slot->kind == HR_REC_PAGES)
        return write_pages(w, slot);
    panic("a ring holds a slot of kind %u", slot->kind);
}
