/* Keeps a thread's open calls, told by its hooks or seen in its shadow stack. */
#include "lib/trace/call_stack.h"

#include <stddef.h>

static bool is_near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= CALL_STACK_NEAR;
}

struct call_entry *call_stack_enter(struct call_stack *s, uint64_t function, uint64_t call_site,
                                    uint64_t sp)
{
    struct call_entry *entry;

    while (s->depth != 0 && s->entries[s->depth - 1].mark <= sp &&
           is_near(s->entries[s->depth - 1].mark, sp))
        s->depth--;
    if (s->depth == CALL_STACK_MAX) {
        s->deep++;
        return NULL;
    }
    s->deep = 0;
    entry = &s->entries[s->depth++];
    *entry = (struct call_entry){.function = function, .call_site = call_site, .mark = sp};
    return entry;
}

/* Returns the place of the call that returns: of those that fit, on its stack and not above the
 * stack pointer, the outermost.  It may have moved its stack pointer (alloca): then the innermost.
 */
static uint32_t find(const struct call_stack *s, uint64_t function, uint64_t call_site, uint64_t sp)
{
    uint32_t found = CALL_STACK_MAX, above = CALL_STACK_MAX;

    for (uint32_t i = s->depth; i-- > 0;) {
        const struct call_entry *entry = &s->entries[i];
        bool fits = entry->function == function && entry->call_site == call_site;

        if (!is_near(entry->mark, sp))
            continue;
        if (entry->mark > sp && found != CALL_STACK_MAX)
            break;
        if (entry->mark <= sp)
            found = fits ? i : found;
        else if (fits && above == CALL_STACK_MAX)
            above = i;
    }
    return found != CALL_STACK_MAX ? found : above;
}

bool call_stack_leave(struct call_stack *s, uint64_t function, uint64_t call_site, uint64_t sp,
                      struct call_entry *ended)
{
    uint32_t at, to;

    if (s->deep != 0 && sp < s->entries[s->depth - 1].mark) {
        s->deep--;
        return false;
    }
    s->deep = 0; /* longjmp has left them */
    at = to = find(s, function, call_site, sp);
    if (at == CALL_STACK_MAX) {
        s->strays++;
        return false;
    }
    *ended = s->entries[at];
    for (uint32_t i = at + 1; i < s->depth; i++) /* calls of other stacks stay */
        if (!is_near(s->entries[i].mark, ended->mark) || s->entries[i].mark > ended->mark)
            s->entries[to++] = s->entries[i];
    s->depth = to;
    return true;
}

static uint64_t generation(const struct hr_abi_shadow_entry *entry)
{
    return __atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE);
}

/* Reads an entry.  Returns false if its thread changes it, or if it is of a call that has ended. */
static bool read_entry(const struct hr_abi_shadow_entry *from, struct call_entry *to)
{
    uint64_t before = generation(from);

    if (before & 1 || before == to->mark)
        return false;
    to->function = __atomic_load_n(&from->function, __ATOMIC_RELAXED);
    to->call_site = __atomic_load_n(&from->call_site, __ATOMIC_ACQUIRE);
    to->mark = before;
    return generation(from) == before;
}

void call_stack_look(struct call_stack *s, uint32_t depth, const struct call_stack_visitor *visitor)
{
    uint32_t kept = depth < s->depth ? depth : s->depth;
    const struct hr_abi_shadow_entry *entry;

    while (kept != 0) {
        entry = visitor->shadow(visitor->context, kept - 1);
        if (entry == NULL)
            return; /* the next look will tell */
        if (generation(entry) == s->entries[kept - 1].mark)
            break;
        kept--;
    }
    while (s->depth > kept) {
        s->depth--;
        visitor->ended(visitor->context, s->depth, &s->entries[s->depth]);
    }
    while (s->depth < depth) {
        struct call_entry seen = s->entries[s->depth];
        uint64_t last = seen.mark;

        entry = visitor->shadow(visitor->context, s->depth);
        if (entry == NULL || !read_entry(entry, &seen))
            return;
        s->missed += (seen.mark - last) / 2 - 1;
        s->entries[s->depth] = seen;
        visitor->begun(visitor->context, s->depth, &s->entries[s->depth]);
        s->depth++;
    }
}

void call_stack_finish(struct call_stack *s, const struct call_stack_visitor *visitor)
{
    for (uint32_t i = 0; i < CALL_STACK_MAX; i++) {
        const struct hr_abi_shadow_entry *entry = visitor->shadow(visitor->context, i);

        if (entry == NULL || generation(entry) == 0)
            return; /* no call was so deep */
        s->missed += (generation(entry) - s->entries[i].mark) / 2;
        s->entries[i].mark = generation(entry);
    }
}
