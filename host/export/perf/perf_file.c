/* Writes the features, events and header of a perf.data file. */
#include "host/export/perf/perf_file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "include/version.h"
#include "lib/array.h"

#define MAGIC "PERFILE2"
#define STRING_ALIGN 64u /* of the strings in features */
#define BUILD_ID_BYTES 20u
#define PATH_BYTES_MAX 4095u
#define BUILD_ID_SIZE 0x8000u /* misc flag: the byte after the build-id says how long it is */

enum feature { /* numbers of bits in the header */
               FEATURE_BUILD_ID = 2,
               FEATURE_HOSTNAME = 3,
               FEATURE_OSRELEASE = 4,
               FEATURE_VERSION = 5,
               FEATURE_ARCH = 6,
               FEATURE_NRCPUS = 7,
               FEATURE_CPUDESC = 8,
               FEATURE_TOTAL_MEM = 10,
               FEATURE_CMDLINE = 11,
               FEATURE_EVENT_DESC = 12,
               FEATURE_GROUP_DESC = 17,
               FEATURE_SAMPLE_TIME = 21,
};

struct section { /* of the file */
    uint64_t offset;
    uint64_t bytes;
};

struct header {
    char magic[8];
    uint64_t bytes;
    uint64_t attr_bytes; /* of one event in `attrs`, its section of identifiers included */
    struct section attrs;
    struct section data;
    struct section event_types; /* no longer used */
    uint64_t features[4];
};
_Static_assert(sizeof(struct header) == PERF_FILE_HEADER_BYTES, "header");

static void put32(FILE *out, uint32_t value)
{
    fwrite(&value, sizeof value, 1, out);
}

static void put64(FILE *out, uint64_t value)
{
    fwrite(&value, sizeof value, 1, out);
}

/* Its length with padding, the text, zeros. */
static void put_string(FILE *out, const char *text)
{
    static const char zeros[STRING_ALIGN];
    size_t bytes = strlen(text) + 1;
    size_t padded = (bytes + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

    put32(out, (uint32_t)padded);
    fwrite(text, bytes, 1, out);
    fwrite(zeros, padded - bytes, 1, out);
}

static void put_info(FILE *out, const struct perf_file *file, const char *key)
{
    char safe[4096];

    put_string(out, text_escape(safe, sizeof safe, trace_info_text(file->info, key, "")));
}

static const char *member_name(const struct perf_file *file, uint32_t member, char safe[256])
{
    char room[16];

    return member == 0
               ? "samples"
               : text_escape(safe, 256, trace_info_event_name(file->info, member - 1, room));
}

/* A generic event where the counter is known by that name, else its encoding. */
static void fill_config(struct perf_event_attr *attr, const struct perf_file *file, uint32_t event)
{
    static const char *const hardware[] = {"cycles",       "instructions", "cache-references",
                                           "cache-misses", "branches",     "branch-misses"};
    const struct trace_event *known = &file->info->events[event];
    size_t bytes = strcspn(known->name, ":");

    attr->exclude_user = (known->meta.flags & HR_EVENT_USER) == 0;
    attr->type = PERF_TYPE_RAW;
    attr->config = known->meta.encoding;
    attr->config1 = known->meta.encoding_ext;
    for (uint32_t i = 0; i < ARRAY_COUNT(hardware); i++)
        if (strlen(hardware[i]) == bytes && memcmp(known->name, hardware[i], bytes) == 0) {
            attr->type = PERF_TYPE_HARDWARE;
            attr->config = i;
            attr->config1 = 0;
        }
}

static struct perf_event_attr attr_of(const struct perf_file *file, uint32_t member)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .size = PERF_ATTR_SIZE_VER5,
        .sample_period = 1,
        .sample_type = file->sample_type,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
        .sample_id_all = 1,
        .exclude_kernel = 1, /* else perf asks for a kernel that it knows */
        .exclude_hv = 1,
        .exclude_guest = 1,
    };

    if (member == 0)
        attr.mmap = attr.mmap2 = attr.comm = attr.task = attr.context_switch = attr.disabled = 1;
    else
        fill_config(&attr, file, member - 1);
    return attr;
}

