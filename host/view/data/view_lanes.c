/* Gathers spans of time from a trace's records. */
#include "host/view/data/view_lanes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/view/data/view_processes.h"
#include "lib/program/syscall_names.h"

#define SHIFT_FIRST 4u
#define MARK_BYTES 512u /* longer texts are cut */

int view_lanes_init(struct view_lanes *lanes, struct view_blocks *groups)
{
    memset(lanes, 0, sizeof *lanes);
    lanes->groups = groups;
    lanes->cell_shift = SHIFT_FIRST;
    lanes->calls.shift = SHIFT_FIRST;
    lanes->marks = json_array();
    lanes->run_cells = calloc((size_t)VIEW_GROUPS_MAX * VIEW_CELLS, sizeof(uint64_t));
    for (uint32_t i = 0; i < VIEW_LANES; i++) {
        lanes->spans[i].all = calloc(VIEW_SPANS_MAX, sizeof(struct view_span));
        if (lanes->spans[i].all == NULL)
            break;
    }
    if (lanes->marks == NULL || lanes->run_cells == NULL ||
        lanes->spans[VIEW_LANES - 1].all == NULL) {
        view_lanes_free(lanes);
        return -ENOMEM;
    }
    return 0;
}

void view_lanes_free(struct view_lanes *lanes)
{
    json_decref(lanes->marks);
    free(lanes->run_cells);
    view_cells_free(&lanes->calls);
    for (uint32_t i = 0; i < VIEW_LANES; i++)
        free(lanes->spans[i].all);
    memset(lanes, 0, sizeof *lanes);
}

static uint64_t since_start(const struct view_lanes *lanes, uint64_t time)
{
    return time <= lanes->start ? 0 : (time - lanes->start) & VIEW_TICKS_MASK;
}

/* Makes cells wide enough for a time.  Those of groups to come are not touched: most never come. */
static void reach(struct view_lanes *lanes, uint64_t time)
{
    unsigned by = view_cells_reach(&lanes->cell_shift, time);

    for (uint32_t g = 0; by != 0 && g < lanes->groups->group_count; g++)
        view_cells_fold(lanes->run_cells + (size_t)g * VIEW_CELLS, by);
}

/* Drops the shorter half of what is kept, about. */
static void thin(struct view_spans *spans)
{
    while (spans->count > VIEW_SPANS_MAX / 2) {
        uint32_t kept = 0;

        spans->least = spans->least != 0 ? 2 * spans->least : 1;
        for (uint32_t i = 0; i < spans->count; i++)
            if (spans->all[i].last - spans->all[i].first >= spans->least)
                spans->all[kept++] = spans->all[i];
        spans->count = kept;
    }
}

static void add(struct view_lanes *lanes, enum view_lane lane, struct view_span span)
{
    struct view_spans *spans = &lanes->spans[lane];

    if (span.last < span.first)
        span.last = span.first;
    spans->seen++;
    spans->value_sum += span.value;
    if (span.last - span.first < spans->least)
        return;
    if (spans->count == VIEW_SPANS_MAX)
        thin(spans);
    spans->all[spans->count++] = span;
}

static struct view_lanes_cpu *find_cpu(struct view_lanes *lanes, uint16_t cpu)
{
    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        if (lanes->cpus[i].cpu == cpu)
            return &lanes->cpus[i];
    if (lanes->cpu_count == VIEW_LANES_CPUS_MAX)
        return NULL;
    lanes->cpus[lanes->cpu_count].cpu = cpu;
    return &lanes->cpus[lanes->cpu_count++];
}

/* Another thread runs on a CPU from `time` on. */
static void change(struct view_lanes *lanes, struct view_lanes_cpu *c, uint64_t time, uint32_t tid,
                   uint32_t reason)
{
    uint32_t group = 0;

    if (time < c->last)
        time = c->last; /* spans of one CPU do not overlap, whatever the trace says */
    if (c->tid != 0 && time > c->since) {
        group = view_blocks_group(lanes->groups, c->cpu, c->tid);
        add(lanes, VIEW_RUNS, (struct view_span){c->since, time, reason, group});
        reach(lanes, time);
        for (uint64_t at = c->since, end; at < time; at = end) {
            uint64_t cell = at >> lanes->cell_shift;

            end = (cell + 1) << lanes->cell_shift;
            if (end > time)
                end = time;
            lanes->run_cells[(size_t)group * VIEW_CELLS + cell] += end - at;
        }
    }
    c->tid = tid;
    c->since = time;
    c->last = time;
}

