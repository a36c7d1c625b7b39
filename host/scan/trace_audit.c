/* Tells what is damaged or missing in a trace from the chunks that came. */
#include "host/scan/trace_audit.h"

#include <errno.h>
#include <string.h>

#include "host/base/cpu_array.h"

int trace_audit_init(struct trace_audit *audit)
{
    memset(audit, 0, sizeof *audit);
    audit->cpus = cpu_array_new(sizeof audit->cpus[0]);
    return audit->cpus != NULL ? 0 : -ENOMEM;
}

void trace_audit_free(struct trace_audit *audit)
{
    cpu_array_free(audit->cpus, sizeof audit->cpus[0]);
    audit->cpus = NULL;
}

/* HOST and INDEX chunks are the collector's: they do not count in the guest's sequences. */
static bool from_guest(uint16_t type)
{
    return type == HR_CHUNK_META || type == HR_CHUNK_DATA || type == HR_CHUNK_END;
}

static bool from_newer_version(uint16_t type)
{
    return type == 0 || type > HR_CHUNK_INDEX;
}

static void note_missing(struct trace_audit *audit, uint16_t cpu, uint32_t end,
                         uint64_t time_before)
{
    struct trace_audit_cpu *c = &audit->cpus[cpu];

    if (audit->missing_spans < TRACE_AUDIT_SPANS)
        audit->missing[audit->missing_spans] = (struct trace_missing){
            .cpu = cpu,
            .first = c->next,
            .last = end - 1,
            .time_after = c->time_last,
            .time_before = time_before,
        };
    audit->missing_spans++;
    audit->missing_chunks += end - c->next;
    c->gaps = true;
}

/* Moves a CPU's sequence on; true when the chunk was the expected one. */
static bool advance(struct trace_audit *audit, const struct hr_chunk_header *header)
{
    struct trace_audit_cpu *c = &audit->cpus[header->cpu];
    bool expected = header->sequence == c->next;
    bool follows = expected && !c->broken;

    if (header->sequence < c->next) {
        audit->disordered_chunks++;
        return false;
    }
    if (!expected)
        note_missing(audit, header->cpu, header->sequence, header->time_first);
    c->next = header->sequence + 1;
    c->time_last = header->time_last;
    c->broken = false;
    return follows;
}

static void note_damage(struct trace_audit *audit, const struct trace_chunk *chunk,
                        enum trace_status status)
{
    if (audit->damage_count < TRACE_AUDIT_SPANS)
        audit->damage[audit->damage_count] = (struct trace_damage){
            .offset = chunk->offset,
            .bytes = chunk->bytes,
            .status = status,
            .has_header = chunk->has_header,
            .cpu = chunk->header.cpu,
            .type = chunk->header.type,
            .sequence = chunk->header.sequence,
            .samples = chunk->header.sample_count,
        };
    audit->damage_count++;
}

bool trace_audit_step(struct trace_audit *audit, int step, const struct trace_chunk *chunk)
{
    const struct hr_chunk_header *header = &chunk->header;

    if (step == TRACE_STEP_DAMAGE) {
        note_damage(audit, chunk, chunk->status);
        if (chunk->has_header && from_guest(header->type)) {
            advance(audit, header); /* known to be damaged: not also missing */
            audit->cpus[header->cpu].broken = audit->cpus[header->cpu].gaps = true;
        }
        return false;
    }
    audit->chunks++;
    audit->has_meta |= header->type == HR_CHUNK_META;
    audit->has_end |= header->type == HR_CHUNK_END;
    audit->has_host |= header->type == HR_CHUNK_HOST;
    if (header->type == HR_CHUNK_DATA) {
        audit->samples += header->sample_count;
        audit->lost += header->lost_count;
        audit->cpus[header->cpu].samples += header->sample_count;
        audit->cpus[header->cpu].lost += header->lost_count;
        audit->cpus[header->cpu].data = true;
        if (header->cpu >= audit->cpus_end)
            audit->cpus_end = header->cpu + 1u;
    }
    /* We cannot know whether a chunk of a newer version counts in a sequence: it may. */
    if (from_newer_version(header->type) && header->sequence == audit->cpus[header->cpu].next)
        advance(audit, header);
    return from_guest(header->type) ? advance(audit, header) : true;
}

void trace_audit_undecodable(struct trace_audit *audit, const struct trace_chunk *chunk,
                             enum trace_status status)
{
    note_damage(audit, chunk, status);
    audit->cpus[chunk->header.cpu].broken = audit->cpus[chunk->header.cpu].gaps = true;
}

/* The guest's account of a CPU. */
static void compare(struct trace_audit *audit, const struct hr_rec_stream *stream)
{
    struct trace_audit_cpu *c = &audit->cpus[stream->cpu];

    audit->contradictions += c->listed; /* there is one account of each */
    c->listed = true;
    if (stream->chunks > c->next) {
        note_missing(audit, stream->cpu, stream->chunks, 0);
        c->next = stream->chunks;
    }
    if (stream->samples > c->samples)
        audit->gone += stream->samples - c->samples;
    if (!c->gaps &&
        (stream->samples != c->samples || stream->lost != c->lost || stream->chunks != c->next))
        audit->contradictions++;
}

void trace_audit_finish(struct trace_audit *audit, const struct trace_info *info)
{
    for (size_t i = 0; i < info->stream_count; i++)
        compare(audit, &info->streams[i]);
    /* Without sampling metadata, the number of events of samples was taken on trust. */
    audit->has_meta &= audit->samples == 0 || info->has_sampling;
    /* An account that is missing hides chunks that are. */
    if (audit->has_end && audit->damage_count == 0 && info->stream_count < TRACE_INFO_STREAMS_MAX)
        for (uint32_t cpu = 0; cpu < audit->cpus_end; cpu++)
            audit->contradictions += audit->cpus[cpu].data && !audit->cpus[cpu].listed;
}

bool trace_audit_complete(const struct trace_audit *audit)
{
    return audit->has_meta && audit->has_end && audit->damage_count == 0 &&
           audit->missing_spans == 0 && audit->disordered_chunks == 0 && audit->gone == 0 &&
           audit->contradictions == 0;
}
