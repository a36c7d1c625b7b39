/* Decodes chains of return addresses. */

#include "lib/trace/trace_chains.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/varint.h"

void trace_chains_decoder_begin(struct trace_chains_decoder *d, struct trace_chains_frame *frames)
{
    *d = (struct trace_chains_decoder){.frames = frames, .count = HR_STACK_ROOTS};
    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        frames[i] = (struct trace_chains_frame){.parent = i, .root = (uint16_t)i};
}

enum trace_status trace_chains_decoder_nodes(struct trace_chains_decoder *d,
                                             const struct trace_record *record)
{
    const uint8_t *at = record->body, *end = at + record->bytes;
    uint64_t address = d->frames[d->count - 1].address; /* 0 if there is no node yet */
    uint32_t count = d->count;

    while (at != end) {
        uint64_t distance, difference;
        const struct trace_chains_frame *parent;

        at = varint_get(at, end, &distance);
        if (at != NULL)
            at = varint_get(at, end, &difference);
        if (at == NULL || count == HR_STACK_NODES_MAX || distance == 0 || distance > count)
            return TRACE_BAD_RECORD;
        parent = &d->frames[count - distance];
        if (parent->depth == HR_STACK_FRAMES_MAX)
            return TRACE_BAD_RECORD;
        address += trace_code_unzigzag(difference);
        d->frames[count] = (struct trace_chains_frame){address, (uint32_t)(count - distance),
                                                       (uint16_t)(parent->depth + 1), parent->root};
        count++;
    }
    d->count = count;
    return TRACE_OK;
}

enum trace_status trace_chains_decoder_stacks(struct trace_chains_decoder *d,
                                              const struct trace_record *record, uint32_t *nodes,
                                              uint32_t count)
{
    const uint8_t *at = record->body, *end = at + record->bytes;
    uint64_t node = d->previous;

    for (uint32_t i = 0; i < count;) {
        uint64_t token, more = 0;

        at = varint_get(at, end, &token);
        if (at != NULL && (token & 1) != 0)
            at = varint_get(at, end, &more);
        if (at == NULL)
            return TRACE_BAD_RECORD;
        node += trace_code_unzigzag(token >> 1);
        if (node >= d->count || more >= count - i)
            return TRACE_BAD_RECORD;
        for (uint64_t n = 0; n <= more; n++)
            nodes[i++] = (uint32_t)node;
    }
    if (at != end)
        return TRACE_BAD_RECORD;
    d->previous = (uint32_t)node;
    return TRACE_OK;
}
