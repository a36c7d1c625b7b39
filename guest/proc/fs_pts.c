/* /dev/pts: the pseudo terminals that there are; 0 is the command's terminal, if it has one. */
#include <sys/stat.h>

#include "guest/file/file_device.h"
#include "guest/file/pty.h"
#include "guest/file/terminal.h"
#include "guest/proc/fs_mounts.h"
#include "guest/proc/fs_proc.h"
#include "guest/thread/process.h"

#define MODE (S_IFCHR | 0620)

static bool pts_is_command(uint32_t number)
{
    return !number && terminal_is_command(&process_first);
}

static bool pts_exists(uint32_t number)
{
    const struct pty *pty = pty_at(number);

    return pts_is_command(number) || (pty != NULL && !pty->hung_up);
}

static struct inode *find_pty(struct thread *, const struct inode *, const char *name)
{
    uint32_t number = fs_proc_number(name);
    struct inode *inode = pts_exists(number) ? inode_new(MODE) : NULL;

    if (inode != NULL) {
        inode->type = pts_is_command(number) ? &file_device_command : &pty_file_slave;
        inode->device = pty_file_slave.device | number;
    }
    return fs_proc_numbered(inode, FS_PROC_PTY, number);
}

static bool list_ptys(struct thread *, const struct inode *, uint64_t *position,
                      struct fs_listed *listed)
{
    while (*position < PTY_MOST && !pts_exists((uint32_t)*position))
        ++*position;
    if (*position == PTY_MOST)
        return false;
    ++*position;
    return fs_proc_list(FS_PROC_PTY, *position - 1, (uint32_t)*position - 1, MODE, listed);
}

const struct fs_special fs_pts = {.lookup = find_pty, .list = list_ptys};
