/* Parses events in the syntax of perf and libpfm4. */
#include "host/events/events_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmu/events.h"

#define HEX_DIGITS "0123456789abcdefABCDEF"
#define NAME_CHARACTERS \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:=-" /* of names */
/* Bits of raw events: event and unit mask, edge, invert and counter mask, and higher ones: AMD's
 * event bits 11:8 (35:32), Intel's IN_TX and IN_TXCP (33:32).  Microtome sets all others. */
#define RAW_BITS 0xfff84ffffull

/* Letters of rings, and any number of p. */
static bool parse_suffix(const char *suffix, struct events_spec *spec)
{
    size_t rings_bytes = strcspn(suffix, "p");
    uint64_t rings = rings_bytes == 0 ? EVENTS_SELECT_USR : 0;

    for (size_t i = 0; i < rings_bytes; i++) {
        uint64_t ring = suffix[i] == 'u'   ? EVENTS_SELECT_USR
                        : suffix[i] == 'k' ? EVENTS_SELECT_OS
                                           : 0;

        if (ring == 0 || (rings & ring) != 0)
            return false;
        rings |= ring;
    }
    if (suffix[0] == 0 || strspn(suffix + rings_bytes, "p") != strlen(suffix + rings_bytes))
        return false;
    spec->rings = rings;
    spec->precise = suffix[rings_bytes] != 0;
    return true;
}

static int bad_suffix(const char *text, const char *suffix, struct run_failure *failure)
{
    return run_fail(
        failure,
        "event '%s': unknown suffix ':%s'; use :u (the program), :k (the kernel) or :uk, and p "
        "after it for precise records",
        text, suffix);
}

static bool is_raw(const char *text)
{
    size_t digits = text[0] == 'r' ? strspn(text + 1, HEX_DIGITS) : 0;

    return digits > 0 && (text[1 + digits] == 0 || text[1 + digits] == ':');
}

static int parse_raw(const char *text, struct events_spec *spec, struct run_failure *failure)
{
    char *end;

    errno = 0;
    spec->select = strtoull(text + 1, &end, 16);
    if (errno != 0 || (spec->select & ~RAW_BITS) != 0)
        return run_fail(failure,
                        "event '%s': raw bits may be event (7:0), unit mask (15:8), edge (18), inv "
                        "(23), cmask (31:24) and 35:32; rings are the suffixes :u, :k, :uk",
                        text);
    if (*end == ':' && !parse_suffix(end + 1, spec))
        return bad_suffix(text, end + 1, failure);
    return 0;
}

/* One term between the slashes of cpu/.../ */
static const struct raw_term {
    const char *name;
    uint64_t limit;
    uint8_t shift;
    bool companion;
} raw_terms[] = {
    {"event", 0xfff, 0, false}, {"umask", 0xff, 8, false},
    {"edge", 1, 18, false},     {"inv", 1, 23, false},
    {"cmask", 0xff, 24, false}, {"offcore_rsp", UINT64_MAX, 0, true},
    {"ldlat", 0xffff, 0, true}, {"frontend", 0xffffff, 0, true},
};

static int parse_term(const char *text, char *term, struct events_spec *spec,
                      struct run_failure *failure)
{
    char *value = strchr(term, '=');
    unsigned long long number = 1;
    char *end;

    if (value != NULL) {
        *value++ = 0;
        errno = 0;
        number = strtoull(value, &end, 0);
        if (!isdigit((unsigned char)*value) || *end != 0 || errno != 0)
            return run_fail(failure, "event '%s': '%s' is not a number", text, value);
    }
    for (size_t i = 0; i < sizeof raw_terms / sizeof raw_terms[0]; i++) {
        const struct raw_term *t = &raw_terms[i];

        if (strcmp(term, t->name) != 0)
            continue;
        if (number > t->limit)
            return run_fail(failure, "event '%s': %s is at most 0x%lx", text, term, t->limit);
        if (t->companion)
            spec->companion = number;
        else /* bits 11:8 of the event are bits 35:32 of the register */
            spec->select |= (number & 0xff) << t->shift | (number & 0xf00) << 24;
        return 0;
    }
    return run_fail(failure,
                    "event '%s': '%s' is unknown; use event, umask, edge, inv, cmask, offcore_rsp, "
                    "ldlat or frontend",
                    text, term);
}

static int parse_terms(const char *text, struct events_spec *spec, struct run_failure *failure)
{
    char copy[EVENTS_NAME_MAX + 1];
    char *rest = copy;
    char *suffix;
    char *term;

    snprintf(copy, sizeof copy, "%s", text + strlen("cpu/"));
    suffix = strchr(copy, '/');
    if (suffix == NULL)
        return run_fail(
            failure,
            "event '%s': the slash at the end is missing; write cpu/event=0xd0,umask=0x81/", text);
    *suffix++ = 0;
    suffix += *suffix == ':';
    if (*suffix != 0 && !parse_suffix(suffix, spec))
        return bad_suffix(text, suffix, failure);
    while ((term = strsep(&rest, ",")) != NULL)
        if (parse_term(text, term, spec, failure) != 0)
            return -1;
    return 0;
}

static int parse_name(const char *text, struct events_spec *spec, struct run_failure *failure)
{
    size_t generic_bytes = strcspn(text, ":");
    char *colon;

    if (text[strspn(text, NAME_CHARACTERS)] != 0)
        return run_fail(failure, "unknown event '%s'; 'hr events' lists them", text);
    snprintf(spec->name, sizeof spec->name, "%s", text);
    colon = strrchr(spec->name, ':');
    if (colon != NULL && parse_suffix(colon + 1, spec))
        *colon = 0;
    if (spec->name[0] == 0)
        return run_fail(failure, "unknown event '%s': the name is missing", text);
    if (events_find(text, generic_bytes) != NULL && spec->name[generic_bytes] != 0)
        return bad_suffix(text, text + generic_bytes + 1, failure);
    return 0;
}

int events_spec_parse(const char *text, struct events_spec *spec, struct run_failure *failure)
{
    *spec = (struct events_spec){.rings = EVENTS_SELECT_USR};
    if (strlen(text) > EVENTS_NAME_MAX)
        return run_fail(failure,
                        "unknown event '%.*s...': longer than %d bytes; write a long name as "
                        "cpu/event=...,umask=.../, 'hr events' shows the numbers",
                        EVENTS_NAME_MAX, text, EVENTS_NAME_MAX);
    if (is_raw(text))
        return parse_raw(text, spec, failure);
    if (strncmp(text, "cpu/", 4) == 0)
        return parse_terms(text, spec, failure);
    return parse_name(text, spec, failure);
}

size_t events_spec_length(const char *list)
{
    const char *slash = strncmp(list, "cpu/", 4) == 0 ? strchr(list + 4, '/') : NULL;
    size_t inside = slash != NULL ? (size_t)(slash - list) : 0;

    return inside + strcspn(list + inside, ",");
}
