/* Numbers things: a hash table of pairs that is emptied when it is full. */
#include "host/export/common/numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_SLOTS 2048u

int numbers_init(struct numbers *numbers, uint32_t room)
{
    *numbers = (struct numbers){.mask = FIRST_SLOTS - 1, .room = room, .first = 1, .next = 1};
    numbers->slots = array_zeros(FIRST_SLOTS * sizeof numbers->slots[0]);
    return numbers->slots != NULL ? 0 : -ENOMEM;
}

void numbers_free(struct numbers *numbers)
{
    free(numbers->slots);
    numbers->slots = NULL;
}

void numbers_forget(struct numbers *numbers)
{
    numbers->first = numbers->next; /* makes every slot free */
}

static uint32_t place_of(const struct numbers *numbers, uint64_t a, uint64_t b)
{
    return (uint32_t)(hash_mix(hash_mix(0, a), b) >> 16) & numbers->mask;
}

/* Makes the table larger, which is half full.  Without memory it has room for one more thing. */
static void grow(struct numbers *numbers)
{
    const struct numbers_slot *old = numbers->slots, *end = old + numbers->mask + 1;
    uint32_t count = (numbers->mask + 1) * (numbers->mask < numbers->room / 2 ? 4 : 2);
    struct numbers_slot *slots = array_zeros(count * sizeof *slots);

    if (slots == NULL) {
        numbers->room = numbers_count(numbers) + 1;
        return;
    }
    numbers->slots = slots;
    numbers->mask = count - 1;
    for (const struct numbers_slot *slot = old; slot < end; slot++) {
        uint32_t i = place_of(numbers, slot->a, slot->b);

        if (slot->number < numbers->first)
            continue;
        while (slots[i].number != 0)
            i = (i + 1) & numbers->mask;
        slots[i] = *slot;
    }
    free((void *)(uintptr_t)old);
}

/* The slot of a thing, or the free one for it. */
static struct numbers_slot *slot_of(struct numbers *numbers, uint64_t a, uint64_t b)
{
    uint32_t i = place_of(numbers, a, b);

    while (numbers->slots[i].number >= numbers->first &&
           (numbers->slots[i].a != a || numbers->slots[i].b != b))
        i = (i + 1) & numbers->mask;
    return &numbers->slots[i];
}

uint64_t numbers_of(struct numbers *numbers, uint64_t a, uint64_t b, bool *added)
{
    struct numbers_slot *slot = slot_of(numbers, a, b);

    *added = slot->number < numbers->first;
    if (!*added)
        return slot->number;
    if (numbers_full(numbers)) {
        numbers_forget(numbers);
        slot = slot_of(numbers, a, b);
    } else if (numbers_count(numbers) > numbers->mask / 2) {
        grow(numbers);
        slot = slot_of(numbers, a, b);
    }
    *slot = (struct numbers_slot){a, b, numbers->next++};
    return slot->number;
}

uint64_t numbers_of_text(struct numbers *numbers, const char *text, bool *added)
{
    uint64_t a = 1, b = 0;

    for (; *text != 0; text++) {
        a = hash_mix(a, (uint8_t)*text);
        b = (b + (uint8_t)*text) * 0x100000001b3ull;
    }
    return numbers_of(numbers, a, b, added);
}

bool numbers_add(struct numbers *numbers, uint64_t a)
{
    bool added;

    if (numbers_full(numbers))
        return false;
    numbers_of(numbers, a, 0, &added);
    return added;
}
