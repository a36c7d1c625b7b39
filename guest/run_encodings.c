/* The encodings of events that an archive brings along, for CPUs that its manifest names. */
#include <errno.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/run_manifest.h"
#include "guest/sample/sampling.h"
#include "lib/pmu/x86_signature.h"
#include "lib/x86.h"

#define CPU_BYTES 32

/* Writes this CPU's name as the manifest spells it. */
static void name_cpu(char out[CPU_BYTES])
{
    uint32_t vendor = x86_cpuid(0, 0).ebx;
    bool intel = vendor == 0x756e6547; /* "Genu" */
    bool amd = vendor == 0x68747541 || vendor == 0x6f677948; /* "Auth", and Hygon's "Hygo" */
    struct x86_signature s = x86_signature_parse(x86_cpuid(1, 0).eax, amd);

    format_text(out, CPU_BYTES, "%s-%u-%u",
                intel ? "intel"
                : amd ? "amd"
                      : "x86",
                s.family, s.model);
}

/* Reads a hexadecimal number that ends with `end`.  Returns NULL if there is none. */
static const char *read_hex(const char *text, char end, uint64_t *value)
{
    unsigned digits = 0;

    for (*value = 0; *text != end; text++, digits++) {
        char c = *text;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16 || digits == 16)
            return NULL;
        *value = *value << 4 | digit;
    }
    return digits ? text + 1 : NULL;
}

static bool read_encoding(const char *text, struct pmu_event *event)
{
    uint64_t counters = 0;

    if (text != NULL)
        text = read_hex(text, ':', &event->encoding);
    if (text != NULL)
        text = read_hex(text, ':', &event->encoding_ext);
    if (text != NULL)
        text = read_hex(text, '\0', &counters);
    event->allowed_counters = (uint32_t)counters;
    return text != NULL && counters <= UINT32_MAX;
}

enum match { MATCH_NONE, MATCH_VENDOR, MATCH_CPU };

/* Returns how a comma-separated list of CPUs names this one: itself, or only its vendor. */
static enum match match_list(const char *list, const char *here)
{
    size_t vendor_bytes = (size_t)(strchr(here, '-') - here);
    enum match best = MATCH_NONE;

    while (*list) {
        const char *end = strchr(list, ',');
        size_t bytes = end != NULL ? (size_t)(end - list) : strlen(list);

        if (bytes == strlen(here) && memcmp(list, here, bytes) == 0)
            return MATCH_CPU;
        if (bytes == vendor_bytes && memcmp(list, here, bytes) == 0)
            best = MATCH_VENDOR;
        list += bytes + (end != NULL);
    }
    return best;
}

/* Returns the number of the archive's group of encodings for this CPU, or -1. */
static int find_group(const char *here)
{
    enum match best = MATCH_NONE;
    size_t position = 0;
    int found = -1;
    const char *list;

    for (int group = 0; (list = manifest_next(&run.events, "target-cpu", &position)) != NULL;
         group++) {
        enum match match = match_list(list, here);

        if (match > best) {
            best = match;
            found = group;
        }
    }
    return found;
}

/* Logs that no group is for this CPU. */
static void log_other_cpu(const char *here)
{
    size_t position = 0;
    const char *first = manifest_next(&run.events, "target-cpu", &position);
    bool several = manifest_next(&run.events, "target-cpu", &position) != NULL;

    if (first == NULL)
        log_notice("the archive does not encode its events, and there is no host to ask; pack it "
                   "with --target-cpu %s, or all",
                   here);
    else if (several || strlen(first) >= CPU_BYTES)
        log_notice("the archive's events are not encoded for this CPU, which is %s; pack it with "
                   "--target-cpu %s",
                   here, here);
    else
        log_notice("the archive's events are encoded for %s, and this CPU is %s; pack it with "
                   "--target-cpu %s, or without",
                   first, here, here);
}

int run_use_encodings(void)
{
    size_t position = 0;
    char here[CPU_BYTES];
    int group;

    name_cpu(here);
    group = find_group(here);
    if (group < 0) {
        log_other_cpu(here);
        return -ENODEV;
    }
    for (uint64_t i = 0; i < (uint64_t)group * sampling.session.event_count; i++)
        if (manifest_next(&run.events, "event-encoding", &position) == NULL)
            break;
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        const char *text = manifest_next(&run.events, "event-encoding", &position);
        if (!read_encoding(text, &sampling.session.events[i])) {
            log_notice("the archive's encoding of event %s is damaged; pack it again",
                       sampling.session.events[i].name);
            return -EINVAL;
        }
    }
    return 0;
}
