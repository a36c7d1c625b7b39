/* Reads the call stacks of runs of samples. */
#include "host/scan/stack_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stack_reader_free(struct stack_reader *reader)
{
    free(reader->chains.frames);
    free(reader->translated);
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
    if (reader->translated == NULL)
        reader->translated = malloc(HR_STACK_NODES_MAX * sizeof reader->translated[0]);
    if (reader->chains.frames == NULL || reader->translated == NULL) {
        *error = -ENOMEM;
        return false;
    }
    trace_chains_decoder_begin(&reader->chains, reader->chains.frames);
    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        reader->translated[i] = i;
    reader->translated_count = HR_STACK_ROOTS;
    return true;
}

enum trace_status stack_reader_nodes(struct stack_reader *reader, const struct trace_record *record,
                                     int *error)
{
    if (!begin_chains(reader, error))
        return TRACE_BAD_RECORD;
    return trace_chains_decoder_nodes(&reader->chains, record);
}

/* Parents have lower numbers. */
static void translate(struct stack_reader *reader, struct stacks *stacks)
{
    for (; reader->translated_count < reader->chains.count; reader->translated_count++) {
        const struct trace_chains_frame *frame = &reader->chains.frames[reader->translated_count];

        reader->translated[reader->translated_count] =
            stacks_child(stacks, reader->translated[frame->parent], frame->address);
    }
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
        translate(reader, run->stacks);
    for (uint32_t i = run->first; i < run->last; i++)
        reader->nodes[i] = run->stacks != NULL ? reader->translated[reader->nodes[i]]
                                               : reader->chains.frames[reader->nodes[i]].root;
    return TRACE_OK;
}

/* A sample in ring 0 has the registers of the entry into the kernel, with ring 3's ip in place of
 * rcx: that is its first frame. */
#define KERNEL_SAMPLE_IP 2

static uint32_t unwind(struct stack_reader *reader, const struct stack_reader_run *run, uint32_t i,
                       int *error)
{
    struct unwind_sample sample = {
        .ip = run->slots[i].ip,
        .stack = reader->copies->stack,
        .stack_bytes = reader->copies->stack_bytes,
    };

    bool kernel = (run->slots[i].flags & HR_SAMPLE_KERNEL) != 0;

    if (!reader->copies->taken)
        return HR_STACK_NONE;
    if (run->stacks == NULL)
        return HR_STACK_WHOLE;
    if (reader->unwind == NULL)
        *error = unwind_open(&reader->unwind, run->info, run->symbols);
    if (*error != 0)
        return HR_STACK_NONE;
    memcpy(sample.registers, reader->copies->registers, sizeof sample.registers);
    if (!kernel)
        return unwind_stack(reader->unwind, &sample, run->stacks);
    sample.ip = sample.registers[KERNEL_SAMPLE_IP];
    if (sample.ip == 0)
        return HR_STACK_BROKEN;
    return stacks_child(run->stacks, unwind_stack(reader->unwind, &sample, run->stacks),
                        sample.ip + 1);
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
