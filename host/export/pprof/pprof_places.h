/* What the samples of a pprof profile refer to: strings, functions, locations.
 *
 * They are written when they are first asked for, and a message in `message` must be complete by
 * then.
 */
#pragma once

#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/common/proto.h"
#include "host/export/pprof/gzip.h"
#include "host/scan/row_team.h"

/* The published field numbers of the messages Profile and Line. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
};

struct pprof_seen { /* what of the places in a map was known */
    bool function, file, line, inlined;
};

struct pprof_places {
    struct export *e;
    struct gzip gzip;
    struct row_team *team; /* that compresses in other threads; owned */
    struct proto message; /* that is being built */
    struct numbers strings, functions, locations;
    struct pprof_seen *seen; /* in no map, then one for each of the info's maps; owned */
};

/* Of places that are all zero.  0 or -ENOMEM; to be freed in both cases. */
int pprof_places_init(struct pprof_places *places, struct export *e);
void pprof_places_free(struct pprof_places *places);

/* Writes the message that was built. */
void pprof_places_put(struct pprof_places *places);

/* After all messages. */
void pprof_places_finish(struct pprof_places *places);

/* The number of a text, which is raw. */
uint64_t pprof_places_string(struct pprof_places *places, const char *text);

/* The number of the location at an address inside an instruction. */
uint64_t pprof_places_location(struct pprof_places *places, uint64_t address);

/* Whether so many locations may be new without numbers of others being forgotten. */
bool pprof_places_fit(const struct pprof_places *places, uint32_t count);

/* That of a location which says how a stack ended, in place of its outermost functions. */
uint64_t pprof_places_ending(struct pprof_places *places, uint32_t root);
