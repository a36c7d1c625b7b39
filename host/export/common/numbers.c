/* Numbers things: a hash table of pairs that is emptied when it is full. */
#include "host/export/common/numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

int numbers_init(struct numbers *numbers, uint32_t room)
{
    *numbers = (struct numbers){.mask = room * 2 - 1, .room = room, .first = 1, .next = 1};
    numbers->slots = calloc((size_t)room * 2, sizeof numbers->slots[0]);
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

uint64_t numbers_of(struct numbers *numbers, uint64_t a, uint64_t b, bool *added)
{
    uint32_t i = (uint32_t)(hash_mix(hash_mix(0, a), b) >> 16) & numbers->mask;

    for (; numbers->slots[i].number >= numbers->first; i = (i + 1) & numbers->mask) {
        if (numbers->slots[i].a == a && numbers->slots[i].b == b) {
            *added = false;
            return numbers->slots[i].number;
        }
    }
    if (numbers_full(numbers)) {
        numbers_forget(numbers);
        return numbers_of(numbers, a, b, added);
    }
    numbers->slots[i] = (struct numbers_slot){a, b, numbers->next++};
    *added = true;
    return numbers->slots[i].number;
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