int view_lanes_samples(struct view_lanes *lanes, const struct trace_samples *samples)
{
    struct view_lanes_cpu *c = find_cpu(lanes, samples->chunk->cpu);
    uint64_t first = since_start(lanes, samples->slots[0].time);
    uint64_t last = since_start(lanes, samples->slots[samples->count - 1].time);

    if (c == NULL)
        return 0;
    if (c->tid != samples->slots[0].tid) /* no record of a switch told */
        change(lanes, c, first, samples->slots[0].tid, 0);
    if (last > c->last)
        c->last = last;
    return 0;
}

static int take_mark(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    char raw[MARK_BYTES], safe[MARK_BYTES * 2];
    struct hr_rec_mark mark;
    const uint8_t *tail;
    size_t bytes;

    if (!trace_body(record, &mark, sizeof mark, &tail, &bytes) ||
        lanes->mark_count++ >= VIEW_MARKS_MAX)
        return 0;
    if (bytes > sizeof raw - 1)
        bytes = sizeof raw - 1;
    memcpy(raw, tail, bytes);
    raw[bytes] = 0;
    text_escape(safe, sizeof safe, raw);
    return json_array_append_new(lanes->marks, json_pack("[I, i, I, s]",
                                                         (json_int_t)since_start(lanes, mark.time),
                                                         (int)cpu, (json_int_t)mark.tid, safe)) == 0
               ? 0
               : -ENOMEM;
}

static void take_switch(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    struct view_lanes_cpu *c = find_cpu(lanes, cpu);
    struct hr_rec_switch body;

    if (c != NULL && trace_body(record, &body, sizeof body, NULL, NULL))
        change(lanes, c, since_start(lanes, body.time), body.to_tid, body.reason);
}

static void take_gap(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    struct hr_rec_gap gap;

    if (trace_body(record, &gap, sizeof gap, NULL, NULL))
        add(lanes, VIEW_GAPS,
            (struct view_span){since_start(lanes, gap.time_first),
                               since_start(lanes, gap.time_last), gap.reason,
                               view_blocks_group(lanes->groups, cpu, gap.tid)});
}

static void take_lost(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    struct hr_rec_lost lost;

    if (trace_body(record, &lost, sizeof lost, NULL, NULL))
        add(lanes, VIEW_LOST,
            (struct view_span){since_start(lanes, lost.time_first),
                               since_start(lanes, lost.time_last), lost.count,
                               view_blocks_group(lanes->groups, cpu, 0)});
}

static int take_call(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    struct hr_rec_syscall call;
    uint64_t time;

    if (!trace_body(record, &call, sizeof call, NULL, NULL))
        return 0;
    time = since_start(lanes, call.time);
    add(lanes, VIEW_CALLS,
        (struct view_span){time, time + call.duration_ticks, call.number,
                           view_blocks_group(lanes->groups, cpu, call.tid)});
    return view_cells_add(&lanes->calls, time, call.number, 1);
}

static void take_output(struct view_lanes *lanes, uint16_t cpu, const struct trace_record *record)
{
    struct hr_rec_output output;
    uint64_t time;

    if (!trace_body(record, &output, sizeof output, NULL, NULL))
        return;
    time = since_start(lanes, output.time);
    add(lanes, VIEW_OUTPUTS,
        (struct view_span){time, time, output.bytes, view_blocks_group(lanes->groups, cpu, 0)});
}

int view_lanes_record(struct view_lanes *lanes, const struct hr_chunk_header *chunk,
                      const struct trace_record *record)
{
    static void (*const takers[256])(struct view_lanes *, uint16_t, const struct trace_record *) = {
        [HR_REC_SWITCH] = take_switch,
        [HR_REC_GAP] = take_gap,
        [HR_REC_LOST] = take_lost,
        [HR_REC_OUTPUT] = take_output,
    };
    struct view_lanes_cpu *c = find_cpu(lanes, chunk->cpu);

    if (c != NULL && since_start(lanes, chunk->time_last) > c->end)
        c->end = since_start(lanes, chunk->time_last);
    if (record->type == HR_REC_MARK)
        return take_mark(lanes, chunk->cpu, record);
    if (record->type == HR_REC_SYSCALL)
        return take_call(lanes, chunk->cpu, record);
    if (takers[record->type] != NULL)
        takers[record->type](lanes, chunk->cpu, record);
    return 0;
}

