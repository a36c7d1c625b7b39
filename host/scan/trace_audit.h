/* Keeps account of what a reader has seen of a trace and what it has not.
 *
 * Fed with every step of trace_file_next; afterwards it knows which stretches were damaged, which
 * sequence numbers never came and how many samples are known to be gone.  Constant memory: the
 * first TRACE_AUDIT_SPANS of each kind are kept, all are counted.  Never prints.
 */
#pragma once

#include "host/trace/trace_file.h"
#include "host/trace/trace_info.h"

#define TRACE_AUDIT_SPANS 64

struct trace_damage {
    uint64_t offset;
    uint64_t bytes;
    enum trace_status status;
    bool has_header; /* the next four are known */
    uint16_t cpu;
    uint16_t type;
    uint32_t sequence;
    uint32_t samples; /* that the chunk claims to hold */
};

struct trace_missing { /* chunks of one CPU that never came */
    uint16_t cpu;
    uint32_t first; /* sequence numbers, inclusive */
    uint32_t last;
    uint64_t time_after; /* of the last record seen before, 0 if none */
    uint64_t time_before; /* of the first record seen after, 0 if none */
};

struct trace_audit_cpu {
    uint32_t next; /* sequence number expected next */
    bool broken; /* the last chunk is damaged: the next one does not follow on it */
    bool gaps; /* chunks of it are missing or damaged */
    bool data; /* it has DATA chunks */
    bool listed; /* the END chunk has an account of it */
    uint64_t time_last;
    uint64_t samples;
    uint64_t lost;
};

struct trace_audit {
    struct trace_damage damage[TRACE_AUDIT_SPANS];
    uint64_t damage_count;
    struct trace_missing missing[TRACE_AUDIT_SPANS];
    uint64_t missing_spans;
    uint64_t missing_chunks;
    uint64_t disordered_chunks; /* sequence numbers that came twice or late */
    uint64_t chunks;
    uint64_t samples;
    uint64_t lost; /* samples the guest counted as dropped, in the chunks that came */
    uint64_t gone; /* samples that the guest sent and that never came; without END chunk 0 */
    uint64_t contradictions; /* CPUs of which no chunk is missing and that the END chunk accounts
                                for otherwise */
    bool has_meta;
    bool has_end;
    bool has_host;
    uint32_t cpus_end; /* CPUs from here on have no DATA chunks */
    struct trace_audit_cpu *cpus; /* 65536, untouched pages cost nothing; owned */
};

/* 0 or -ENOMEM. */
int trace_audit_init(struct trace_audit *audit);
void trace_audit_free(struct trace_audit *audit);

/* Accounts for one chunk or damaged stretch.  True when the chunk follows directly on the last
 * one seen of its CPU; false after missing or damaged ones. */
bool trace_audit_step(struct trace_audit *audit, int step, const struct trace_chunk *chunk);

/* Accounts for a chunk with good checksums whose records do not decode. */
void trace_audit_undecodable(struct trace_audit *audit, const struct trace_chunk *chunk,
                             enum trace_status status);

/* At the end: compares with the guest's own account, if the END chunk came. */
void trace_audit_finish(struct trace_audit *audit, const struct trace_info *info);

/* The guest's whole stream came, undamaged, up to its END chunk. */
bool trace_audit_complete(const struct trace_audit *audit);