static void put_attr(FILE *out, const struct perf_file *file, uint32_t member)
{
    struct perf_event_attr attr = attr_of(file, member);

    fwrite(&attr, PERF_ATTR_SIZE_VER5, 1, out);
}

static void put_ids(FILE *out, const struct perf_file *file, uint32_t member)
{
    for (uint32_t i = 0; i < file->cpu_count; i++)
        put64(out, perf_file_id(file, file->cpus[i], member));
}

static void put_build_id(FILE *out, const struct perf_file *file, const struct trace_map *map,
                         const char *path)
{
    static const char zeros[8];
    uint8_t build_id[BUILD_ID_BYTES + 4] = {0};
    size_t path_bytes = strnlen(path, PATH_BYTES_MAX);
    size_t padding = 8 - path_bytes % 8;
    struct perf_event_header header = {
        .misc = (uint16_t)(BUILD_ID_SIZE | PERF_RECORD_MISC_USER),
        .size = (uint16_t)(sizeof header + 4 + sizeof build_id + path_bytes + padding),
    };

    memcpy(build_id, map->build_id, map->meta.build_id_bytes);
    build_id[BUILD_ID_BYTES] = (uint8_t)map->meta.build_id_bytes;
    fwrite(&header, sizeof header, 1, out);
    put32(out, file->pid);
    fwrite(build_id, sizeof build_id, 1, out);
    fwrite(path, path_bytes, 1, out);
    fwrite(zeros, padding, 1, out);
}

/* Those of the program and its libraries: a kernel named here would be taken for Linux. */
static void put_build_ids(FILE *out, const struct perf_file *file)
{
    for (size_t i = 0; i < file->info->map_count; i++) {
        const struct trace_map *map = &file->info->maps[i];

        if (file->paths[i] != NULL && map->meta.build_id_bytes != 0 &&
            map->meta.build_id_bytes <= BUILD_ID_BYTES && (map->meta.flags & HR_MAP_KERNEL) == 0)
            put_build_id(out, file, map, file->paths[i]);
    }
}

static void put_event_descriptions(FILE *out, const struct perf_file *file)
{
    char safe[256];

    put32(out, perf_file_members(file));
    put32(out, PERF_ATTR_SIZE_VER5);
    for (uint32_t i = 0; i < perf_file_members(file); i++) {
        put_attr(out, file, i);
        put32(out, file->cpu_count);
        put_string(out, member_name(file, i, safe));
        put_ids(out, file, i);
    }
}

static void put_group(FILE *out, const struct perf_file *file)
{
    put32(out, 1);
    put_string(out, "microtome");
    put32(out, 0);
    put32(out, perf_file_members(file));
}

static void put_hostname(FILE *out, const struct perf_file *)
{
    put_string(out, "microtome");
}

static void put_release(FILE *out, const struct perf_file *file)
{
    put_info(out, file, "kernel.version");
}

static void put_version(FILE *out, const struct perf_file *)
{
    put_string(out, "hr " VERSION_TEXT);
}

static void put_arch(FILE *out, const struct perf_file *)
{
    put_string(out, "x86_64");
}

static void put_cpus(FILE *out, const struct perf_file *file)
{
    uint32_t count = (uint32_t)strtoul(trace_info_text(file->info, "machine.cpus", "1"), NULL, 10);

    put32(out, count);
    put32(out, count);
}

static void put_cpu_name(FILE *out, const struct perf_file *file)
{
    put_info(out, file, "machine.model");
}

static void put_memory(FILE *out, const struct perf_file *file)
{
    put64(out, strtoull(trace_info_text(file->info, "machine.memory", "0"), NULL, 10) / 1024);
}

