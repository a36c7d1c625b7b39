/* What ASan does with an error: its exit status is none of hr's, and where a check of UBSan traps
 * it says where, with the calls that led there.  Newer versions would move variables off the stack,
 * which tests look at.  It remembers what can be accessed of a large block in the pages that it has
 * for that, in place of new ones each time, of which each would be touched first.  A test may have
 * its own.
 *
 * And what the leak check reads.  It looks for pointers in all variables of the program and its
 * libraries, ASan's included: 4,500 pages in hr, of which a run touches some hundred, and reading
 * the others for the first time took half of the time that hr needs to start and end.  A page that
 * was never touched, or that the kernel has not read from its file, has no pointer to what the
 * program allocated.  So this dl_iterate_phdr, which stands before the C library's, tells the leak
 * check of the other pages alone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define TOUCHED (3ull << 62) /* Documentation/admin-guide/mm/pagemap.rst: present or swapped */

typedef int function(struct dl_phdr_info *info, size_t bytes, void *data);

struct iteration {
    function *each;
    void *data;
    int pagemap;
};

struct segments {
    ElfW(Phdr) all[512];
    ElfW(Half) count;
};

const char *__asan_default_options(void);

__attribute__((weak)) const char *__asan_default_options(void)
{
    return "handle_sigill=1:exitcode=134:detect_stack_use_after_return=0:"
           "clear_shadow_mmap_threshold=1000000000";
}

/* Joins it to the last one that ends there, or where there is no room. */
static void add(struct segments *segments, uintptr_t start, uintptr_t end)
{
    ElfW(Phdr) *last = &segments->all[segments->count > 0 ? segments->count - 1 : 0];

    if (segments->count > 0 && (last->p_vaddr + last->p_memsz == start ||
                                segments->count == sizeof segments->all / sizeof *last)) {
        last->p_memsz = end - last->p_vaddr;
        return;
    }
    segments->all[segments->count++] = (ElfW(Phdr)){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = start, .p_memsz = end - start};
}

/* What is not known counts as touched. */
static void add_touched(struct segments *segments, int pagemap, uintptr_t base, uintptr_t start,
                        uintptr_t end)
{
    unsigned long long pages[256];
    uintptr_t next;

    for (uintptr_t at = start, i = sizeof pages / sizeof *pages; at < end; at = next, i++) {
        if (i == sizeof pages / sizeof *pages) {
            for (i = 0; i < sizeof pages / sizeof *pages; i++)
                pages[i] = TOUCHED;
            syscall(SYS_pread64, pagemap, pages, sizeof pages, at / PAGE * sizeof *pages);
            i = 0;
        }
        next = (at / PAGE + 1) * PAGE;
        if (next > end)
            next = end;
        if ((pages[i] & TOUCHED) != 0)
            add(segments, at - base, next - base);
    }
}

static int tell_touched(struct dl_phdr_info *info, size_t bytes, void *data)
{
    static struct segments segments;
    const struct iteration *iteration = data;
    struct dl_phdr_info told = *info;

    segments.count = 0;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            add_touched(&segments, iteration->pagemap, info->dlpi_addr, start,
                        start + segment->p_memsz);
    }
    told.dlpi_phdr = segments.all;
    told.dlpi_phnum = segments.count;
    return iteration->each(&told, bytes, iteration->data);
}

/* The leak check alone iterates within an iteration, which it begins for its lock. */
int dl_iterate_phdr(function *each, void *data)
{
    static int (*next)(function * each, void *data);
    static __thread unsigned int depth;
    struct iteration iteration = {each, data, -1};
    int result;

    if (next == NULL)
        next = (int (*)(function *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    if (depth == 0) {
        depth++;
        result = next(each, data);
        depth--;
        return result;
    }
    iteration.pagemap = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY);
    result = next(tell_touched, &iteration);
    syscall(SYS_close, iteration.pagemap);
    return result;
}
