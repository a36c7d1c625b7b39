/* Reads the call stacks of runs of samples. */
#include "host/scan/stack_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_made.h"

#define NO_SPACE UINT32_MAX /* addresses stay as they are */

void stack_reader_free(struct stack_reader *reader)
{
    free(reader->chains.frames);
    for (uint32_t i = 0; i < STACK_READER_SPACES; i++)
        free(reader->translations[i].nodes);
    free(reader->copies);
    if (reader->unwind != NULL)
        unwind_close(reader->unwind);
    memset(reader, 0, sizeof *reader);
}

void stack_reader_begin(struct stack_reader *reader)
{
    reader->chains.count = 0; /* begins when a record needs it */
    reader->copies_begun = false;
}

static bool begin_chains(struct stack_reader *reader, int *error)
{
    if (reader->chains.count != 0)
        return true;
    if (reader->chains.frames == NULL)
        reader->chains.frames = malloc(HR_STACK_NODES_MAX * sizeof reader->chains.frames[0]);
    if (reader->chains.frames == NULL) {
        *error = -ENOMEM;
        return false;
    }
    trace_chains_decoder_begin(&reader->chains, reader->chains.frames);
    for (uint32_t i = 0; i < STACK_READER_SPACES; i++)
        reader->translations[i].count = 0;
    return true;
}

enum trace_status stack_reader_nodes(struct stack_reader *reader, const struct trace_record *record,
                                     int *error)
{
    if (!begin_chains(reader, error))
        return TRACE_BAD_RECORD;
    return trace_chains_decoder_nodes(&reader->chains, record);
}

/* Finds the translation of an address space, or begins it.  NULL without memory. */
static struct stack_reader_translation *translation_of(struct stack_reader *reader, uint32_t space)
{
    struct stack_reader_translation *t;

    for (uint32_t i = 0; i < STACK_READER_SPACES; i++)
        if (reader->translations[i].count != 0 && reader->translations[i].space == space)
            return &reader->translations[i];
    t = &reader->translations[reader->next_translation++ % STACK_READER_SPACES];
    if (t->nodes == NULL)
        t->nodes = malloc(HR_STACK_NODES_MAX * sizeof t->nodes[0]);
    if (t->nodes == NULL)
        return NULL;
    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        t->nodes[i] = i;
    t->count = HR_STACK_ROOTS;
    t->space = space;
    return t;
}

/* A return address is just after the code that it is about. */
static uint64_t common_frame(const struct stack_reader_run *run, uint32_t space, uint64_t address)
{
    uint64_t common;

    if (space == NO_SPACE || address == 0)
        return address;
    common = trace_spaces_common(&run->info->processes.spaces, space, address - 1);
    return (run->names ? trace_made_address(run->info, space, common, UINT64_MAX) : common) + 1;
}

/* Parents have lower numbers. */
static void translate(const struct stack_reader *reader, const struct stack_reader_run *run,
                      struct stack_reader_translation *t)
{
    for (; t->count < reader->chains.count; t->count++) {
        const struct trace_chains_frame *frame = &reader->chains.frames[t->count];

        t->nodes[t->count] = stacks_child(run->stacks, t->nodes[frame->parent],
                                          common_frame(run, t->space, frame->address));
    }
}

/* The address space of a sample, and until when it is that of its run. */
static uint32_t space_of(const struct stack_reader_run *run, uint32_t i, uint64_t *until)
{
    const struct trace_processes *processes = &run->info->processes;
    const struct trace_slot *slot = &run->slots[i];

    *until = UINT64_MAX;
    if (!trace_processes_any(processes))
        return NO_SPACE;
    return trace_processes_space(processes, trace_processes_of(processes, slot->tid, slot->time),
                                 slot->time, until);
}

/* The address space whose addresses differ from what is wanted. */
static uint32_t space_to_translate(const struct stack_reader_run *run, uint32_t i, uint64_t *until)
{
    uint32_t space = space_of(run, i, until);

    if (run->own_addresses)
        *until = UINT64_MAX;
    return space == NO_SPACE || run->own_addresses ||
                   trace_spaces_plain(&run->info->processes.spaces, space)
               ? NO_SPACE
               : space;
}

/* Replaces the selected samples' nodes of the chunk by those of the tree. */
static int translate_run(struct stack_reader *reader, const struct stack_reader_run *run)
{
    struct stack_reader_translation *t = NULL;
    uint64_t until = 0;

    for (uint32_t i = run->first; i < run->last; i++) {
        if (t == NULL || run->slots[i].time >= until) {
            t = translation_of(reader, space_to_translate(run, i, &until));
            if (t == NULL)
                return -ENOMEM;
            translate(reader, run, t);
        }
        reader->nodes[i] = t->nodes[reader->nodes[i]];
    }
    return 0;
}

