/* Inodes: files independent of their names and descriptors.  The whole file system is in memory:
 * pages that the program wrote, on top of the archive's contents, which are copied only when the
 * program changes them.  Context: thread, by the kernel lock's holder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;
struct thread;
struct file_type;
struct inode_directory; /* guest/fs/fs_tree.c */
struct fs_special; /* guest/fs/fs.h */
struct inode;

/* Generates the contents of a file in /proc or /sys, at every open; guest/base/text.h. */
typedef void inode_generate(const struct thread *thread, const struct inode *inode,
                            struct text *text);

#define INODE_NOT_SERVED UINT64_MAX

struct inode_times { /* nanoseconds since 1970 */
    uint64_t accessed;
    uint64_t modified;
    uint64_t changed;
    uint64_t created;
};

struct inode {
    uint64_t number; /* st_ino; never used twice */
    uint32_t mode; /* S_IF* and permissions */
    uint32_t user, group;
    uint32_t device; /* character devices: major << 8 | minor */
    uint32_t links; /* names; 0: freed with the last reference */
    uint32_t references; /* open files, areas, working directories, names */
    uint32_t mappings; /* areas of the address space that show it: guest/vm/vm.h */
    bool unnamed; /* made without a name (O_TMPFILE): it may get one */
    bool can_seal; /* made by memfd_create */
    uint32_t seals; /* F_SEAL_* */
    uint32_t runs; /* processes whose program it is: writing fails with ETXTBSY */
    uint32_t writers; /* files open for writing: it cannot be executed */
    bool mount; /* a directory that stays where it is: /dev, /proc, ... */
    bool temporary; /* a directory of temporary files: those of the host are not listed */
    bool listed; /* a directory in which all names of the host's are entries */
    uint8_t asked; /* names of a directory that the host was asked for, up to 255 */
    bool changed; /* its contents, or what describes it, by the program */
    bool written; /* its contents, by the program */
    bool kept; /* the host has it under a name: guest/fs/fs_kept.c */
    bool sent; /* some of its pages were given out by inode_next_unsent */
    bool stale; /* some of the sent pages are gone */
    struct inode_times times;
    uint64_t bytes; /* regular files, symbolic links */
    /* regular files: contents not written yet, in the archive; then pages by index */
    const uint8_t *base;
    uint64_t base_bytes; /* bytes after it read as zeros; truncation reduces it */
    uint64_t served; /* the host's number of it (include/run_serve.h): `base` is NULL, and missing
                        pages are fetched; 0: not asked yet (directories), or INODE_NOT_SERVED */
    struct inode *served_next, *served_previous; /* those with fetched pages, oldest first */
    uint32_t readers; /* in the middle of a copy: its pages stay */
    uint64_t first_page; /* the entry of its first page */
    uint64_t
        pages; /* root of a radix tree of physical addresses; 0: none: guest/vm/inode_pages.h */
    uint64_t page_count; /* that it owns */
    uint64_t unsent_pages; /* that the program wrote since inode_next_unsent gave them out */
    const char *target; /* symbolic links: `bytes` bytes, NUL-terminated */
    bool target_owned; /* on the heap */
    struct inode_directory *directory;
    void (*freed)(struct inode *inode); /* when the last reference goes */
    const struct file_type *type; /* what opening makes, unless it is a regular file; of a
                                     directory: what is in it */
    struct pipe *pipe; /* of a FIFO that is open: guest/file/fifo.c */
    struct socket *socket; /* that is bound to its name: guest/socket/socket_unix.c */
    struct probe_object *probes; /* that its code has: guest/probe/probe_show.c */
    inode_generate *generate;
    const struct fs_special *special; /* directories and links of /proc */
    /* Segments of shared memory: called when an area began, or ended, to show it.  Such areas are
     * never joined. */
    void (*shown)(struct inode *inode, bool more);
    uint64_t context; /* for those who make generated files, dynamic directories and so on */
};

