/* The sections of a run: the time from one mark to the next, whichever thread set them.
 *
 * Sections whose marks have equal texts are one section, so a loop that sets a mark in each
 * iteration makes one section of all iterations.
 */
#pragma once

#include "host/report/report_marks.h"

#define SECTIONS_BEFORE 0u /* before the first mark */
#define SECTIONS_NAMES_MAX 65536u

struct sections {
    uint64_t *times; /* of the marks, ascending; owned */
    uint32_t *names; /* number of the section that begins at each mark; owned */
    size_t count;
    const char **texts; /* name of each section, from the marks; raw; owned */
    uint32_t text_count;
};

/* Takes marks, which it sorts and which must outlive it.  Returns 0 or -ENOMEM. */
int sections_init(struct sections *sections, struct report_marks *marks);
void sections_free(struct sections *sections);

/* Returns the section that contains a time; it ends before *until.  *at is the position of the last
 * search. */
uint32_t sections_find(const struct sections *sections, uint64_t time, size_t *at, uint64_t *until);
