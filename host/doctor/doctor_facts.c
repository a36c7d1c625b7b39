/* Asks the CPU, KVM, the process's limits and QEMU. */
#include "host/doctor/doctor_facts.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch_find.h"
#include "host/launch/launch_memory.h"
#include "host/launch/launch_pin.h"

#define KVM_ATTEMPTS 3 /* a busy host may interrupt a measurement for longer than it lasts */
#define QEMU_LIMIT_MS 10000

#define LEAF_FEATURES 1u
#define LEAF_HYPERVISOR 0x40000000u
#define LEAF_AMD_FEATURES 0x80000001u
#define LEAF_BRAND 0x80000002u /* and the two after it */
#define LEAF_POWER 0x80000007u
#define FEATURES_VMX (1u << 5) /* ECX */
#define FEATURES_HYPERVISOR (1u << 31) /* ECX */
#define AMD_FEATURES_SVM (1u << 2) /* ECX */
#define POWER_INVARIANT_TSC (1u << 8) /* EDX */

struct leaf {
    uint32_t words[4]; /* EAX, EBX, ECX, EDX */
};

static struct leaf ask(uint32_t function)
{
    struct leaf l = {{0}};

    (void)__get_cpuid(function, &l.words[0], &l.words[1], &l.words[2], &l.words[3]);
    return l;
}

/* Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E.  The hypervisor's leaf is a convention
 * of the hypervisors (Linux: Documentation/virt/kvm/x86/cpuid.rst). */
static void ask_cpu(struct doctor_facts *f)
{
    struct leaf features = ask(LEAF_FEATURES);
    struct leaf hypervisor = {{0}};

    events_cpu_from_host(&f->cpu);
    for (uint32_t i = 0; i < 3; i++) {
        struct leaf part = ask(LEAF_BRAND + i);

        memcpy(f->brand + i * sizeof part, &part, sizeof part);
    }
    f->brand[3 * sizeof(struct leaf)] = 0;
    f->is_guest = (features.words[2] & FEATURES_HYPERVISOR) != 0;
    if (f->is_guest)
        __cpuid(LEAF_HYPERVISOR, hypervisor.words[0], hypervisor.words[1], hypervisor.words[2],
                hypervisor.words[3]);
    memcpy(f->hypervisor, &hypervisor.words[1], 12);
    f->hypervisor[12] = 0;
    f->can_virtualise = (features.words[2] & FEATURES_VMX) != 0 ||
                        (ask(LEAF_AMD_FEATURES).words[2] & AMD_FEATURES_SVM) != 0;
    f->invariant_tsc = (ask(LEAF_POWER).words[3] & POWER_INVARIANT_TSC) != 0;
    cpu_counters_of_host(&f->counters);
}

static void ask_kvm(struct doctor_facts *f)
{
    int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

    f->kvm_error = kvm < 0 ? -errno : cpu_counters_of_kvm(kvm, &f->kvm_counters);
    if (kvm >= 0)
        close(kvm);
    for (int i = 0; i < KVM_ATTEMPTS; i++) {
        launch_accel_measure(&f->kvm);
        if (f->kvm.state != LAUNCH_ACCEL_SLOW)
            break;
    }
}

static void ask_limits(struct doctor_facts *f)
{
    struct run_failure refusal = {0};
    struct rlimit limit = {0, 0};

    f->is_privileged = launch_memory_lock_limit(false) == UINT64_MAX;
    f->may_use_fifo = launch_pin_try_fifo(&refusal) == 0;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        f->memory_lock_bytes = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
    limit.rlim_cur = 0;
    if (getrlimit(RLIMIT_RTPRIO, &limit) == 0)
        f->realtime_priority = limit.rlim_cur == RLIM_INFINITY ? 99 : limit.rlim_cur;
}

/* Reads until the end, a full buffer or the time limit; keeps the first line. */
static void read_first_line(int fd, char *line, size_t room)
{
    size_t used = 0;

    while (used + 1 < room) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ssize_t bytes;

        if (poll(&wait, 1, QEMU_LIMIT_MS) <= 0)
            break;
        bytes = read(fd, line + used, room - 1 - used);
        if (bytes <= 0)
            break;
        used += (size_t)bytes;
    }
    line[used] = 0;
    line[strcspn(line, "\n")] = 0;
}

/* Stores the first line of `qemu --version`. */
static void ask_qemu(struct doctor_facts *f)
{
    char option[] = "--version";
    char *argv[] = {f->qemu, option, NULL};
    posix_spawn_file_actions_t actions;
    int output[2];
    pid_t child;

    if (pipe2(output, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, f->qemu, &actions, NULL, argv, environ) == 0) {
        close(output[1]);
        output[1] = -1;
        read_first_line(output[0], f->qemu_version, sizeof f->qemu_version);
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    posix_spawn_file_actions_destroy(&actions);
    close(output[0]);
    if (output[1] >= 0)
        close(output[1]);
}

/* Finds the programs that a run would start, or the reason why they are missing. */
static void ask_programs(struct doctor_facts *f, const char *qemu)
{
    const struct options o = {.qemu = qemu};
    struct run_failure failure = {0};

    if (launch_find_qemu(&o, f->qemu, &failure) == 0) {
        ask_qemu(f);
    } else {
        f->qemu[0] = 0;
        snprintf(f->no_qemu, sizeof f->no_qemu, "%s", failure.text);
    }
    failure = (struct run_failure){0};
    if (launch_find_kernel(&o, f->kernel, &failure) != 0) {
        f->kernel[0] = 0;
        snprintf(f->no_kernel, sizeof f->no_kernel, "%s", failure.text);
    }
}

void doctor_facts_gather(struct doctor_facts *facts, const char *qemu)
{
    *facts = (struct doctor_facts){.kvm_error = 0};
    ask_cpu(facts);
    ask_kvm(facts);
    ask_limits(facts);
    ask_programs(facts, qemu);
}
