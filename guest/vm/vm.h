/* Address spaces.  Page faults and system calls of their processes call these functions.  Context:
 * the kernel lock's holder, interrupts off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VM_READ = 1, VM_WRITE = 2, VM_EXEC = 4 }; /* as PROT_* */

struct inode;
struct fs_entry;

/* Addresses start .. end-1, page-aligned.  Areas form a sorted doubly linked list, and a tree for
 * look-ups. */
struct vm_area {
    uint64_t start;
    uint64_t end;
    uint32_t protection; /* VM_* */
    uint32_t flags; /* VM_AREA_* */
    struct inode *inode; /* what the area shows, held; NULL: anonymous memory */
    struct fs_entry *entry; /* the name it was opened by, held; NULL: none */
    uint64_t offset; /* in the inode, of `start`; page-aligned */
    struct vm_area *next;
    struct vm_area *previous;
    /* guest/vm/vm_area_tree.h */
    struct vm_area *left;
    struct vm_area *right;
    uint64_t widest; /* gap below an area of this subtree */
    uint32_t height;
};

enum {
    VM_AREA_STACK = 1, /* the first thread's */
    VM_AREA_BRK = 2,
    VM_AREA_IMAGE = 4, /* the program, its interpreter */
    VM_AREA_FILE = 8, /* has an inode */
    VM_AREA_SHARED = 16,
    VM_AREA_GROWS = 32, /* grows downwards when touched below */
    VM_AREA_RESERVE = 64, /* MAP_NORESERVE: may be larger than memory */
    VM_AREA_VDSO = 256,
    VM_AREA_SMALL = 512, /* no 2 MiB pages: MADV_NOHUGEPAGE */
    VM_AREA_LOCKED = 1024, /* mlock: filled when made */
    VM_AREA_READ_FILE = 2048, /* shared, of a file not opened for writing */
    VM_AREA_NOT_FORKED = 4096, /* MADV_DONTFORK: a fork's child does not get it */
    VM_AREA_WIPED = 8192 /* MADV_WIPEONFORK: it is empty in a fork's child */
};

#define VM_UNLIMITED UINT64_MAX
#define VM_STACK_LIMIT_BYTES (8ull << 20) /* RLIMIT_STACK at first */

struct vm_space {
    uint64_t root; /* physical address of the PML4 */
    uint32_t references; /* processes */
    uint32_t loaded; /* CPUs that have `root` in CR3 */
    struct vm_space *next, *previous; /* in vm_spaces */
    bool allocated; /* on the heap */
    bool forked; /* parent or child of a fork: guest/vm/vm_copy.h */
    bool around; /* a page fault shows the neighbours in a file, too */
    struct vm_area *areas;
    struct vm_area *tree;
    struct vm_area *recent; /* of the last page fault; NULL: unknown */
    uint64_t brk_start;
    uint64_t brk_end;
    uint64_t brk_told; /* what guest/syscall/memory/mapping.c last recorded */
    uint32_t area_count;
    uint64_t mapped_bytes; /* sum of areas */
    uint64_t resident_bytes; /* pages present, those of files too */
    uint64_t stack_limit, address_limit, data_limit; /* RLIMIT_STACK, _AS, _DATA; bytes */
    uint64_t
        futex_keys; /* bits of the keys of its private futexes: guest/syscall/futex/futex_key.h */
    bool prefault; /* memory is filled when it is mapped */
    bool lock_future; /* mlockall(MCL_FUTURE) */
    uint64_t fills; /* pages that vm_access filled or copied */
    uint64_t faults; /* page faults that were served */
    uint64_t faults_copied; /* of those: private pages of files that the program wrote to */
};

extern struct vm_space *vm_spaces; /* all that have references */

/* Counts page faults of all spaces, those that are gone included. */
void vm_space_faults(uint64_t *faults, uint64_t *copied);

/* vm_space_new is for a program that execve starts; vm_space_init is for memory that the caller
 * has.  Both give the caller one reference.  The last one frees areas, pages and page tables, and
 * at last what vm_space_new allocated. */
int vm_space_init(struct vm_space *space); /* 0, -ENOMEM */
struct vm_space *vm_space_new(void); /* NULL: no memory */
void vm_space_hold(struct vm_space *space);
void vm_space_release(struct vm_space *space);

/* Makes a child with what fork gives it: shared memory is shared, private memory is copied when one
 * of the two writes to it.  Locks of memory are not inherited.  Returns 0, or -ENOMEM; then the
 * parent is as it was. */
int vm_space_fork(struct vm_space *parent, struct vm_space **child);

/* Loads a space on the calling CPU; NULL: only the kernel.  A CPU without a thread keeps the space
 * of its last one, even if that loses its last reference: then it keeps no more than a top table.
 */
void vm_space_use(struct vm_space *space);

/* For guest/vm: the calling CPU no longer has the space loaded; a CPU no longer has it loaded, and
 * if that was the last user, the top table goes. */
void vm_space_leave(const struct vm_space *space);
void vm_space_unload(struct vm_space *space);

struct vm_request {
    uint64_t address; /* a hint, or with `fixed` the place */
    uint64_t bytes;
    uint32_t protection;
    uint32_t flags; /* VM_AREA_* */
    bool fixed; /* replaces what is there */
    bool noreplace; /* with fixed: -EEXIST when something is there */
    bool low; /* below 2 GiB: MAP_32BIT */
    struct inode *inode; /* NULL: anonymous, demand-zero */
    struct fs_entry *entry; /* its name, for /proc; NULL: none */
    uint64_t offset; /* page-aligned */
};

/* The core of mmap.  Without `fixed`, takes the hint if it is free, otherwise chooses top-down
 * below the stack.  Pages are filled when first touched.  Returns the address or -errno (EINVAL,
 * ENOMEM, EPERM below 64 KiB, EEXIST, EOVERFLOW). */
int64_t vm_map_request(struct vm_space *space, const struct vm_request *request);

/* vm_map_request for anonymous memory. */
int64_t vm_map(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection,
               uint32_t area_flags, bool fixed, bool noreplace);
int vm_unmap(struct vm_space *space, uint64_t address, uint64_t bytes);
/* Stops at the first gap or area that refuses; returns 0, -ENOMEM (gap) or -EACCES. */
int vm_protect(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection);
int64_t vm_remap(struct vm_space *space, uint64_t address, uint64_t old_bytes, uint64_t new_bytes,
                 uint32_t flags, uint64_t new_address);
uint64_t vm_set_brk(struct vm_space *space, uint64_t end); /* returns the break in force */

enum { /* page-fault error code: Intel SDM volume 3, "Page-Fault Exceptions" */
       VM_FAULT_WRITE = 2,
       VM_FAULT_USER = 4,
       VM_FAULT_RESERVED = 8,
       VM_FAULT_FETCH = 16
};

/* Handles a page fault at `address` with the CPU's error code.  Returns 0 if the page is mapped
 * now; -EFAULT if there is no area, -EACCES if the area forbids the access (both SIGSEGV); -ENXIO
 * past the end of the file (SIGBUS); -ENOMEM if out of memory.  Uses a 2 MiB page if area and
 * alignment allow. */
int vm_fault(struct vm_space *space, uint64_t address, uint64_t error);

/* An inode's pages first .. end-1 have changed: areas forget them, on every CPU, before this
 * returns.  Private copies are lost too if they are past the new end of the file. */
void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page);

const struct vm_area *vm_find(const struct vm_space *space, uint64_t address);
