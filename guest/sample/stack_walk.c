/* Follows frame pointers through the program's memory, and copies the top of its stack. */
#include "guest/sample/stack_walk.h"

#include <stdbool.h>
#include <stddef.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/layout.h"
#include "guest/base/signal_layout.h"

#define FRAME_BYTES 16u /* the caller's frame pointer, and the return address */
#define WORD_BYTES 8u
#define WINDOW_BYTES 1024u /* less than lies between a handler's frame and what it interrupted */

#define NO_RESTORER UINT64_MAX
static uint32_t words_max; /* of a stack */
static uint64_t first_bytes; /* of a stack's first window at most */
static uint64_t restorers[STACK_RESTORERS] = {NO_RESTORER, NO_RESTORER, NO_RESTORER, NO_RESTORER};

/* A walk up to now.  The frame at `fp` comes next. */
struct walk {
    uint64_t fp;
    uint64_t above; /* it lies at or above this: one word above the last frame */
    uint64_t page; /* address of the page that was read last, or PAGE_NONE */
    uint64_t base; /* the program's address plus this is the kernel's, in that page */
    uint64_t *word; /* the next return address goes here */
    uint64_t *end;
};

#define PAGE_NONE UINT64_MAX

void stack_walk_add_restorer(uint64_t address)
{
    for (uint32_t i = 0; i < STACK_RESTORERS; i++) {
        if (restorers[i] == address)
            return;
        if (restorers[i] == NO_RESTORER) { /* one store: an NMI sees it or not */
            __atomic_store_n(&restorers[i], address, __ATOMIC_RELAXED);
            return;
        }
    }
}

static __attribute__((noinline)) bool is_other_restorer(uint64_t address)
{
    for (uint32_t i = 1; i < STACK_RESTORERS; i++)
        if (restorers[i] == address)
            return true;
    return false;
}

/* Most programs have one. */
static inline bool is_restorer(uint64_t address)
{
    return restorers[0] == address || (restorers[1] != NO_RESTORER && is_other_restorer(address));
}

/* Makes the page of `address` the one to read from.  Returns false if the program has none there.
 */
static bool turn_to(struct walk *w, uint64_t address)
{
    uint64_t page = address & ~(PAGE_BYTES - 1ull);
    const uint8_t *bytes;

    if (page == w->page)
        return true;
    bytes = address < USER_END ? stack_page(page) : NULL;
    w->page = bytes != NULL ? page : PAGE_NONE;
    w->base = (uint64_t)bytes - page;
    return bytes != NULL;
}

/* Reads an aligned word. */
static bool read_word(struct walk *w, uint64_t address, uint64_t *value)
{
    if (address % WORD_BYTES || !turn_to(w, address))
        return false;
    *value = *(const uint64_t *)(w->base + address);
    return true;
}

/* Reads the signal frame, which follows a handler's frame, and continues with the interrupted code.
 * Return addresses follow a call and are looked up one byte lower; the interrupted address and the
 * restorer's do not, so both are entered plus 1. */
static bool read_signal_frame(struct walk *w)
{
    uint64_t registers =
        w->above - WORD_BYTES + FRAME_BYTES + offsetof(struct signal_context, registers);
    uint64_t ip;

    if (!read_word(w, registers + offsetof(struct signal_registers, rip), &ip) ||
        !read_word(w, registers + offsetof(struct signal_registers, rbp), &w->fp))
        return false;
    w->word[-1]++;
    if (w->word != w->end)
        pmu_store(w->word++, ip + 1);
    w->above = 0; /* a handler may have a stack of its own */
    return true;
}

/* Reads a frame that may be in two pages. */
static bool read_frame(struct walk *w)
{
    uint64_t next, address;

    if (!read_word(w, w->fp, &next) || !read_word(w, w->fp + WORD_BYTES, &address))
        return false;
    pmu_store(w->word++, address);
    w->above = w->fp + WORD_BYTES;
    w->fp = next;
    return !is_restorer(address) || read_signal_frame(w);
}