static void put_command(FILE *out, const struct perf_file *file)
{
    put32(out, 1);
    put_info(out, file, "program.args");
}

static void put_times(FILE *out, const struct perf_file *file)
{
    put64(out, file->first_ns);
    put64(out, file->last_ns);
}

static const struct {
    enum feature number;
    void (*put)(FILE *out, const struct perf_file *file);
} features[] = {
    /* in the order of their numbers */
    {FEATURE_BUILD_ID, put_build_ids}, {FEATURE_HOSTNAME, put_hostname},
    {FEATURE_OSRELEASE, put_release},  {FEATURE_VERSION, put_version},
    {FEATURE_ARCH, put_arch},          {FEATURE_NRCPUS, put_cpus},
    {FEATURE_CPUDESC, put_cpu_name},   {FEATURE_TOTAL_MEM, put_memory},
    {FEATURE_CMDLINE, put_command},    {FEATURE_EVENT_DESC, put_event_descriptions},
    {FEATURE_GROUP_DESC, put_group},   {FEATURE_SAMPLE_TIME, put_times},
};

/* The features' contents one after the other; their places in the file. */
static void put_features(FILE *out, const struct perf_file *file,
                         struct section sections[ARRAY_COUNT(features)])
{
    uint64_t begin = PERF_FILE_DATA + file->data_bytes + ARRAY_COUNT(features) * sizeof sections[0];

    for (size_t i = 0; i < ARRAY_COUNT(features); i++) {
        sections[i].offset = begin + (uint64_t)ftell(out);
        features[i].put(out, file);
        sections[i].bytes = begin + (uint64_t)ftell(out) - sections[i].offset;
    }
}

/* The identifiers of all events, then the events; returns the place of the latter. */
static struct section put_events(FILE *out, const struct perf_file *file, uint64_t begin)
{
    uint32_t members = perf_file_members(file);
    struct section ids = {begin + (uint64_t)ftell(out), file->cpu_count * sizeof(uint64_t)};
    struct section events = {ids.offset + members * ids.bytes,
                             members * (PERF_ATTR_SIZE_VER5 + sizeof(struct section))};

    for (uint32_t i = 0; i < members; i++)
        put_ids(out, file, i);
    for (uint32_t i = 0; i < members; i++) {
        put_attr(out, file, i);
        put64(out, ids.offset + i * ids.bytes);
        put64(out, ids.bytes);
    }
    return events;
}

static void put_header(struct output *out, const struct perf_file *file, struct section events)
{
    struct header header = {
        .magic = MAGIC,
        .bytes = sizeof header,
        .attr_bytes = PERF_ATTR_SIZE_VER5 + sizeof(struct section),
        .attrs = events,
        .data = {PERF_FILE_DATA, file->data_bytes},
    };

    for (size_t i = 0; i < ARRAY_COUNT(features); i++)
        header.features[features[i].number / 64] |= 1ull << features[i].number % 64;
    if (output_flush(out) == 0 && pwrite(out->fd, &header, sizeof header, 0) != sizeof header)
        out->error = errno != 0 ? -errno : -EIO;
}

int perf_file_finish(struct output *out, const struct perf_file *file)
{
    uint64_t begin = PERF_FILE_DATA + file->data_bytes;
    struct section sections[ARRAY_COUNT(features)], events;
    char *bytes = NULL;
    size_t count = 0;
    FILE *memory = open_memstream(&bytes, &count);
    int error;

    if (memory == NULL)
        return -ENOMEM;
    put_features(memory, file, sections);
    events = put_events(memory, file, begin + sizeof sections);
    error = ferror(memory) != 0 ? -ENOMEM : 0;
    if (fclose(memory) != 0)
        error = -ENOMEM;
    if (error == 0) {
        output_bytes(out, (const char *)sections, sizeof sections);
        output_bytes(out, bytes, count);
        put_header(out, file, events);
    }
    free(bytes);
    return error;
}
