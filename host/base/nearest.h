/* Finds the known names that look most like a mistyped one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_COUNT 3
#define NEAREST_NAME_BYTES 72 /* longer names are cut before they are compared */

struct nearest {
    char wanted[NEAREST_NAME_BYTES];
    char names[NEAREST_COUNT][NEAREST_NAME_BYTES]; /* nearest first */
    size_t distances[NEAREST_COUNT];
    size_t count;
};

/* Returns the Levenshtein distance, ignoring case; '.' and ':' count as equal. */
size_t nearest_distance(const char *a, const char *b);

void nearest_init(struct nearest *n, const char *wanted);

/* Keeps the name if it is near and among the nearest so far; a name offered twice is kept once. */
void nearest_offer(struct nearest *n, const char *name);

/* As nearest_offer, but compares `key` instead of the name. */
void nearest_offer_as(struct nearest *n, const char *key, const char *name);

/* Writes "a, b, c" and returns `out`. */
char *nearest_list(const struct nearest *n, char *out, size_t room);
