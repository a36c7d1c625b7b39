/* Gathers the runs of touched pages. */
#include "host/memory/pages/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/trace/trace_looks.h"
#include "lib/trace/trace_pages.h"

#define COLD_SHARE 10u

const uint32_t memory_window[MEMORY_WINDOWS] = {1, 10, 100};

int memory_init(struct memory *memory, const struct trace_scan *scan)
{
    *memory = (struct memory){.info = &scan->info, .selection = &scan->selection};
    return 0;
}

void memory_free(struct memory *memory)
{
    free(memory->runs);
    free(memory->looks);
    free(memory->pages);
    free(memory->ranges);
    free(memory->faults);
    free(memory->touchers);
    *memory = (struct memory){0};
}

uint64_t memory_look_ns(const struct memory *memory, uint32_t look)
{
    return (look + 1ull) * memory->interval_ns;
}

bool memory_is_cold(const struct memory *memory, uint32_t last)
{
    return last < memory->look_count - memory->look_count / COLD_SHARE;
}

/* Learns the interval from the metadata, which precedes all data. */
static bool has_looks(struct memory *memory)
{
    if (memory->interval_ns == 0)
        memory->interval_ns = trace_looks_interval(memory->info);
    return memory->interval_ns != 0;
}

/* Returns 0, or -ENOMEM. */
static int add_run(struct memory *memory, const struct trace_pages_run *run, uint64_t ns,
                   uint32_t pid)
{
    uint64_t look = trace_look(ns, memory->interval_ns);

    if (look >= TRACE_LOOKS_MAX || run->pages > TRACE_LOOKS_PAGES_MAX) {
        memory->ignored++;
        return 0;
    }
    if (array_grow(&memory->runs, memory->run_count, sizeof memory->runs[0]) != 0)
        return -ENOMEM;
    memory->runs[memory->run_count++] = (struct memory_run){.address = run->address,
                                                            .pages = run->pages,
                                                            .look = (uint32_t)look,
                                                            .pid = pid,
                                                            .flags = run->flags};
    return 0;
}

static int take_pages(struct memory *memory, const struct trace_record *record)
{
    struct trace_pages_reader reader;
    struct trace_pages_run run;
    struct hr_rec_pages head;
    const uint8_t *tail;
    size_t bytes;
    uint64_t ns;
    int next, error = 0;

    if (!trace_body(record, &head, sizeof head, &tail, &bytes) || !has_looks(memory))
        return 0;
    ns = trace_info_time_ns(memory->info, head.time);
    if (ns < memory->selection->from_ns || ns > memory->selection->to_ns ||
        !selection_has_pid(memory->selection, head.pid))
        return 0;
    trace_pages_open(&reader, head.address, tail, (uint32_t)bytes);
    while ((next = trace_pages_next(&reader, &run)) > 0 && error == 0)
        error = add_run(memory, &run, ns, head.pid);
    memory->ignored += next < 0;
    return error;
}

static int take_fault(struct memory *memory, const struct trace_record *record)
{
    const struct trace_processes *processes = &memory->info->processes;
    struct hr_rec_page_fault fault;
    uint64_t ns;
    uint32_t pid;

    if (!trace_body(record, &fault, sizeof fault, NULL, NULL))
        return 0;
    ns = trace_info_time_ns(memory->info, fault.time);
    pid = trace_processes_pid(processes, fault.tid, fault.time);
    if (ns < memory->selection->from_ns || ns > memory->selection->to_ns ||
        !selection_has_pid(memory->selection, pid))
        return 0;
    if (array_grow(&memory->faults, memory->fault_count, sizeof memory->faults[0]) != 0)
        return -ENOMEM;
    memory->faults[memory->fault_count++] = (struct memory_fault){
        .address = fault.address,
        .ip = trace_processes_address(processes, fault.tid, fault.time, fault.ip),
        .ns = ns,
        .pid = pid,
        .bytes = fault.bytes,
        .written = fault.flags & HR_PAGE_FAULT_WRITE,
    };
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct memory *memory = context;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (record->type == HR_REC_PAGES)
        return take_pages(memory, record);
    return record->type == HR_REC_PAGE_FAULT ? take_fault(memory, record) : 0;
}

const struct trace_visitor memory_visitor = {.record = take_record};

static int by_look(const void *a, const void *b)
{
    const struct memory_run *x = a, *y = b;

    if (x->look != y->look)
        return x->look < y->look ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->flags > y->flags ? -1 : x->flags < y->flags;
}

int memory_finish(struct memory *memory, struct symbols *symbols)
{
    const struct trace_info *info = memory->info;
    uint64_t end_ns;
    int error;

    if (memory->run_count == 0)
        return -ENODATA;
    qsort(memory->runs, memory->run_count, sizeof memory->runs[0], by_look);
    memory->look_count = memory->runs[memory->run_count - 1].look + 1;
    end_ns = info->has_exit ? trace_info_time_ns(info, info->exit.time) : 0;
    if (end_ns > memory->selection->to_ns)
        end_ns = memory->selection->to_ns;
    end_ns = (end_ns + memory->interval_ns - 1) / memory->interval_ns;
    if (end_ns > memory->look_count && end_ns <= TRACE_LOOKS_MAX)
        memory->look_count = (uint32_t)end_ns;
    memory->looks = calloc(memory->look_count, sizeof memory->looks[0]);
    if (memory->looks == NULL)
        return -ENOMEM;
    error = memory_pages_make(memory);
    if (error == 0)
        error = memory_ranges_make(memory, symbols);
    return error != 0 ? error : memory_touchers_make(memory, symbols);
}
