/* The trace (hr.bin) on the wire.  docs/format.md is the norm; this header implements it.
 *
 * All integers are little-endian.  Every struct is naturally aligned with explicit padding that
 * is written as zero and ignored by readers.  A file is one hr_file_header and then chunks; a
 * chunk is one hr_chunk_header and a payload of records; a record is one hr_record_header and a
 * body.  Readers skip record and chunk types that they do not know.
 *
 * Bodies of records are in hr_format_meta.h (META chunks), hr_format_data.h (DATA),
 * hr_format_probes.h (both, with --probe) and hr_format_end.h (END and HOST), which this header
 * includes.
 */
#ifndef INCLUDE_HR_FORMAT_H
#define INCLUDE_HR_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define HR_FILE_MAGIC "\x89hrbin\r\n" /* eight bytes; detects text-mode damage, as PNG's does */
#define HR_VERSION_MAJOR 1 /* readers refuse another major version */
#define HR_VERSION_MINOR 12 /* readers accept any minor version */

struct hr_file_header {
    uint8_t magic[8];
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t header_bytes; /* offset of the first chunk; at least sizeof this struct */
    uint32_t reserved[11];
    uint32_t crc; /* CRC32C of the bytes before this field */
};
_Static_assert(sizeof(struct hr_file_header) == 64, "hr_file_header");
_Static_assert(offsetof(struct hr_file_header, header_bytes) == 12, "header_bytes");
_Static_assert(offsetof(struct hr_file_header, crc) == 60, "crc");

#define HR_CHUNK_MAGIC 0x4b435248u /* "HRCK" */
#define HR_CHUNK_PAYLOAD_MAX (1u << 20) /* a reader treats a larger payload as damage */
#define HR_CPU_NONE 0xffffu /* the chunk belongs to no CPU */

enum hr_chunk_type {
    HR_CHUNK_META = 1, /* what the trace is about; the first chunk of every file */
    HR_CHUNK_DATA = 2, /* samples and other events of one CPU, in time order */
    HR_CHUNK_END = 3, /* the guest's last chunk: HR_REC_EXIT, HR_REC_TOTAL..., HR_REC_STREAM */
    HR_CHUNK_HOST = 4, /* added by the collector: how the run ended as seen from the host */
    HR_CHUNK_INDEX = 5, /* added by the collector: one hr_index_entry per chunk before it */
};

struct hr_chunk_header {
    uint32_t magic;
    uint16_t type; /* enum hr_chunk_type */
    uint16_t cpu; /* CPU number, or HR_CPU_NONE */
    uint32_t sequence; /* counts the guest's chunks of this CPU from 0; a gap is a loss */
    uint32_t payload_bytes; /* bytes after this header, at most HR_CHUNK_PAYLOAD_MAX */
    uint64_t time_first; /* time of the earliest record, in ticks (see HR_META_CLOCK) */
    uint64_t time_last; /* time of the latest record */
    uint32_t record_count; /* records in the payload, HR_REC_BASE included */
    uint32_t sample_count; /* samples in all sample runs of the payload, but HR_SAMPLE_ASIDE */
    uint64_t lost_count; /* sum over the HR_REC_LOST records of the payload */
    uint32_t reserved[2];
    uint32_t payload_crc; /* CRC32C of the payload */
    uint32_t header_crc; /* CRC32C of the bytes before this field */
};
_Static_assert(sizeof(struct hr_chunk_header) == 64, "hr_chunk_header");
_Static_assert(offsetof(struct hr_chunk_header, time_first) == 16, "time_first");
_Static_assert(offsetof(struct hr_chunk_header, record_count) == 32, "record_count");
_Static_assert(offsetof(struct hr_chunk_header, lost_count) == 40, "lost_count");
_Static_assert(offsetof(struct hr_chunk_header, payload_crc) == 56, "payload_crc");
_Static_assert(offsetof(struct hr_chunk_header, header_crc) == 60, "header_crc");

/* Records lie back to back; a body has `bytes` bytes and is not aligned. */
struct hr_record_header {
    uint8_t type; /* enum hr_record_type */
    uint8_t reserved;
    uint16_t bytes; /* of the body */
};
_Static_assert(sizeof(struct hr_record_header) == 4, "hr_record_header");

