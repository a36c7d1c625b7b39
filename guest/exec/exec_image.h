/* One ELF image of a program: the executable itself, or its interpreter (ld.so).  Context: boot, or
 * a thread with the kernel lock held. */
#pragma once

#include "guest/fs/fs.h"
#include "guest/vm/vm.h"
#include "lib/program/elf64.h"

#define EXEC_IMAGE_BUILD_ID_MAX 64u

struct exec_image {
    struct fs_entry *entry; /* held */
    uint64_t base; /* added to the file's addresses; 0 for ET_EXEC */
    uint8_t build_id[EXEC_IMAGE_BUILD_ID_MAX]; /* elf.build_id_bytes of them */
    struct elf64_image elf;
};

/* Validates a file as an ELF image, whose segments must end inside if it is `whole`, and holds its
 * entry.  Returns 0, -ENOEXEC with the reason in *status, or an error of reading it. */
int exec_image_open(struct fs_entry *entry, bool whole, struct exec_image *image,
                    enum elf64_status *status);
void exec_image_close(struct exec_image *image); /* also of one that was never opened: zeros */

/* Reads the text of PT_INTERP.  Returns it, valid until the next call; NULL for a static program,
 * or with *error. */
const char *exec_image_interpreter(const struct exec_image *image, int *error);

/* Chooses a base for a relocatable image: `wanted`, or if that is 0 where mmap would put it. */
int exec_image_place(struct vm_space *space, struct exec_image *image, uint64_t wanted);

/* Maps the segments.  Returns 0 or -errno. */
int exec_image_map(struct vm_space *space, const struct exec_image *image);

/* Tells the trace of the executable segments; `path` is on the host. */
void exec_image_announce(const struct exec_image *image, const char *path);
