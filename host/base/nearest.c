/* Levenshtein distance and a short list of the nearest names. */
#include "host/base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NEAREST_PART_BYTES 3u /* least length of a name that is part of another */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int folded(char c)
{
    return c == ':' ? '.' : tolower((unsigned char)c);
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t row[NEAREST_NAME_BYTES];
    int letters[NEAREST_NAME_BYTES];
    size_t a_bytes = least(strlen(a), NEAREST_NAME_BYTES - 1);
    size_t b_bytes = least(strlen(b), NEAREST_NAME_BYTES - 1);

    for (size_t j = 0; j <= b_bytes; j++) {
        row[j] = j;
        letters[j] = folded(b[j]);
    }
    for (size_t i = 0; i < a_bytes; i++) {
        size_t diagonal = row[0];
        int letter = folded(a[i]);

        row[0] = i + 1;
        for (size_t j = 0; j < b_bytes; j++) {
            size_t changed = diagonal + (letter != letters[j]);

            diagonal = row[j + 1];
            row[j + 1] = least(changed, least(diagonal, row[j]) + 1);
        }
    }
    return row[b_bytes];
}

void nearest_init(struct nearest *n, const char *wanted)
{
    n->count = 0;
    snprintf(n->wanted, sizeof n->wanted, "%s", wanted);
}

/* A lower bound of the distance, whatever the letters are. */
static size_t length_difference(const char *a, const char *b)
{
    size_t a_bytes = least(strlen(a), NEAREST_NAME_BYTES - 1);
    size_t b_bytes = least(strlen(b), NEAREST_NAME_BYTES - 1);

    return a_bytes > b_bytes ? a_bytes - b_bytes : b_bytes - a_bytes;
}

static bool contains(const char *text, const char *part)
{
    size_t bytes = strlen(part);

    for (; bytes >= NEAREST_PART_BYTES && strlen(text) >= bytes; text++)
        if (strncasecmp(text, part, bytes) == 0)
            return true;
    return false;
}

/* Whether a name of that distance may be what was meant: a third of its letters is another, or one
 * is within the other.  What is farther only looks like an answer. */
static bool is_near(const char *wanted, const char *name, size_t distance)
{
    size_t bytes = least(strlen(wanted), strlen(name));

    return distance <= (bytes + 2) / 3 || contains(name, wanted) || contains(wanted, name);
}

void nearest_offer(struct nearest *n, const char *name)
{
    nearest_offer_as(n, name, name);
}

void nearest_offer_as(struct nearest *n, const char *key, const char *name)
{
    size_t place = n->count;
    size_t distance;

    if (n->count == NEAREST_COUNT &&
        length_difference(n->wanted, key) >= n->distances[NEAREST_COUNT - 1])
        return;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->names[i], name) == 0)
            return;
    distance = nearest_distance(n->wanted, key);
    if (!is_near(n->wanted, key, distance))
        return;
    while (place > 0 && distance < n->distances[place - 1])
        place--;
    if (place == NEAREST_COUNT)
        return;
    if (n->count < NEAREST_COUNT)
        n->count++;
    for (size_t i = n->count - 1; i > place; i--) {
        memcpy(n->names[i], n->names[i - 1], sizeof n->names[i]);
        n->distances[i] = n->distances[i - 1];
    }
    snprintf(n->names[place], sizeof n->names[place], "%s", name);
    n->distances[place] = distance;
}

char *nearest_list(const struct nearest *n, char *out, size_t room)
{
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < n->count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i == 0 ? "" : ", ", n->names[i]);
    return out;
}
