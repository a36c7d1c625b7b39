/* The sections of a run by its marks: from one mark to the next, whichever thread set them.
 *
 * Sections whose marks have the same text are one: a loop that marks its turns makes one section of
 * all of them.
 */
#ifndef HOST_REPORT_SECTIONS_H
#define HOST_REPORT_SECTIONS_H

#include "host/report/report_marks.h"

#define SECTIONS_BEFORE 0u /* before the first mark */
#define SECTIONS_NAMES_MAX 65536u

struct sections {
    uint64_t *times; /* of the marks, in order; owned */
    uint32_t *names; /* of the section that begins there; owned */
    size_t count;
    const char **texts; /* of the names; those of the marks; raw; owned */
    uint32_t text_count;
};

/* Takes marks, which it sorts and which must outlive it.  0 or -ENOMEM. */
int sections_init(struct sections *sections, struct report_marks *marks);
void sections_free(struct sections *sections);

/* The section that a time lies in; it ends before *until.  *at is where the last search ended. */
uint32_t sections_find(const struct sections *sections, uint64_t time, size_t *at, uint64_t *until);

#endif
