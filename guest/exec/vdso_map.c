/* Maps the vDSO into the program and gives it what it needs to know. */
#include "guest/exec/vdso_map.h"
#include "guest/base/image.h"
#include "guest/memory/vm_kernel.h"
#include "guest/memory/vm_table.h"

#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/trace/trace.h"
#include "guest/vm/vm_access.h"
#include "lib/program/elf64.h"

#define NAME "vdso.so" /* in the kernel's directory on the host */
#define PATH_BYTES 4096u

extern const uint8_t vdso_image[], vdso_image_end[]; /* guest/exec/vdso_image.S */

/* Maps the page that the program's vDSO reads: the only page of the kernel's half that the program
 * can read. */
void vdso_init(void)
{
    vm_kernel_map(VDSO_DATA, image_physical(&vdso_data_page), VM_LEVEL_PAGE,
                  VM_ENTRY_USER | VM_ENTRY_NO_EXECUTE);
    for (unsigned level = VM_LEVEL_TOP; level > VM_LEVEL_PAGE; level--)
        *vm_table_look(vm_kernel_root(), VDSO_DATA, level).entry |= VM_ENTRY_USER;
}

/* Returns the path of the host's file with the symbols: the first program finds it, before its time
 * begins. */
static const char *path_on_host(void)
{
    static char path[PATH_BYTES];
    const char *kernel, *slash;
    size_t folder;

    if (path[0])
        return path;
    kernel = manifest_text(&run.manifest, "kernel-path", "");
    slash = strrchr(kernel, '/');
    folder = slash != NULL ? (size_t)(slash + 1 - kernel) : 0;
    if (folder > sizeof path - sizeof NAME)
        folder = 0;
    memcpy(path, kernel, folder);
    memcpy(path + folder, NAME, sizeof NAME);
    return path;
}

int vdso_map(struct vm_space *space, uint64_t *base)
{
    uint64_t bytes = (uint64_t)(vdso_image_end - vdso_image);
    int64_t at = vm_map(space, 0, bytes, VM_READ | VM_EXEC, VM_AREA_VDSO, false, false);

    if (at < 0)
        return (int)at;
    *base = (uint64_t)at;
    return vm_write(space, *base, vdso_image, bytes);
}

void vdso_announce(uint64_t base)
{
    struct elf64_image image;

    if (elf64_parse(vdso_image, (size_t)(vdso_image_end - vdso_image), &image) != ELF64_OK)
        panic("the kernel's vDSO is damaged");
    trace_map(base, base + image.high, 0, HR_MAP_READ | HR_MAP_EXEC,
              vdso_image + image.build_id_offset, (uint16_t)image.build_id_bytes, path_on_host());
}

void vdso_start(void)
{
    struct vdso_data *data = &vdso_data_page.data;

    data->start_ticks = run.start_ticks;
    data->ticks_per_second = run.clock.hz;
    data->start_unix_ns = run.start_unix_ns;
}
