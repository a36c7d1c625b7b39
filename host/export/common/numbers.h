/* Numbers for things that a format refers to by number: strings, functions, addresses.
 *
 * A thing is a pair of integers.  Numbers count up from 1.  Memory is bounded: a full table is
 * emptied while numbers keep counting up, so that a thing may get a second number, but no number
 * ever stands for two things.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct numbers {
    struct numbers_slot {
        uint64_t a, b;
        uint64_t number; /* below `first`: free */
    } * slots; /* owned */
    uint32_t mask;
    uint32_t room; /* things that fit */
    uint64_t first; /* number since the table forgot */
    uint64_t next;
};

/* Room for `room` things, a power of two; it takes 48 bytes for each.  0 or -ENOMEM. */
int numbers_init(struct numbers *numbers, uint32_t room);
void numbers_free(struct numbers *numbers);

/* The number of a thing; *added when it is new. */
uint64_t numbers_of(struct numbers *numbers, uint64_t a, uint64_t b, bool *added);

/* As numbers_of() of a text, by a hash of it. */
uint64_t numbers_of_text(struct numbers *numbers, const char *text, bool *added);

/* True when the integer is new and found room; it makes the table forget nothing. */
bool numbers_add(struct numbers *numbers, uint64_t a);

/* Whether the next new thing makes the table forget. */
static inline bool numbers_full(const struct numbers *numbers)
{
    return numbers->next - numbers->first == numbers->room;
}

void numbers_forget(struct numbers *numbers);