/* Fetches the block of pages with page `index` from the host by inode_add_block.  Returns 0, -EIO
 * or -ENOMEM.  Set at boot. */
extern int (*inode_fetch)(struct inode *inode, uint64_t index);

/* Adds what the host sent of a file from page `first` on, except for pages that it has.  Returns 0
 * if page `index` is there then; -EIO if it was not sent, or -ENOMEM. */
int inode_add_block(struct inode *inode, uint64_t first, const uint8_t *data, uint64_t bytes,
                    uint64_t index);

/* Frees pages that can be fetched again until `bytes` of memory are free: those of files that were
 * not written and are neither mapped nor being read, the one fetched longest ago first.  A read of
 * `fetching` holds none of its pages while it waits for one. */
void inode_make_room(const struct inode *fetching, uint64_t bytes);

/* Returns whether seals forbid this write. */
bool inode_sealed(const struct inode *inode, uint64_t offset, uint64_t bytes);

/* Returns wall time, for an inode's times. */
uint64_t inode_now(void);

/* Returns a new inode with one reference and the present time, or NULL if out of memory. */
struct inode *inode_new(uint32_t mode);
void inode_hold(struct inode *inode);
void inode_release(struct inode *inode); /* the last one frees it and its pages */

/* Finds page `index` of a regular file.  To read: gives the file's own page, one of the archive's
 * (page-aligned and whole), or for a hole the page of zeros; the caller must not write it.  To
 * write: gives a page of the file's own, made if there is none.  If that replaces a page that areas
 * show, they forget it (vm_inode_changed).  The inode keeps owning the page.  Returns 0, -ENOMEM,
 * or -ENXIO if the whole page is past the end of the file. */
int inode_page(struct inode *inode, uint64_t index, bool write, uint64_t *physical);

/* Finds `count` pages from page `index` on as inode_page does to read them, but only those whose
 * contents are in memory; 0: they are not, or there are none. */
void inode_present(struct inode *inode, uint64_t index, uint64_t *found, uint64_t count);

/* Makes a page of memory a page of the file, which has none there.  Returns 0 or -ENOMEM.
 * inode_take_all gives all pages back to the caller. */
int inode_give(struct inode *inode, uint64_t index, uint64_t page);
void inode_take_all(struct inode *inode);

/* Copy contents to or from kernel memory; a write extends the file if needed.  Return the bytes
 * moved (fewer at the end of the file), or -ENOMEM or -EFBIG.  A write fails rather than take the
 * last part of memory, which is left to the program. */
int64_t inode_read(struct inode *inode, uint64_t offset, void *to, uint64_t bytes);
int64_t inode_write(struct inode *inode, uint64_t offset, const void *from, uint64_t bytes);

/* As inode_read and inode_write, with the calling thread's memory (guest/vm/uaccess.h); may also
 * return -EFAULT. */
int64_t inode_read_user(struct inode *inode, uint64_t offset, uint64_t user, uint64_t bytes);
int64_t inode_write_user(struct inode *inode, uint64_t offset, uint64_t user, uint64_t bytes);

int inode_truncate(struct inode *inode, uint64_t bytes); /* or extend; 0, -ENOMEM, -EFBIG */
int inode_punch(struct inode *inode, uint64_t offset, uint64_t bytes); /* zeros there; as above */

/* Returns the first offset from `offset` on that is data, or a hole; the file's end counts as a
 * hole. UINT64_MAX: there is none before the end. */
uint64_t inode_seek(struct inode *inode, uint64_t offset, bool data);
uint64_t inode_blocks(const struct inode *inode); /* of 512 bytes, in memory or in the archive */

/* Returns the next page from *index on that was written since this function last returned it; with
 * `last`, also every page that areas may have written since.  NULL: there is none. */
const void *inode_next_unsent(struct inode *inode, uint64_t *index, bool last);

/* Returns the contents if they are contiguous, that is the archive's and never written; otherwise
 * NULL. */
const uint8_t *inode_contents(const struct inode *inode);
