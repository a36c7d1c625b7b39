/* Checks of the context in which a function is called: a violation panics.  The empty variant,
 * guest/variants/shipped, says what each of them means. */
#pragma once

struct cpu;

void context_check_held(const char *function);
void context_check_thread(const char *function);
void context_check_service(const char *function);
void context_note_holder(const struct cpu *cpu);

#define cross_assert_held() context_check_held(__func__)
#define context_assert_thread() context_check_thread(__func__)
#define context_assert_service() context_check_service(__func__)