static enum trace_status read_chains(struct stack_reader *reader,
                                     const struct stack_reader_run *run,
                                     const struct trace_record *record, int *error)
{
    enum trace_status status;

    if (!begin_chains(reader, error))
        return TRACE_BAD_RECORD;
    status = trace_chains_decoder_stacks(&reader->chains, record, reader->nodes, run->count);
    if (status != TRACE_OK)
        return status;
    if (run->stacks != NULL)
        *error = translate_run(reader, run);
    for (uint32_t i = run->first; i < run->last && run->stacks == NULL; i++)
        reader->nodes[i] = reader->chains.frames[reader->nodes[i]].root;
    return *error == 0 ? TRACE_OK : TRACE_BAD_RECORD;
}

/* What the place of rcx may hold instead: the ip of ring 3 where the sample's is another one. */
#define OTHER_IP 2

/* A sample in ring 0 has the registers of the entry into the kernel: that is its first frame. */
static uint32_t unwind_entry(struct stack_reader *reader, const struct stack_reader_run *run,
                             const struct unwind_sample *sample)
{
    if (sample->ip == 0)
        return HR_STACK_BROKEN;
    return stacks_child(
        run->stacks, unwind_stack(reader->unwind, sample, run->stacks),
        common_frame(run, run->own_addresses ? NO_SPACE : sample->space, sample->ip + 1));
}

static uint32_t unwind(struct stack_reader *reader, const struct stack_reader_run *run, uint32_t i,
                       int *error)
{
    const struct trace_slot *slot = &run->slots[i];
    bool kernel = (slot->flags & HR_SAMPLE_KERNEL) != 0;
    bool later = (run->info->accesses.flags & HR_ACCESSES_LATER) != 0 &&
                 (slot->flags & HR_SAMPLE_ASIDE) == 0;
    struct unwind_sample sample = {
        .ip = slot->ip,
        .stack = reader->copies->stack,
        .stack_bytes = reader->copies->stack_bytes,
    };
    uint64_t until;

    if (!reader->copies->taken)
        return HR_STACK_NONE;
    if (run->stacks == NULL)
        return HR_STACK_WHOLE;
    if (reader->unwind == NULL)
        *error = unwind_open(&reader->unwind, run->info, run->symbols);
    if (*error != 0)
        return HR_STACK_NONE;
    memcpy(sample.registers, reader->copies->registers, sizeof sample.registers);
    sample.space = space_of(run, i, &until);
    sample.own_addresses = run->own_addresses;
    if (!kernel && !later)
        return unwind_stack(reader->unwind, &sample, run->stacks);
    sample.ip = sample.registers[OTHER_IP];
    return kernel ? unwind_entry(reader, run, &sample)
                  : unwind_stack_after(reader->unwind, &sample, slot->ip, run->stacks);
}

static enum trace_status read_copies(struct stack_reader *reader,
                                     const struct stack_reader_run *run,
                                     const struct trace_record *record, int *error)
{
    if (reader->copies == NULL)
        reader->copies = malloc(sizeof *reader->copies);
    if (reader->copies == NULL) {
        *error = -ENOMEM;
        return TRACE_BAD_RECORD;
    }
    if (!reader->copies_begun)
        trace_copies_decoder_begin(reader->copies);
    reader->copies_begun = true;
    trace_copies_decoder_record(reader->copies, record);
    for (uint32_t i = 0; i < run->count && *error == 0; i++) {
        if (trace_copies_decoder_next(reader->copies) != TRACE_OK)
            return TRACE_BAD_RECORD;
        if (i >= run->first && i < run->last)
            reader->nodes[i] = unwind(reader, run, i, error);
    }
    return *error == 0 && reader->copies->at != reader->copies->end ? TRACE_BAD_RECORD : TRACE_OK;
}

enum trace_status stack_reader_run(struct stack_reader *reader, const struct stack_reader_run *run,
                                   struct trace_cursor *cursor, bool *any, int *error)
{
    enum trace_status status = TRACE_OK;
    struct trace_cursor next = *cursor;
    struct trace_record record;

    *any = false;
    memset(reader->nodes, 0, run->count * sizeof reader->nodes[0]); /* HR_STACK_NONE */
    while (status == TRACE_OK && !*any && trace_next(&next, &record) == TRACE_OK) {
        if (record.type == HR_REC_STACK_NODES) {
            status = stack_reader_nodes(reader, &record, error);
        } else if (record.type == HR_REC_STACKS) {
            *any = true;
            status = read_chains(reader, run, &record, error);
        } else if (record.type == HR_REC_USER_STACKS) {
            *any = true;
            status = read_copies(reader, run, &record, error);
        } else {
            break;
        }
        *cursor = next;
    }
    return status;
}
