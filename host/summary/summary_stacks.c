/* Counts call stacks and prints statistics about them. */
#include "host/summary/summary_stacks.h"
#include "lib/trace/stack_kinds.h"

#include "host/base/json.h"
#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/summary/summary_sampling.h"

#define ROW SUMMARY_ROW

void summary_stacks_chunk(struct summary_stacks *s, const struct hr_chunk_header *header)
{
    s->samples += header->sample_count;
}

void summary_stacks_samples(struct summary_stacks *s, const struct trace_samples *samples)
{
    if (samples->stacks == NULL)
        return;
    for (uint32_t i = 0; i < samples->count; i++)
        s->roots[samples->stacks[i]]++;
}

void summary_stacks_record(struct summary_stacks *s, const struct trace_record *record)
{
    if (record->type >= HR_REC_STACK_NODES && record->type <= HR_REC_USER_STACKS)
        s->bytes += sizeof(struct hr_record_header) + record->bytes;
}

void summary_stacks_merge(struct summary_stacks *s, const struct summary_stacks *next)
{
    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        s->roots[i] += next->roots[i];
    s->bytes += next->bytes;
    s->samples += next->samples;
}

static void print_part(FILE *out, uint64_t count, const char *name, const char *words)
{
    char number[TEXT_QUANTITY_BYTES];

    if (count != 0)
        fprintf(out, ROW "%s\n", text_count(number, count), name, words);
}

void summary_stacks_print(FILE *out, const struct summary_stacks *s, const struct trace_info *info)
{
    uint64_t taken = s->roots[HR_STACK_WHOLE] + s->roots[HR_STACK_CUT] + s->roots[HR_STACK_BROKEN];
    char number[TEXT_QUANTITY_BYTES], limit[TEXT_QUANTITY_BYTES];

    if (!info->has_stacks)
        return;
    fprintf(out, ROW, text_count(number, taken), "call stacks");
    if (info->stacks.kind == HR_STACK_FP)
        fprintf(out, "by frame pointers, up to %s frames", text_count(limit, info->stacks.limit));
    else if (info->stacks.kind == HR_STACK_DWARF)
        fprintf(out, "to be unwound from copies of up to %s bytes",
                text_count(limit, info->stacks.limit));
    else if (info->stacks.kind == HR_STACK_PYTHON)
        fprintf(out, "of Python, up to %s frames", text_count(limit, info->stacks.limit));
    else
        fprintf(out, "of kind %u", info->stacks.kind);
    if (s->samples != 0)
        fprintf(out, "; %.2f bytes a sample", (double)s->bytes / (double)s->samples);
    putc('\n', out);
    print_part(out, s->roots[HR_STACK_CUT], "  cut", "they have more frames");
    print_part(out, s->roots[HR_STACK_BROKEN], "  broken",
               info->stacks.kind == HR_STACK_PYTHON
                   ? "the interpreter was changing them"
                   : "the next frame is none; -g dwarf needs no frame pointers");
    print_part(out, s->roots[HR_STACK_NONE], "  samples without",
               info->stacks.kind == HR_STACK_PYTHON ? "no Python ran in the thread"
                                                    : "no stack was taken");
}

json_t *summary_stacks_json(const struct summary_stacks *s, const struct trace_info *info)
{
    bool known = stack_kinds_chains(info->stacks.kind); /* else only unwinding shows how they end */
    const char *name = stack_kinds_name(info->stacks.kind);

    if (!info->has_stacks)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                     name != NULL ? json_string(name) : json_number(info->stacks.kind), "limit",
                     json_number(info->stacks.limit), "bytes", json_number(s->bytes), "cut",
                     known ? json_number(s->roots[HR_STACK_CUT]) : json_null(), "broken",
                     known ? json_number(s->roots[HR_STACK_BROKEN]) : json_null(), "none",
                     json_number(s->roots[HR_STACK_NONE]));
}
