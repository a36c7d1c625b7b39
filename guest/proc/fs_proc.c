/* The files of /proc that appear and disappear with threads and descriptors. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/file/files.h"
#include "guest/proc/fs_mounts.h"
#include "guest/proc/proc.h"
#include "guest/thread/threads.h"

#define NUMBERS (1ull << 40) /* inode numbers: kind << 32 | thread or descriptor */
#define NAME_BYTES 24u

enum kind { KIND_TASK = 1, KIND_DESCRIPTOR, KIND_NOTE, KIND_FILE };

/* Reads a decimal number without a sign or leading zeros; UINT32_MAX: it is none. */
static uint32_t number_of(const char *name)
{
    uint64_t value = 0;
    const char *p = name;

    for (; *p >= '0' && *p <= '9' && value < 1u << 30; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    return *p || p == name || (*name == '0' && name[1]) ? UINT32_MAX : (uint32_t)value;
}

static struct inode *numbered(struct inode *inode, enum kind kind, uint64_t number)
{
    if (inode != NULL) {
        inode->number = NUMBERS | (uint64_t)kind << 32 | number;
        inode->context = number;
        inode->links = 1;
    }
    return inode;
}

static bool list_number(uint64_t number, enum kind kind, uint32_t mode, struct fs_listed *listed)
{
    static char name[NAME_BYTES];

    format_text(name, sizeof name, "%lu", number);
    *listed = (struct fs_listed){name, NUMBERS | (uint64_t)kind << 32 | number, mode};
    return true;
}

/* ---- links */

static int64_t self_text(struct thread *thread, const struct inode *, char *out, uint64_t room)
{
    return format_text(out, room, "%u", thread->process->pid);
}

static int64_t thread_self_text(struct thread *thread, const struct inode *, char *out,
                                uint64_t room)
{
    return format_text(out, room, "%u/task/%u", thread->process->pid, thread->tid);
}

static int follow_program(struct thread *thread, const struct inode *, struct fs_entry **entry,
                          struct file **)
{
    *entry = thread->process->program->entry;
    fs_entry_hold(*entry);
    return 0;
}

static int64_t entry_text(const struct fs_entry *entry, char *out, uint64_t room)
{
    bool gone;
    int64_t bytes = fs_path(entry, out, room, &gone);

    if (bytes >= 0 && gone)
        bytes += format_text(out + bytes, room - (uint64_t)bytes, " (deleted)");
    return bytes < (int64_t)room ? bytes : (int64_t)room - 1;
}

static int64_t program_text(struct thread *thread, const struct inode *, char *out, uint64_t room)
{
    const struct process_program *program = thread->process->program;
    uint64_t bytes = strnlen(program->path, room);

    if (!program->elsewhere)
        return entry_text(program->entry, out, room);
    memcpy(out, program->path, bytes);
    return (int64_t)bytes;
}

static int64_t directory_text(struct thread *thread, const struct inode *, char *out, uint64_t room)
{
    return entry_text(thread->process->directory, out, room);
}

static int follow_directory(struct thread *thread, const struct inode *, struct fs_entry **entry,
                            struct file **)
{
    *entry = thread->process->directory;
    fs_entry_hold(*entry);
    return 0;
}

static int64_t root_text(struct thread *, const struct inode *, char *out, uint64_t room)
{
    return format_text(out, room, "/");
}

static int follow_root(struct thread *, const struct inode *, struct fs_entry **entry,
                       struct file **)
{
    *entry = fs_root;
    fs_entry_hold(*entry);
    return 0;
}

/* ---- descriptors */

static int64_t descriptor_text(struct thread *thread, const struct inode *inode, char *out,
                               uint64_t room)
{
    const struct file *file = files_get(thread->process, (int64_t)inode->context);

    if (file == NULL)
        return -ENOENT;
    if (file->entry != NULL)
        return entry_text(file->entry, out, room);
    if (file->type->name != NULL)
        return format_text(out, room, "%s", file->type->name);
    if (S_ISCHR(file->type->mode))
        return format_text(out, room, "/dev/pts/0");
    return format_text(out, room, "pipe:[%u]", (uint32_t)(file->stream + 1));
}

static int follow_descriptor(struct thread *thread, const struct inode *inode,
                             struct fs_entry **entry, struct file **file)
{
    struct file *open = files_get(thread->process, (int64_t)inode->context);

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

static struct inode *find_descriptor(struct thread *thread, const struct inode *, const char *name)
{
    uint32_t fd = number_of(name);
    const struct file *file = thread != NULL ? files_get(thread->process, (int64_t)fd) : NULL;
    struct inode *inode = file != NULL ? inode_new(descriptor_mode(file)) : NULL;

    if (inode == NULL)
        return NULL;
    inode->special = &descriptor_link;
    inode->bytes = 64; /* as Linux reports */
    return numbered(inode, KIND_DESCRIPTOR, fd);
}

static bool next_descriptor(struct thread *thread, uint64_t *position)
{
    while (*position < FILES_MAX && files_get(thread->process, (int64_t)*position) == NULL)
        ++*position;
    return *position < FILES_MAX;
}

static bool list_descriptors(struct thread *thread, const struct inode *, uint64_t *position,
                             struct fs_listed *listed)
{
    return next_descriptor(thread, position) &&
           list_number((*position)++, KIND_DESCRIPTOR, S_IFLNK, listed);
}

/* /proc/self/fdinfo/N */
static void descriptor_note(const struct thread *thread, const struct inode *inode,
                            struct text *text)
{
    const struct file *file = files_get(thread->process, (int64_t)inode->context);

    if (file == NULL) {
        text->error = -ENOENT;
        return;
    }
    text_add(text, "pos:\t%lu\nflags:\t0%o\nmnt_id:\t1\nino:\t%lu\n", file->offset, file->flags,
             file->inode != NULL ? file->inode->number : 0);
}

static struct inode *find_note(struct thread *thread, const struct inode *, const char *name)
{
    uint32_t fd = number_of(name);
    bool there = thread != NULL && files_get(thread->process, (int64_t)fd) != NULL;
    struct inode *inode = there ? inode_new(S_IFREG | 0444) : NULL;

    if (inode != NULL)
        inode->generate = descriptor_note;
    return numbered(inode, KIND_NOTE, fd);
}

static bool list_notes(struct thread *thread, const struct inode *, uint64_t *position,
                       struct fs_listed *listed)
{
    return next_descriptor(thread, position) &&
           list_number((*position)++, KIND_NOTE, S_IFREG, listed);
}

/* ---- threads */

struct search { /* searches the files of a process's directory: by name, or for the next one */
    const char *name;
    uint64_t position;
    uint64_t visited;
    const struct proc_file *file;
};

static void compare(const char *name, const struct proc_file *file, uint64_t /* context */,
                    void *argument)
{
    struct search *search = argument;
    bool wanted = search->name != NULL ? strcmp(name, search->name) == 0
                                       : search->visited == search->position;

    if (wanted && search->file == NULL)
        search->file = file;
    search->visited++;
}

static struct inode *find_task_file(struct thread *, const struct inode *directory,
                                    const char *name)
{
    struct search search = {.name = name};
    struct inode *inode;

    proc_each_of_process(compare, &search);
    if (search.file == NULL)
        return NULL;
    inode = proc_new_file(search.file, directory->context);
    if (inode != NULL)
        inode->links = 1;
    return inode;
}

static bool list_task_files(struct thread *, const struct inode *directory, uint64_t *position,
                            struct fs_listed *listed)
{
    struct search search = {.position = *position};

    proc_each_of_process(compare, &search);
    if (search.file == NULL)
        return false;
    *listed = (struct fs_listed){
        search.file->name,
        NUMBERS | (uint64_t)KIND_FILE << 32 | directory->context << 8 | *position, S_IFREG};
    ++*position;
    return true;
}

static const struct fs_special task = {.lookup = find_task_file, .list = list_task_files};

static struct inode *find_task(struct thread *, const struct inode *, const char *name)
{
    uint32_t tid = number_of(name);
    struct inode *inode =
        tid != UINT32_MAX && threads_find(tid) != NULL ? fs_new_directory(0555) : NULL;

    if (inode != NULL)
        inode->special = &task;
    return numbered(inode, KIND_TASK, tid);
}

/* Finds the thread with the lowest number above `above`; tid 0: none. */
struct lowest {
    uint32_t above;
    uint32_t tid;
};

static void keep_lowest(struct thread *thread, void *context)
{
    struct lowest *lowest = context;

    if (thread->tid > lowest->above && (!lowest->tid || thread->tid < lowest->tid))
        lowest->tid = thread->tid;
}

static bool list_tasks(struct thread *, const struct inode *, uint64_t *position,
                       struct fs_listed *listed)
{
    struct lowest lowest = {.above = (uint32_t)*position};

    threads_each(&process_first, keep_lowest, &lowest);
    if (!lowest.tid)
        return false;
    *position = lowest.tid;
    return list_number(lowest.tid, KIND_TASK, S_IFDIR, listed);
}

const struct fs_special fs_proc_self = {.text = self_text};
const struct fs_special fs_proc_thread_self = {.text = thread_self_text};
const struct fs_special fs_proc_program = {.text = program_text, .follow = follow_program};
const struct fs_special fs_proc_directory = {.text = directory_text, .follow = follow_directory};
const struct fs_special fs_proc_root = {.text = root_text, .follow = follow_root};
const struct fs_special fs_proc_tasks = {.lookup = find_task, .list = list_tasks};
const struct fs_special fs_proc_descriptors = {.lookup = find_descriptor, .list = list_descriptors};
const struct fs_special fs_proc_descriptor_notes = {.lookup = find_note, .list = list_notes};
