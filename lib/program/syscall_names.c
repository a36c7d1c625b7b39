/* Names of Linux's x86-64 system calls (Linux 6.1, asm/unistd_64.h). */
#include "lib/program/syscall_names.h"

#include <asm/unistd_64.h>
#include <stddef.h>

#include "lib/array.h"

static const char *const names[] = {
#define SYSCALL(name, handler, support, note) [__NR_##name] = #name,
#include "lib/program/syscall_table.h"
#undef SYSCALL
    /* Calls that the kernel's table does not have. */
    [__NR_uselib] = "uselib",
    [__NR_ustat] = "ustat",
    [__NR_sysfs] = "sysfs",
    [__NR__sysctl] = "_sysctl",
    [__NR_create_module] = "create_module",
    [__NR_get_kernel_syms] = "get_kernel_syms",
    [__NR_query_module] = "query_module",
    [__NR_nfsservctl] = "nfsservctl",
    [__NR_getpmsg] = "getpmsg",
    [__NR_putpmsg] = "putpmsg",
    [__NR_afs_syscall] = "afs_syscall",
    [__NR_tuxcall] = "tuxcall",
    [__NR_security] = "security",
    [__NR_set_thread_area] = "set_thread_area",
    [__NR_get_thread_area] = "get_thread_area",
    [__NR_epoll_ctl_old] = "epoll_ctl_old",
    [__NR_epoll_wait_old] = "epoll_wait_old",
    [__NR_remap_file_pages] = "remap_file_pages",
    [__NR_restart_syscall] = "restart_syscall",
    [__NR_vserver] = "vserver",
    [__NR_inotify_init] = "inotify_init",
    [__NR_inotify_add_watch] = "inotify_add_watch",
    [__NR_inotify_rm_watch] = "inotify_rm_watch",
    [__NR_inotify_init1] = "inotify_init1",
    [__NR_fanotify_mark] = "fanotify_mark",
    [__NR_name_to_handle_at] = "name_to_handle_at",
    [__NR_sched_setattr] = "sched_setattr",
    [__NR_quotactl_fd] = "quotactl_fd",
    [__NR_memfd_secret] = "memfd_secret",
    [__NR_futex_waitv] = "futex_waitv",
    [__NR_set_mempolicy_home_node] = "set_mempolicy_home_node",
};

const char *syscall_name(uint64_t number)
{
    return number < ARRAY_COUNT(names) ? names[number] : NULL;
}

static int same(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int syscall_number(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i] != NULL && same(names[i], name))
            return (int)i;
    return -1;
}
