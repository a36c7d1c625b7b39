/* CPUs wait for each other while the kernel starts. */
#include "guest/cpu/turn.h"

#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "lib/x86.h"

/* A call that comes between the look and the halt ends the halt.  One that comes after the last
 * look reaches the CPU in ring 3: trap_attention() takes it. */
void turn_wait(const uint32_t *word, uint32_t value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
        x86_wait_for_interrupt();
}

void turn_set(uint32_t *word, uint32_t value, uint32_t first)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    for (uint32_t i = first; i < cpu_count; i++)
        cross_call(&cpus[i]);
}