static void put_spans(const struct view_spans *spans, const char *name,
                      struct view_columns *columns)
{
    static const char *const fields[] = {"first", "length", "value", "group"};
    char text[32];

    for (uint32_t f = 0; f < 4; f++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < spans->count; i++) {
            const struct view_span *s = &spans->all[i];
            uint64_t values[] = {s->first, s->last - s->first, s->value, s->group};

            view_columns_put(columns, values[f]);
        }
        snprintf(text, sizeof text, "%s.%s", name, fields[f]);
        view_columns_end(columns, text);
    }
    view_columns_set(columns, name,
                     json_pack("{s:I, s:I, s:I}", "seen", (json_int_t)spans->seen, "least",
                               (json_int_t)spans->least, "sum",
                               (json_int_t)(spans->value_sum & INT64_MAX)));
}

/* The share of each cell that each group ran, 0 to 255. */
static void put_cells(const struct view_lanes *lanes, struct view_columns *columns)
{
    view_columns_begin(columns);
    for (size_t i = 0; i < (size_t)lanes->groups->group_count * VIEW_CELLS; i++)
        view_columns_put(columns, (uint64_t)ceil(ldexp((double)lanes->run_cells[i] * 255,
                                                       -(int)lanes->cell_shift)));
    view_columns_end(columns, "run_cells");
    view_cells_pack(&lanes->calls, "call_cells", columns);
    view_columns_set(columns, "cell_ticks", json_real(ldexp(1, (int)lanes->cell_shift)));
}

static void add_call_name(json_t *names, uint64_t call)
{
    const char *name = syscall_name(call);
    char number[16];

    snprintf(number, sizeof number, "%u", (uint32_t)call);
    if (name != NULL && json_object_get(names, number) == NULL)
        json_object_set_new(names, number, json_string(name));
}

/* The names of the system calls that the page may show. */
static json_t *call_names(const struct view_lanes *lanes)
{
    const struct view_spans *calls = &lanes->spans[VIEW_CALLS];
    json_t *names = json_object();

    for (uint32_t i = 0; i < calls->count; i++)
        add_call_name(names, calls->all[i].value);
    for (uint32_t i = 0; i < lanes->calls.kind_count; i++)
        add_call_name(names, lanes->calls.kinds[i]);
    return names;
}

/* [CPU, thread, number of its process] */
static json_t *groups_of(const struct view_blocks *groups, const struct trace_info *info)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < groups->group_count; i++) {
        const struct view_group *group = &groups->groups[i];

        json_array_append_new(
            array,
            json_pack("[I, I, I, I]", (json_int_t)group->cpu, (json_int_t)group->tid,
                      (json_int_t)trace_processes_of(&info->processes, group->tid, UINT64_MAX),
                      (json_int_t)group->object));
    }
    return array;
}

void view_lanes_pack(struct view_lanes *lanes, const struct trace_info *info,
                     struct view_columns *columns)
{
    static const char *const names[VIEW_LANES] = {"runs", "gaps", "lost", "calls", "outputs"};

    for (uint32_t i = 0; i < lanes->cpu_count; i++)
        change(lanes, &lanes->cpus[i], lanes->cpus[i].end, 0, HR_SWITCH_EXIT);
    for (uint32_t i = 0; i < VIEW_LANES; i++)
        put_spans(&lanes->spans[i], names[i], columns);
    put_cells(lanes, columns);
    view_columns_set(columns, "call_names", call_names(lanes));
    view_columns_set(columns, "groups", groups_of(lanes->groups, info));
    view_columns_set(columns, "processes", view_processes(info));
    view_columns_set(columns, "marks", json_incref(lanes->marks));
    view_columns_set(columns, "mark_count", json_integer((json_int_t)lanes->mark_count));
}
