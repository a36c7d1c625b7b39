/* Checks of the context in which a function is called.  In this variant, for users, they are empty;
 * the kernel of the tests has guest/variants/asserting instead.
 *
 * cross_assert_held: the caller holds the kernel lock (guest/cpu/cross.h).
 * context_assert_thread: so it does, and runs on the kernel stack of its CPU's current thread.
 * context_assert_service: it runs on the service CPU, or on the only one.
 * context_note_holder: this CPU has just taken the kernel lock; NULL: it is about to give it back.
 */
#pragma once

struct cpu;

static inline void cross_assert_held(void)
{
}

static inline void context_assert_thread(void)
{
}

static inline void context_assert_service(void)
{
}

static inline void context_note_holder(const struct cpu *)
{
}