/* Frames that were read in one go. */
struct window {
    uint64_t fp; /* after the last one's */
    uint64_t above;
    uint64_t address; /* the last one's return address */
    uint64_t all; /* their frame pointers, or-ed together */
    uint64_t *word;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the size of a window: its frames are too near to each other for a signal frame in
 * between, and not more than there are words for. */
static uint64_t window_bytes(uint64_t words)
{
    return least(WINDOW_BYTES, words * WORD_BYTES - WORD_BYTES);
}

/* Returns how much of a window is in the page in which it begins at `offset`. */
static uint64_t window_in_page(uint64_t bytes, uint64_t offset)
{
    return least(bytes, PAGE_BYTES - FRAME_BYTES - offset);
}

/* Reads the frames within a window of `bytes` bytes that begins at fp, each above the last one.
 * Compares the distance to the window's end, which is negative.  This is most of a stack's cost, so
 * it is in assembly: fifteen instructions for two frames. */
static inline __attribute__((always_inline)) struct window
read_window(uint64_t fp, uint64_t base, uint64_t bytes, uint64_t *word)
{
    uint64_t address, next, last = ~bytes, all = 0, end = fp + bytes + 1;

    __asm__ volatile("1: orq %[fp], %[all]\n\t"
                     "movq 8(%[base], %[fp]), %[address]\n\t"
                     "movq (%[base], %[fp]), %[fp]\n\t"
                     "movnti %[address], (%[word])\n\t"
                     "leaq (%[fp], %[minus_end]), %[next]\n\t"
                     "cmpq %[last], %[next]\n\t"
                     "jbe 2f\n\t"
                     "orq %[fp], %[all]\n\t"
                     "movq 8(%[base], %[fp]), %[address]\n\t"
                     "movq (%[base], %[fp]), %[fp]\n\t"
                     "movnti %[address], 8(%[word])\n\t"
                     "leaq (%[fp], %[minus_end]), %[last]\n\t"
                     "addq $16, %[word]\n\t"
                     "cmpq %[next], %[last]\n\t"
                     "ja 1b\n\t"
                     "movq %[next], %[last]\n\t"
                     "jmp 3f\n"
                     "2: addq $8, %[word]\n"
                     "3:"
                     : [address] "=&r"(address), [fp] "+&r"(fp), [word] "+&r"(word),
                       [next] "=&r"(next), [last] "+&r"(last), [all] "+&r"(all)
                     : [base] "r"(base), [minus_end] "r"(-end)
                     : "memory", "cc");
    return (struct window){fp, end + last + WORD_BYTES, address, all, word};
}

/* Reads a window again in which a frame is not aligned, up to that frame. */
static bool stop_at_unaligned(struct walk *w)
{
    while (w->fp % WORD_BYTES == 0) {
        w->fp = *(const uint64_t *)(w->base + w->fp);
        w->word++;
    }
    return false;
}

/* Takes over a window's result.  Returns false if the chain breaks. */
static bool stack_walk_pass(struct walk *w, struct window seen)
{
    if (seen.all % WORD_BYTES)
        return stop_at_unaligned(w);
    w->fp = seen.fp;
    w->above = seen.above;
    w->word = seen.word;
    return !is_restorer(seen.address) || read_signal_frame(w);
}

/* Reads the next frames.  Returns false if the chain breaks. */
static bool stack_walk_step(struct walk *w)
{
    uint64_t offset, bytes;

    if (w->fp < w->above || w->fp % WORD_BYTES || !turn_to(w, w->fp))
        return false;
    offset = w->fp - w->page;
    if (offset > PAGE_BYTES - FRAME_BYTES)
        return read_frame(w);
    bytes = window_in_page(window_bytes((uint64_t)(w->end - w->word)), offset);
    return stack_walk_pass(w, read_window(w->fp, w->base, bytes, w->word));
}

static void stack_walk_finish(struct trace_slot_stack *stack, uint64_t count, uint64_t root)
{
    pmu_store((uint64_t *)(void *)stack, count | root << 32);
}

/* Finishes the walk.  `good`: the chain is not broken yet. */
static void walk_on(struct trace_slot_stack *stack, struct walk *w, bool good)
{
    while (good && w->fp && w->word != w->end)
        good = stack_walk_step(w);
    stack_walk_finish(stack, (uint64_t)(w->word - stack->words),
                      !good   ? HR_STACK_BROKEN
                      : w->fp ? HR_STACK_CUT
                              : HR_STACK_WHOLE);
}

void stack_walk_behind(struct trace_slot_stack *stack, uint32_t used, uint64_t fp)
{
    struct walk w = {
        .fp = fp, .page = PAGE_NONE, .word = stack->words + used, .end = stack->words + words_max};

    walk_on(stack, &w, true);
}

/* Walks on after the first window, which began at fp. */
static __attribute__((noinline)) void walk_rest(struct trace_slot_stack *stack, uint64_t fp,
                                                uint64_t base, const struct window *seen)
{
    struct walk w = {.fp = fp,
                     .page = fp & ~(PAGE_BYTES - 1ull),
                     .base = base,
                     .word = stack->words,
                     .end = stack->words + words_max};

    walk_on(stack, &w, stack_walk_pass(&w, *seen));
}

void stack_walk_start(uint32_t limit)
{
    words_max = limit;
    first_bytes = window_bytes(limit);
}

/* Many stacks fit into the first window, so it has a fast path. */
void stack_walk(struct trace_slot_stack *stack, uint64_t fp)
{
    uint64_t offset = fp % PAGE_BYTES, base;
    const uint8_t *bytes;
    struct window seen, kept;

    if (fp >= USER_END || offset > PAGE_BYTES - FRAME_BYTES ||
        (bytes = stack_page(fp - offset)) == NULL) {
        stack_walk_behind(stack, 0, fp);
        return;
    }
    base = (uint64_t)bytes + offset - fp;
    seen = read_window(fp, base, window_in_page(first_bytes, offset), stack->words);
    if (!seen.fp && seen.all % WORD_BYTES == 0 && !is_restorer(seen.address)) {
        stack_walk_finish(stack, (uint64_t)(seen.word - stack->words), HR_STACK_WHOLE);
        return;
    }
    kept = seen; /* so that this one stays in registers */
    walk_rest(stack, fp, base, &kept);
}

void stack_walk_check(struct trace_slot_stack *stack, bool kernel)
{
    uint32_t good = 0;

    while (kernel && good < stack->count && stack->words[good] >= KERNEL_BASE)
        good++;
    while (good < stack->count && stack->words[good] - 1 < USER_END - 1)
        good++;
    if (good == stack->count)
        return;
    if (stack->root != HR_STACK_WHOLE || good + 1 != stack->count || stack->words[good])
        stack->root = HR_STACK_BROKEN; /* unless a zero says that there is no caller */
    stack->count = good;
}

/* Stores past the caches, a line at a time, because there are many words. */
static void copy_words(uint64_t *to, const uint64_t *from, uint64_t count)
{
    for (; count >= 8; count -= 8, to += 8, from += 8)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            pmu_store(to + i, from[i]);
    for (; count; count--)
        pmu_store(to++, *from++);
}

void stack_walk_copy(struct trace_slot_stack *stack, uint32_t limit, uint64_t sp)
{
    struct walk w = {.page = PAGE_NONE};
    uint64_t bytes = 0;

    while (bytes < limit && sp % WORD_BYTES == 0 && turn_to(&w, sp)) {
        uint64_t part = PAGE_BYTES - sp % PAGE_BYTES;

        if (part > limit - bytes)
            part = limit - bytes;
        copy_words(stack->words + HR_STACK_REGISTERS + bytes / WORD_BYTES,
                   (const uint64_t *)(w.base + sp), part / WORD_BYTES);
        bytes += part;
        sp += part;
    }
    stack_walk_finish(stack, bytes, bytes ? HR_STACK_WHOLE : HR_STACK_BROKEN);
}
