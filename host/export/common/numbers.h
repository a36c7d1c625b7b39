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
    } * slots; /* twice as many as there are things, and more; owned */
    uint32_t mask;
    uint32_t room; /* things that fit */
    uint64_t first; /* number since the table forgot */
    uint64_t next;
};

/* Room for `room` things; one takes up to 96 bytes.  0 or -ENOMEM. */
int numbers_init(struct numbers *numbers, uint32_t room);
void numbers_free(struct numbers *numbers);

/* The number of a thing; *added when it is new. */
uint64_t numbers_of(struct numbers *numbers, uint64_t a, uint64_t b, bool *added);

/* As numbers_of() of a text, by a hash of it. */
uint64_t numbers_of_text(struct numbers *numbers, const char *text, bool *added);

/* True when the integer is new and found room; it makes the table forget nothing. */
bool numbers_add(struct numbers *numbers, uint64_t a);

/* How many things the table has. */
static inline uint32_t numbers_count(const struct numbers *numbers)
{
    return (uint32_t)(numbers->next - numbers->first);
}

/* Whether the next new thing makes the table forget. */
static inline bool numbers_full(const struct numbers *numbers)
{
    return numbers_count(numbers) == numbers->room;
}

void numbers_forget(struct numbers *numbers);
