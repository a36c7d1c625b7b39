/* Follows frame pointers through the program's memory, and copies the top of its stack. */
#include "guest/sample/stack_walk.h"

#include <stdbool.h>
#include <stddef.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/layout.h"
#include "guest/base/signal_layout.h"
#include "lib/x86.h"

#define CPUID_7_EBX_BMI2 (1u << 8)
#define FRAME_BYTES 16u /* the caller's frame pointer, and the return address */
#define WORD_BYTES 8u
#define WINDOW_BYTES 1024u /* less than lies between a handler's frame and what it interrupted */

#define NO_RESTORER UINT64_MAX
uint64_t stack_frames_top;
uint32_t stack_walk_words;
static bool has_bmi2; /* which has one instruction for a load and a rotation */
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
    uint64_t pushed; /* how many stack_frames has found before */
};

#define PAGE_NONE UINT64_MAX

/* stack_frames passes return addresses without a look at what they are, each frame of its page. */
static void find_top(void)
{
    stack_frames_top = has_bmi2 && stack_walk_words > STACK_STEP && restorers[0] == NO_RESTORER
                           ? (stack_walk_words - STACK_STEP) * WORD_BYTES
                           : 0;
}

void stack_walk_add_restorer(uint64_t address)
{
    __atomic_store_n(&stack_frames_top, 0, __ATOMIC_RELAXED);
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
    uint64_t *word; /* the last one's */
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

/* Returns where the last frame of a window of so many bytes may be, in the page of its first. */
static inline uint64_t window_end(uint64_t fp, uint64_t bytes)
{
    return least(fp + bytes, (fp & ~(PAGE_BYTES - 1ull)) + PAGE_BYTES - FRAME_BYTES);
}

/* One frame of a window, whose return address is stored at `offset`.  `from` and `to` are frame
 * pointers as words after the window's end, so they are negative.  A frame pointer that is not
 * aligned has bits at the top after the rotation, and is outside. */
#define WINDOW_FRAME(load, from, to, offset)                                             \
    "movq 8(%[base], %[" from "], 8), %[address]\n\t"                                    \
    "movnti %[address], " offset "(%[word])\n\t" load "addq %[minus_end], %[" to "]\n\t" \
    "cmpq %[" from "], %[" to "]\n\t"
#define WINDOW(load)                                                                               \
    "1:" WINDOW_FRAME(load("at", "next"), "at", "next", "8") "jbe 2f\n\t" WINDOW_FRAME(            \
        load("next", "at"), "next", "at",                                                          \
        "16") "jbe 3f\n\t" WINDOW_FRAME(load("at", "next"), "at", "next",                          \
                                        "24") "jbe 4f\n\t" WINDOW_FRAME(load("next", "at"),        \
                                                                        "next", "at",              \
                                                                        "32") "leaq 32(%[word]), " \
                                                                              "%[word]\n\t"        \
                                                                              "ja 1b\n\t"          \
                                                                              "xchgq %[at], "      \
                                                                              "%[next]\n\t"        \
                                                                              "jmp 5f\n"           \
                                                                              "3: xchgq %[at], "   \
                                                                              "%[next]\n\t"        \
                                                                              "addq $16, "         \
                                                                              "%[word]\n\t"        \
                                                                              "jmp 5f\n"           \
                                                                              "4: addq $16, "      \
                                                                              "%[word]\n"          \
                                                                              "2: addq $8, "       \
                                                                              "%[word]\n"          \
                                                                              "5:"
#define LOAD_BMI2(from, to) "rorxq $3, (%[base], %[" from "], 8), %[" to "]\n\t"
#define LOAD_ANY(from, to) "movq (%[base], %[" from "], 8), %[" to "]\n\trorq $3, %[" to "]\n\t"

/* Reads the frames from fp to `end`, each above the last one, into the words after `word`.  This is
 * most of a stack's cost, so it is in assembly: twenty-five instructions for four frames. */
static inline __attribute__((always_inline)) struct window read_window(uint64_t fp, uint64_t base,
                                                                       uint64_t end, uint64_t *word)
{
    uint64_t minus_end = ~(end / WORD_BYTES), at, address, next;

    __asm__("" : "+r"(minus_end)); /* so that it is computed once */
    at = fp / WORD_BYTES + minus_end;
    base += end + WORD_BYTES;
    if (__builtin_expect(has_bmi2, 1))
        __asm__ volatile(
            WINDOW(LOAD_BMI2)
            : [address] "=&r"(address), [word] "+&r"(word), [next] "=&r"(next), [at] "+&r"(at)
            : [base] "r"(base), [minus_end] "r"(minus_end)
            : "memory", "cc");
    else
        __asm__ volatile(
            WINDOW(LOAD_ANY)
            : [address] "=&r"(address), [word] "+&r"(word), [next] "=&r"(next), [at] "+&r"(at)
            : [base] "r"(base), [minus_end] "r"(minus_end)
            : "memory", "cc");
    next -= minus_end;
    return (struct window){.fp = next << 3 | next >> 61,
                           .above = end + (at + 2) * WORD_BYTES,
                           .address = address,
                           .word = word};
}

/* Reads the next frames.  Returns false if the chain breaks. */
static bool stack_walk_step(struct walk *w)
{
    struct window seen;

    if (w->fp < w->above || w->fp % WORD_BYTES || !turn_to(w, w->fp))
        return false;
    if (w->fp - w->page > PAGE_BYTES - FRAME_BYTES)
        return read_frame(w);
    seen = read_window(w->fp, w->base,
                       window_end(w->fp, window_bytes((uint64_t)(w->end - w->word))), w->word - 1);
    w->fp = seen.fp;
    w->above = seen.above;
    w->word = seen.word + 1;
    return !is_restorer(seen.address) || read_signal_frame(w);
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
                      w->pushed << STACK_ROOT_BITS | (!good   ? HR_STACK_BROKEN
                                                      : w->fp ? HR_STACK_CUT
                                                              : HR_STACK_WHOLE));
}