enum hr_record_type {
    /* in META chunks */
    HR_META_INFO = 1, /* key NUL value NUL (UTF-8 text); keys in docs/format.md */
    HR_META_CLOCK = 2, /* struct hr_meta_clock */
    HR_META_EVENT = 3, /* struct hr_meta_event, then the name (no NUL) */
    HR_META_SAMPLING = 4, /* struct hr_meta_sampling */
    HR_META_CALIBRATION = 5, /* struct hr_meta_calibration */
    HR_META_MAP = 6, /* struct hr_meta_map, then build-id, then path (no NUL) */
    HR_META_STACKS = 7, /* struct hr_meta_stacks: samples have call stacks */
    HR_META_ACCESSES = 8, /* struct hr_meta_accesses: samples are precise records of accesses */
    HR_REC_PROCESS = 47, /* struct hr_rec_process, then the program's path (no NUL) */
    HR_REC_THREAD = 48, /* struct hr_rec_thread */
    HR_REC_PROCESS_MAP = 49, /* struct hr_rec_process_map, then as HR_META_MAP */
    /* in DATA chunks */
    HR_REC_BASE = 32, /* struct hr_rec_base, then u64 counters[event_count]; first record */
    HR_REC_SAMPLES = 33, /* struct hr_rec_samples, then samples; field widths 0, 1, 2, 3 */
    HR_REC_SAMPLES_WIDE = 34, /* as HR_REC_SAMPLES, with field widths 0, 2, 4, 8 */
    HR_REC_LOST = 35, /* struct hr_rec_lost */
    HR_REC_SYSCALL = 36, /* struct hr_rec_syscall */
    HR_REC_SWITCH = 37, /* struct hr_rec_switch */
    HR_REC_OUTPUT = 38, /* struct hr_rec_output */
    HR_REC_MARK = 39, /* struct hr_rec_mark, then the text (no NUL) */
    HR_REC_GAP = 40, /* struct hr_rec_gap */
    HR_REC_FAULT = 41, /* struct hr_rec_fault */
    HR_REC_PERIOD = 42, /* struct hr_rec_period */
    HR_REC_STACK_NODES = 43, /* frames of call stacks, coded as docs/format.md says */
    HR_REC_STACKS = 44, /* the stacks of the run of samples before it */
    HR_REC_USER_STACKS = 45, /* those stacks as registers and copies of stack memory */
    HR_REC_SKIPPED = 46, /* struct hr_rec_skipped */
    /* in META chunks again: what has no file to find names in */
    HR_META_PYTHON_CODE = 50, /* struct hr_meta_python_code, then name, file, table of lines */
    HR_META_JIT_FILE = 83, /* struct hr_meta_jit_file, then the path (no NUL) */
    HR_META_THREAD_STACK = 85, /* struct hr_meta_thread_stack */
    HR_META_JIT_DATA = 84, /* struct hr_meta_jit_data, then bytes of the file */
    /* probes: the first three in META chunks, the others in DATA chunks */
    HR_META_PROBES = 51, /* struct hr_meta_probes: the trace may have the records below */
    HR_META_PROBE_FUNCTION = 52, /* struct hr_meta_probe_function, then name and path (no NUL) */
    HR_META_PROBE_POINTS = 53, /* struct hr_meta_probe_points, then struct hr_probe_point[count] */
    HR_META_CALLED = 58, /* struct hr_meta_called, in META chunks */
    HR_REC_PROBES = 54, /* struct hr_rec_probes, then hits; field widths 0, 1, 2, 3 */
    HR_REC_PROBES_WIDE = 55, /* as HR_REC_PROBES, with field widths 0, 2, 4, 8 */
    HR_REC_REQUEST = 56, /* struct hr_rec_request */
    HR_REC_WAIT = 57, /* struct hr_rec_wait */
    HR_REC_WAKE = 59, /* struct hr_rec_wake */
    HR_REC_PAGES =
        60, /* struct hr_rec_pages, then runs of pages as lib/trace/trace_pages.h codes them */
    HR_REC_ACCESSES = 61, /* accesses of the run of samples before it, as lib/trace/trace_accesses.h
                             codes them */
    HR_REC_MAPPING = 62, /* struct hr_rec_mapping */
    HR_REC_PAGE_FAULT = 63, /* struct hr_rec_page_fault */
    /* in END and HOST chunks */
    HR_REC_EXIT = 64, /* struct hr_rec_exit */
    HR_REC_TOTAL = 65, /* struct hr_rec_total, one per event, in event order */
    HR_REC_STREAM = 66, /* struct hr_rec_stream, one per CPU */
    HR_HOST_END = 67, /* struct hr_host_end, then a message for people (no NUL) */
    HR_REC_REGION = 68, /* struct hr_rec_region, then u64 buckets[bucket_count], then the name */
    HR_REC_NMI = 69, /* struct hr_rec_nmi, one per CPU that takes them */
    HR_REC_ACTIVITY = 70, /* struct hr_rec_activity, one per CPU */
    HR_REC_MACHINE_CPU = 71, /* struct hr_rec_machine_cpu, one per CPU */
    HR_REC_SHARE = 72, /* struct hr_rec_share, one per CPU */
    HR_REC_CALLS = 73, /* struct hr_rec_calls */
    HR_HOST_EXACT = 80, /* struct hr_host_exact */
    HR_HOST_EXACT_COUNTS = 81, /* struct hr_host_exact_counts, then coded counts */
    HR_HOST_FILE = 82, /* struct hr_host_file, then the path (no NUL) */
    /* in INDEX chunks */
    HR_INDEX_ENTRIES = 96, /* an array of struct hr_index_entry */
    HR_INDEX_TRAILER = 97, /* struct hr_index_trailer: the last bytes of the file */
};

struct hr_index_entry {
    uint64_t offset; /* of the chunk header in the file */
    uint64_t time_first;
    uint64_t time_last;
    uint64_t lost_count;
    uint32_t sample_count;
    uint32_t payload_bytes;
    uint16_t type;
    uint16_t cpu;
    uint32_t sequence;
};
_Static_assert(sizeof(struct hr_index_entry) == 48, "hr_index_entry");

#define HR_TRAILER_MAGIC "hrindex\n"

/* The index may span several chunks.  first_offset is that of its first chunk; from there to the
 * end of the file, every chunk is an INDEX chunk.  The record with this body ends the file.
 */
struct hr_index_trailer {
    uint64_t first_offset;
    uint64_t entry_count;
    uint8_t magic[8];
};
_Static_assert(sizeof(struct hr_index_trailer) == 24, "hr_index_trailer");

#include "include/hr_format_data.h"
#include "include/hr_format_end.h"
#include "include/hr_format_meta.h"
#include "include/hr_format_probes.h"

#endif
