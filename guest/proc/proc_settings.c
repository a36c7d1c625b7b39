/* /proc/sys and the like: settings of Linux that programs read.  Most never change here. */
#include "guest/base/random.h"
#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/base/text.h"
#include "guest/file/files.h"
#include "guest/proc/proc.h"
#include "lib/array.h"

#define KERNEL "/proc/sys/kernel/"
#define VM "/proc/sys/vm/"
#define FS "/proc/sys/fs/"
#define HUGE "/sys/kernel/mm/transparent_hugepage/"
#define NODE "/sys/devices/system/node/"

/* The values of Linux 6.1 on an ordinary machine, or what is true here (randomize_va_space). */
#define SETTINGS(SETTING)                                                         \
    SETTING(KERNEL "ostype", "Linux")                                             \
    SETTING(KERNEL "osrelease", SYSCALL_RELEASE)                                  \
    SETTING(KERNEL "version", SYSCALL_VERSION)                                    \
    SETTING(KERNEL "domainname", "(none)")                                        \
    SETTING(KERNEL "pid_max", "4194304")                                          \
    SETTING(KERNEL "threads-max", "4096")                                         \
    SETTING(KERNEL "cap_last_cap", "40")                                          \
    SETTING(KERNEL "ngroups_max", "65536")                                        \
    SETTING(KERNEL "overflowuid", "65534")                                        \
    SETTING(KERNEL "overflowgid", "65534")                                        \
    SETTING(KERNEL "core_pattern", "core")                                        \
    SETTING(KERNEL "core_uses_pid", "0")                                          \
    SETTING(KERNEL "randomize_va_space", "0")                                     \
    SETTING(KERNEL "perf_event_paranoid", "3")                                    \
    SETTING(KERNEL "kptr_restrict", "1")                                          \
    SETTING(KERNEL "dmesg_restrict", "1")                                         \
    SETTING(KERNEL "numa_balancing", "0")                                         \
    SETTING(KERNEL "sched_rr_timeslice_ms", "100")                                \
    SETTING(KERNEL "tainted", "0")                                                \
    SETTING(KERNEL "panic", "0")                                                  \
    SETTING(KERNEL "io_uring_disabled", "2")                                      \
    SETTING(KERNEL "unprivileged_bpf_disabled", "2")                              \
    SETTING(KERNEL "random/entropy_avail", "256")                                 \
    SETTING(KERNEL "random/poolsize", "256")                                      \
    SETTING(KERNEL "random/urandom_min_reseed_secs", "60")                        \
    SETTING(KERNEL "random/write_wakeup_threshold", "256")                        \
    SETTING(VM "overcommit_memory", "0")                                          \
    SETTING(VM "overcommit_ratio", "50")                                          \
    SETTING(VM "overcommit_kbytes", "0")                                          \
    SETTING(VM "max_map_count", "65530")                                          \
    SETTING(VM "mmap_min_addr", "65536")                                          \
    SETTING(VM "nr_hugepages", "0")                                               \
    SETTING(VM "nr_overcommit_hugepages", "0")                                    \
    SETTING(VM "legacy_va_layout", "0")                                           \
    SETTING(VM "swappiness", "60")                                                \
    SETTING(VM "page-cluster", "3")                                               \
    SETTING(VM "dirty_ratio", "20")                                               \
    SETTING(VM "dirty_background_ratio", "10")                                    \
    SETTING(VM "zone_reclaim_mode", "0")                                          \
    SETTING(FS "file-max", "9223372036854775807")                                 \
    SETTING(FS "nr_open", "1048576")                                              \
    SETTING(FS "aio-max-nr", "65536")                                             \
    SETTING(FS "aio-nr", "0")                                                     \
    SETTING(FS "pipe-max-size", "1048576")                                        \
    SETTING(FS "pipe-user-pages-soft", "16384")                                   \
    SETTING(FS "pipe-user-pages-hard", "0")                                       \
    SETTING(FS "protected_hardlinks", "1")                                        \
    SETTING(FS "protected_symlinks", "1")                                         \
    SETTING(FS "suid_dumpable", "0")                                              \
    SETTING(FS "lease-break-time", "45")                                          \
    SETTING(FS "epoll/max_user_watches", "1000000")                               \
    SETTING(FS "inotify/max_user_watches", "65536")                               \
    SETTING(FS "inotify/max_user_instances", "128")                               \
    SETTING("/proc/sys/net/core/somaxconn", "4096")                               \
    SETTING(HUGE "enabled", "[always] madvise never")                             \
    SETTING(HUGE "defrag", "always defer defer+madvise [madvise] never")          \
    SETTING(HUGE "shmem_enabled", "always within_size advise [never] deny force") \
    SETTING(HUGE "hpage_pmd_size", "2097152")                                     \
    SETTING(HUGE "use_zero_page", "0")                                            \
    SETTING(NODE "online", "0")                                                   \
    SETTING(NODE "possible", "0")                                                 \
    SETTING(NODE "has_cpu", "0")                                                  \
    SETTING(NODE "has_memory", "0")                                               \
    SETTING(NODE "has_normal_memory", "0")                                        \
    SETTING(NODE "node0/distance", "10")

static void hostname(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "%s\n", run.hostname);
}

static void add_uuid(struct text *text, uint8_t bytes[16])
{
    bytes[6] = (bytes[6] & 15) | 0x40; /* RFC 4122: version 4, variant 1 */
    bytes[8] = (bytes[8] & 63) | 0x80;
    for (int i = 0; i < 16; i++)
        text_add(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    text_add(text, "\n");
}

static void uuid(const struct thread *, const struct inode *, struct text *text)
{
    uint8_t bytes[16];

    random_bytes(bytes, sizeof bytes);
    add_uuid(text, bytes);
}

static void boot_id(const struct thread *, const struct inode *, struct text *text)
{
    uint8_t bytes[16] = "Microtome's run"; /* every run boots the same */

    add_uuid(text, bytes);
}

static void file_numbers(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "%u\t0\t9223372036854775807\n", FILES_MAX);
}

#define SETTING_FILE(path, value) {.name = path, .text = value "\n"},

static const struct proc_file files[] = {{.name = KERNEL "hostname", .generate = hostname},
                                         {.name = KERNEL "random/uuid", .generate = uuid},
                                         {.name = KERNEL "random/boot_id", .generate = boot_id},
                                         {.name = FS "file-nr", .generate = file_numbers},
                                         SETTINGS(SETTING_FILE)};

const struct proc_files proc_setting_files = {files, ARRAY_COUNT(files)};
