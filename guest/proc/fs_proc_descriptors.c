/* /proc/PID/fd and /proc/PID/fdinfo. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/base/text.h"
#include "guest/file/files.h"
#include "guest/file/pidfd.h"
#include "guest/proc/fs_proc.h"
#include "guest/proc/proc.h"

#define NUMBERS (1ull << 60) /* inode numbers: kind << 54 | context */
#define NAME_BYTES 24u

uint32_t fs_proc_number(const char *name)
{
    uint64_t value = 0;
    const char *p = name;

    for (; *p >= '0' && *p <= '9' && value < 1u << 30; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    return *p || p == name || (*name == '0' && name[1]) ? UINT32_MAX : (uint32_t)value;
}

static uint64_t inode_number(uint32_t kind, uint64_t context)
{
    return NUMBERS | (uint64_t)kind << 54 | context;
}

struct inode *fs_proc_numbered(struct inode *inode, uint32_t kind, uint64_t context)
{
    if (inode != NULL) {
        inode->number = inode_number(kind, context);
        inode->context = context;
        inode->links = 1;
    }
    return inode;
}

bool fs_proc_list(uint32_t kind, uint64_t context, uint32_t number, uint32_t mode,
                  struct fs_listed *listed)
{
    static char name[NAME_BYTES];

    format_text(name, sizeof name, "%u", number);
    *listed = (struct fs_listed){name, inode_number(kind, context), mode};
    return true;
}

int64_t fs_proc_entry_text(const struct fs_entry *entry, char *out, uint64_t room)
{
    bool gone;
    int64_t bytes = fs_path(entry, out, room, &gone);

    if (bytes >= 0 && gone)
        bytes += format_text(out + bytes, room - (uint64_t)bytes, " (deleted)");
    return bytes < (int64_t)room ? bytes : (int64_t)room - 1;
}

/* Returns an open file of the process that an inode is about, or NULL. */
static struct file *descriptor_file(const struct inode *inode, uint32_t fd)
{
    const struct process *process = proc_process(inode);

    return process != NULL && process->files != NULL ? files_get(process, (int64_t)fd) : NULL;
}

static int64_t descriptor_text(struct thread *, const struct inode *inode, char *out, uint64_t room)
{
    const struct file *file = descriptor_file(inode, (uint32_t)inode->context);

    if (file == NULL)
        return -ENOENT;
    if (file->entry != NULL)
        return fs_proc_entry_text(file->entry, out, room);
    if (file->type->name != NULL)
        return format_text(out, room, "%s", file->type->name);
    if (S_ISCHR(file->type->mode))
        return format_text(out, room, "/dev/pts/0");
    return format_text(out, room, "%s:[%lu]", S_ISSOCK(file->type->mode) ? "socket" : "pipe",
                       FILES_NUMBERS + file->number);
}

static int follow_descriptor(struct thread *, const struct inode *inode, struct fs_entry **entry,
                             struct file **file)
{
    struct file *open = descriptor_file(inode, (uint32_t)inode->context);

    if (open == NULL)
        return -ENOENT;
    if (open->entry != NULL) {
        *entry = open->entry;
        fs_entry_hold(*entry);
    } else {
        *file = open;
        files_hold(open);
    }
    return 0;
}

static const struct fs_special descriptor_link = {.text = descriptor_text,
                                                  .follow = follow_descriptor};

/* Returns permissions that show what the descriptor is open for. */
static uint32_t descriptor_mode(const struct file *file)
{
    static const uint32_t modes[] = {0500, 0300, 0700, 0700};

    return S_IFLNK | modes[file->flags & O_ACCMODE];
}

static struct inode *find_descriptor(struct thread *, const struct inode *directory,
                                     const char *name)
{
    uint32_t fd = fs_proc_number(name);
    const struct file *file = descriptor_file(directory, fd);
    struct inode *inode = file != NULL ? inode_new(descriptor_mode(file)) : NULL;

    if (inode == NULL)
        return NULL;
    inode->special = &descriptor_link;
    inode->bytes = 64; /* as Linux reports */
    return fs_proc_numbered(inode, FS_PROC_DESCRIPTOR, directory->context >> 32 << 32 | fd);
}

static bool next_descriptor(const struct inode *directory, uint64_t *position)
{
    while (*position < FILES_MAX && descriptor_file(directory, (uint32_t)*position) == NULL)
        ++*position;
    return *position < FILES_MAX;
}

static bool list_numbers(const struct inode *directory, uint64_t *position, uint32_t kind,
                         uint32_t mode, struct fs_listed *listed)
{
    uint32_t fd;

    if (!next_descriptor(directory, position))
        return false;
    fd = (uint32_t)(*position)++;
    return fs_proc_list(kind, directory->context >> 32 << 32 | fd, fd, mode, listed);
}

static bool list_descriptors(struct thread *, const struct inode *directory, uint64_t *position,
                             struct fs_listed *listed)
{
    return list_numbers(directory, position, FS_PROC_DESCRIPTOR, S_IFLNK, listed);
}

/* /proc/self/fdinfo/N */
static void descriptor_note(const struct thread *, const struct inode *inode, struct text *text)
{
    const struct file *file = descriptor_file(inode, (uint32_t)inode->context);

    if (file == NULL) {
        text->error = -ENOENT;
        return;
    }
    text_add(text, "pos:\t%lu\nflags:\t0%o\nmnt_id:\t1\nino:\t%lu\n", file->offset, file->flags,
             file->inode != NULL ? file->inode->number : 0);
    if (pidfd_pid(file) >= 0)
        text_add(text, "Pid:\t%ld\n", pidfd_pid(file) ? pidfd_pid(file) : -1);
}

static struct inode *find_note(struct thread *, const struct inode *directory, const char *name)
{
    uint32_t fd = fs_proc_number(name);
    struct inode *inode = descriptor_file(directory, fd) != NULL ? inode_new(S_IFREG | 0444) : NULL;

    if (inode != NULL)
        inode->generate = descriptor_note;
    return fs_proc_numbered(inode, FS_PROC_NOTE, directory->context >> 32 << 32 | fd);
}

static bool list_notes(struct thread *, const struct inode *directory, uint64_t *position,
                       struct fs_listed *listed)
{
    return list_numbers(directory, position, FS_PROC_NOTE, S_IFREG, listed);
}

const struct fs_special fs_proc_descriptors = {.lookup = find_descriptor, .list = list_descriptors};
const struct fs_special fs_proc_descriptor_notes = {.lookup = find_note, .list = list_notes};