void stack_walk_behind(struct trace_slot_stack *stack, uint32_t used, uint64_t fp)
{
    struct walk w = {.fp = fp,
                     .page = PAGE_NONE,
                     .word = stack->words + used,
                     .end = stack->words + stack_walk_words};

    walk_on(stack, &w, true);
}

void stack_walk_start(uint32_t limit)
{
    has_bmi2 = x86_cpuid(0, 0).eax >= 7 && x86_cpuid(7, 0).ebx & CPUID_7_EBX_BMI2;
    stack_walk_words = limit;
    first_bytes = window_bytes(limit);
    find_top();
}

/* Returns what is known of the page of `frames`, to be filled further. */
static inline struct walk walk_in(const volatile struct cpu_frames *frames)
{
    uint64_t last = (0 - frames->minus_end) * WORD_BYTES; /* word of the page */

    return (struct walk){.page = last & ~(PAGE_BYTES - 1ull), .base = frames->end - last};
}

/* Walks on after the first window.  `frames` is volatile lest the compiler passes what is in it,
 * and that on the stack. */
static __attribute__((noinline)) void walk_further(struct trace_slot_stack *stack,
                                                   const volatile struct cpu_frames *frames,
                                                   uint64_t fp, uint64_t above, uint64_t address,
                                                   uint64_t *word)
{
    struct walk w = walk_in(frames);

    w.fp = fp;
    w.above = above;
    w.word = word + 1;
    w.end = stack->words + stack_walk_words;
    walk_on(stack, &w, !is_restorer(address) || read_signal_frame(&w));
}

/* Walks from the first frame on, in a page that was not the last one. */
static __attribute__((noinline)) void walk_elsewhere(struct trace_slot_stack *stack, uint64_t fp,
                                                     struct cpu_frames *frames)
{
    struct walk w = {
        .fp = fp, .page = PAGE_NONE, .word = stack->words, .end = stack->words + stack_walk_words};

    uint64_t last;

    if (!fp || !turn_to(&w, fp)) {
        stack_walk_finish(stack, 0, fp ? HR_STACK_BROKEN : HR_STACK_WHOLE);
        return;
    }
    last = w.page + PAGE_BYTES - WORD_BYTES;
    *frames = (struct cpu_frames){
        .floor = CPU_PAGE_FLOOR, .minus_end = 0 - last / WORD_BYTES, .end = w.base + last};
    walk_on(stack, &w, true);
}

/* Walks from the first frame on, whose page is known.  Many stacks fit into the first window. */
static __attribute__((noinline)) void walk_here(struct trace_slot_stack *stack, uint64_t fp,
                                                const struct cpu_frames *frames)
{
    uint64_t last = (0 - frames->minus_end) * WORD_BYTES, *word;
    struct window seen;

    word = (uint64_t *)(void *)stack; /* the one before the first */
    seen = read_window(fp, frames->end - last, least(fp + first_bytes, last - WORD_BYTES), word);
    if (__builtin_expect(seen.fp || seen.address == restorers[0] || restorers[1] != NO_RESTORER,
                         0)) {
        walk_further(stack, frames, seen.fp, seen.above, seen.address, seen.word);
        return;
    }
    stack_walk_finish(stack, (uint64_t)(seen.word - word), HR_STACK_WHOLE);
}

/* Walks on after the words that stack_frames has pushed. */
static __attribute__((noinline)) void walk_after(struct trace_slot_stack *stack,
                                                 const struct cpu_frames *frames,
                                                 const uint64_t *pushed, uint64_t last,
                                                 uint64_t next)
{
    uint64_t *end = stack->words + stack_walk_words;
    struct walk w = walk_in(frames);

    w.fp = next;
    w.above = last + WORD_BYTES;
    w.word = stack->words;
    w.pushed = (uint64_t)(end - pushed);
    w.end = end - w.pushed;
    walk_on(stack, &w, true);
}

/* Its calls are its last, each of them, so that it saves no registers. */
void stack_walk_rest(struct trace_slot_stack *stack, uint64_t fp, struct cpu *cpu, uint64_t last,
                     uint64_t next)
{
    uint64_t pushed = *(uint64_t *)(void *)stack;

    if (pushed)
        walk_after(stack, &cpu->frames, (const uint64_t *)pushed, last, next);
    else if ((fp >> 3 | fp << 61) + cpu->frames.minus_end > cpu->frames.floor)
        walk_here(stack, fp, &cpu->frames);
    else
        walk_elsewhere(stack, fp, &cpu->frames);
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
