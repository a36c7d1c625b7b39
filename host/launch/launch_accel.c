/* Measures KVM with a minimal virtual machine: one page, one loop, one halt. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/launch/launch_accel.h"

#define CODE_ADDRESS 0x1000u
#define CODE_BYTES 4096u
#define LOOK_US 500 /* how often the loop is interrupted */
#define LIMIT_NS 2000000u /* CPU time that the loop may take */
#define ITERATIONS 100000u /* of loop_code: its second to fifth byte */
#define LOOP_INSTRUCTIONS 2

/* Real mode: mov ecx, 100000; again: dec ecx; jnz again; hlt.  These 200,000 instructions take
 * about 0.1 ms on hardware and tens of milliseconds where KVM emulates each of them. */
static const uint8_t loop_code[] = {
    0x66, 0xb9, 0xa0, 0x86, 0x01, 0x00, /* mov ecx, 100000 */
    0x66, 0x49, /* dec ecx */
    0x75, 0xfc, /* jnz to the dec */
    0xf4, /* hlt */
};

struct tiny_machine {
    int kvm;
    int machine;
    int cpu;
    void *code;
    struct kvm_run *run;
    size_t run_bytes;
};

static void ignore_alarm(int /* signal_number */)
{
}

static void destroy(struct tiny_machine *m)
{
    if (m->run != NULL)
        munmap(m->run, m->run_bytes);
    if (m->cpu >= 0)
        close(m->cpu);
    if (m->machine >= 0)
        close(m->machine);
    if (m->code != NULL)
        munmap(m->code, CODE_BYTES);
    if (m->kvm >= 0)
        close(m->kvm);
}

static bool map_memory(struct tiny_machine *m)
{
    struct kvm_userspace_memory_region region = {
        .guest_phys_addr = CODE_ADDRESS,
        .memory_size = CODE_BYTES,
    };
    void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        return false;
    m->code = code;
    memcpy(m->code, loop_code, sizeof loop_code);
    region.userspace_addr = (uintptr_t)m->code;
    return ioctl(m->machine, KVM_SET_USER_MEMORY_REGION, &region) == 0;
}

static bool create(struct tiny_machine *m)
{
    struct kvm_sregs segments;
    struct kvm_regs registers = {.rip = CODE_ADDRESS, .rflags = 2};
    int run_bytes = ioctl(m->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
    void *run;

    m->machine = ioctl(m->kvm, KVM_CREATE_VM, 0);
    if (run_bytes < (int)sizeof(struct kvm_run) || m->machine < 0 || !map_memory(m))
        return false;
    m->cpu = ioctl(m->machine, KVM_CREATE_VCPU, 0);
    if (m->cpu < 0)
        return false;
    m->run_bytes = (size_t)run_bytes;
    run = mmap(NULL, m->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->cpu, 0);
    if (run == MAP_FAILED)
        return false;
    m->run = run;
    if (ioctl(m->cpu, KVM_GET_SREGS, &segments) != 0)
        return false;
    segments.cs.base = 0;
    segments.cs.selector = 0;
    return ioctl(m->cpu, KVM_SET_SREGS, &segments) == 0 &&
           ioctl(m->cpu, KVM_SET_REGS, &registers) == 0;
}

/* CPU time of this thread, in ns.  It counts what a virtual CPU executes, and it stands while
 * other programs keep the CPU. */
static uint64_t thread_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Enters the machine until it halts or the loop has taken LIMIT_NS.  Returns 0, or the error
 * of KVM_RUN: EINTR after the limit.  Stores the CPU time that was spent, in ns. */
static int run_limited(struct tiny_machine *m, double *spent_ns)
{
    const struct itimerval look = {{0, LOOK_US}, {0, LOOK_US}};
    const struct itimerval off = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = ignore_alarm};
    struct sigaction before;
    uint64_t start_ns = thread_cpu_ns(), now_ns;
    int error;

    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &look, NULL);
    do {
        error = ioctl(m->cpu, KVM_RUN, 0) == 0 ? 0 : errno;
        now_ns = thread_cpu_ns();
    } while (error == EINTR && now_ns - start_ns < LIMIT_NS);
    setitimer(ITIMER_REAL, &off, NULL);
    sigaction(SIGALRM, &before, NULL);
    *spent_ns = (double)(now_ns - start_ns);
    return error;
}

/* Runs the loop until its halt or the limit; ECX then shows how far it came. */
static enum launch_accel_state run_loop(struct tiny_machine *m, double *instruction_ns)
{
    struct kvm_regs registers;
    double spent_ns;
    uint32_t left;
    int error = run_limited(m, &spent_ns);

    if (error == 0 ? m->run->exit_reason != KVM_EXIT_HLT : error != EINTR)
        return LAUNCH_ACCEL_BROKEN;
    if (ioctl(m->cpu, KVM_GET_REGS, &registers) != 0)
        return LAUNCH_ACCEL_BROKEN;
    left = (uint32_t)registers.rcx;
    if (registers.rip > CODE_ADDRESS && left < ITERATIONS)
        *instruction_ns = spent_ns / ((ITERATIONS - left) * (double)LOOP_INSTRUCTIONS);
    return error == 0 ? LAUNCH_ACCEL_FAST : LAUNCH_ACCEL_SLOW;
}

static double own_instruction_ns(void)
{
    uint32_t count = ITERATIONS;
    double start_ns = (double)monotonic_ns();

    __asm__ volatile("1: decl %0; jnz 1b" : "+r"(count)::"cc");
    return ((double)monotonic_ns() - start_ns) / (ITERATIONS * (double)LOOP_INSTRUCTIONS);
}

void launch_accel_measure(struct launch_accel_speed *speed)
{
    struct tiny_machine m = {.kvm = -1, .machine = -1, .cpu = -1};

    *speed = (struct launch_accel_speed){.state = LAUNCH_ACCEL_BROKEN};
    m.kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    if (m.kvm < 0) {
        speed->state =
            errno == EACCES || errno == EPERM ? LAUNCH_ACCEL_FORBIDDEN : LAUNCH_ACCEL_ABSENT;
        return;
    }
    if (create(&m))
        speed->state = run_loop(&m, &speed->kvm_ns);
    speed->own_ns = own_instruction_ns();
    destroy(&m);
}

bool launch_accel_kvm_is_fast(const char **why)
{
    static const char *const reasons[] = {
        [LAUNCH_ACCEL_FAST] = "/dev/kvm works at full speed",
        [LAUNCH_ACCEL_SLOW] = "/dev/kvm executes guests too slowly: it emulates their instructions",
        [LAUNCH_ACCEL_ABSENT] = "no /dev/kvm",
        [LAUNCH_ACCEL_FORBIDDEN] = "no permission for /dev/kvm",
        [LAUNCH_ACCEL_BROKEN] = "/dev/kvm refuses to create a virtual machine",
    };
    struct launch_accel_speed speed;

    launch_accel_measure(&speed);
    *why = reasons[speed.state];
    return speed.state == LAUNCH_ACCEL_FAST;
}
