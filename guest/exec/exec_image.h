/* One ELF image of a program: the executable itself, or its interpreter (ld.so). */
#ifndef GUEST_EXEC_EXEC_IMAGE_H
#define GUEST_EXEC_EXEC_IMAGE_H

#include "guest/fs/fs.h"
#include "guest/vm/vm.h"
#include "lib/elf64.h"

struct exec_image {
    struct fs_entry *entry; /* held by its directory */
    struct inode *inode; /* held by its name */
    const uint8_t *contents;
    const char *path; /* on the host */
    struct elf64_image elf;
    uint64_t base; /* added to the file's addresses; 0 for ET_EXEC */
};

/* Finds and validates the file `name` of the archive.  image->path becomes `path`, or if that is
 * NULL the file's real path.  Returns 0, -ENOENT, -ENOEXEC or -ENOMEM; logs the reason in one line.
 */
int exec_image_open(const char *name, const char *path, struct exec_image *image);

/* Returns the text of PT_INTERP, or NULL for a static program. */
const char *exec_image_interpreter(const struct exec_image *image);

/* Chooses a base for a relocatable image: `wanted`, or if that is 0 where mmap would put it. */
int exec_image_place(struct vm_space *space, struct exec_image *image, uint64_t wanted);

/* Maps the segments and announces the executable ones (trace_map).  Returns 0 or -ENOMEM; logs. */
int exec_image_map(struct vm_space *space, const struct exec_image *image);

#endif
