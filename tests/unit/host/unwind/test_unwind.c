/* Tests of host/unwind/unwind.c on this process's own stacks: what it finds is what libgcc's
 * unwinder finds in the same place, through the C library, other libraries, signal handlers and
 * threads.
 */
#include "host/unwind/unwind.h"

#include <execinfo.h>
#include <fcntl.h>
#include <gelf.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/own_process.h"
#include "tests/unit/test.h"

#define FRAMES_MAX 256

static struct capture capture;
static void *expected[FRAMES_MAX]; /* by libgcc: the callers of take_here */
static int expected_count;

/* Takes the stack here, both ways. */
__attribute__((noinline)) static void take_here(void)
{
    void *caller = __builtin_return_address(0), *all[FRAMES_MAX];
    int count = backtrace(all, FRAMES_MAX), first = 0;
    ucontext_t context;

    while (first < count && all[first] != caller) /* take_here, and the sanitizer's own frame */
        first++;
    expected_count = count - first;
    memcpy(expected, all + first, (size_t)expected_count * sizeof all[0]);
    assert_int_equal(getcontext(&context), 0);
    capture_context(&capture, &context);
}

struct result {
    uint64_t addresses[UNWIND_FRAMES_MAX];
    uint32_t count;
    uint32_t root;
};

static struct result unwind_capture(const struct trace_info *info)
{
    struct result result = {.count = 0};
    struct unwind *unwind;
    struct stacks stacks;
    uint32_t node;

    assert_int_equal(stacks_init(&stacks), 0);
    assert_int_equal(unwind_open(&unwind, info, NULL), 0);
    node = unwind_stack(unwind, &capture.sample, &stacks);
    /* the second time all is known */
    assert_int_equal(unwind_stack(unwind, &capture.sample, &stacks), node);
    result.count = stacks_addresses(&stacks, node, result.addresses, UNWIND_FRAMES_MAX);
    result.root = stacks_root(&stacks, node);
    unwind_close(unwind);
    stacks_free(&stacks);
    return result;
}

static struct result unwind_own(void)
{
    struct own_process *own = own_process_read();
    struct result result = unwind_capture(&own->info);

    own_process_free(own);
    return result;
}

/* `interrupted`: which of the callers did not call, but was interrupted; -1: none. */
static void compare_with_expected(const struct result *result, int interrupted)
{
    assert_true(expected_count > 3);
    assert_int_equal(result->count, expected_count);
    for (int i = 0; i < expected_count; i++)
        assert_int_equal(result->addresses[i],
                         (uint64_t)(uintptr_t)expected[i] + (i == interrupted));
    assert_int_equal(result->root, HR_STACK_WHOLE);
}

/* Compiled without frame pointers (tests/unit.mk). */
__attribute__((noinline)) static int deep(int depth)
{
    volatile int local = depth;

    if (depth == 0)
        take_here();
    else
        local += deep(depth - 1);
    return local;
}

__attribute__((noinline)) static int with_array(int size)
{
    volatile char room[size]; /* needs a frame pointer whatever the flags say */

    room[size - 1] = 1;
    return deep(5) + room[size - 1];
}

static void own_functions(void **state)
{
    struct result result;

    (void)state;
    assert_true(with_array(100) > 0);
    result = unwind_own();
    compare_with_expected(&result, -1);
}

static int compare(const void *a, const void *b)
{
    take_here();
    return *(const int *)a - *(const int *)b;
}

static void through_the_c_library(void **state)
{
    int numbers[2] = {2, 1};
    struct result result;

    (void)state;
    qsort(numbers, 2, sizeof numbers[0], compare);
    assert_int_equal(numbers[0], 1);
    result = unwind_own();
    compare_with_expected(&result, -1);
}

static void handle(int signal)
{
    (void)signal;
    take_here();
}

static void through_a_signal_handler(void **state)
{
    struct sigaction action = {.sa_handler = handle}, before;
    struct result result;

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    raise(SIGUSR1);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    result = unwind_own();
    /* take_here, handle, the C library's restorer, and who was interrupted */
    compare_with_expected(&result, 2);
}

/* Faults at its first instruction: looked up at ip - 1 it would be another function. */
void faulting(void);
__asm__(".text\n"
        ".globl before_faulting\nbefore_faulting: .cfi_startproc\n.cfi_def_cfa_offset 512\nnop\n"
        ".cfi_endproc\n"
        ".globl faulting\nfaulting: .cfi_startproc\nud2\nret\n.cfi_endproc\n");

static void handle_and_pass(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    take_here();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* behind the ud2 */
}

static void fault_with(int flags)
{
    struct sigaction action = {.sa_sigaction = handle_and_pass, .sa_flags = SA_SIGINFO | flags};
    struct sigaction before;

    assert_int_equal(sigaction(SIGILL, &action, &before), 0);
    faulting();
    assert_int_equal(sigaction(SIGILL, &before, NULL), 0);
}

static void interrupted_at_the_first_instruction(void **state)
{
    struct result result;

    (void)state;
    fault_with(0);
    result = unwind_own();
    compare_with_expected(&result, 2);
    assert_int_equal(result.addresses[2], (uint64_t)(uintptr_t)faulting + 1);
}

static void handler_on_its_own_stack(void **state)
{
    stack_t alternate = {.ss_size = 1 << 16}, before;
    struct result result;

    (void)state;
    alternate.ss_sp =
        mmap(NULL, alternate.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(alternate.ss_sp, MAP_FAILED);
    assert_int_equal(sigaltstack(&alternate, &before), 0);
    fault_with(SA_ONSTACK);
    assert_int_equal(sigaltstack(&before, NULL), 0);
    munmap(alternate.ss_sp, alternate.ss_size);
    result = unwind_own();
    /* the copy holds the handler's stack; where it was called is the last that can be known */
    assert_int_equal(result.count, 3);
    assert_int_equal(result.addresses[2], (uint64_t)(uintptr_t)faulting + 1);
    assert_int_equal(result.root, HR_STACK_CUT);
}

static void *thread_body(void *argument)
{
    take_here();
    return argument;
}

static void from_the_start_of_a_thread(void **state)
{
    struct result result;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, thread_body, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    result = unwind_own();
    assert_int_equal(result.addresses[0], (uint64_t)(uintptr_t)expected[0]);
    assert_true(result.count >= 3 && (int)result.count == expected_count);
    assert_int_equal(result.root, HR_STACK_WHOLE);
}

/* Where the lazy stubs of calls to other libraries are, and whether this program has such. */
static bool find_stubs(const struct trace_info *info, uint64_t *address)
{
    const struct trace_map *map = info->maps;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;
    Elf *elf;
    int fd;

    while ((uint64_t)(uintptr_t)faulting - map->meta.start >= map->meta.end - map->meta.start)
        map++;
    fd = open(map->path, O_RDONLY);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    *address = 0;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_size >= 32 &&
            strcmp(elf_strptr(elf, names, header.sh_name), ".plt") == 0)
            *address = map->meta.start + header.sh_offset - map->meta.file_offset;
    elf_end(elf);
    close(fd);
    return *address != 0;
}

/* As if the sample were in code that was just called, with `words` more on the stack. */
static void put_below(uint64_t ip, uint32_t words)
{
    static uint8_t stack[CAPTURE_STACK_BYTES + 64];

    memset(stack, 0x5a, words * sizeof(uint64_t));
    memcpy(stack + words * sizeof(uint64_t), &capture.sample.ip, sizeof(uint64_t));
    words++;
    memcpy(stack + words * sizeof(uint64_t), capture.stack, capture.sample.stack_bytes);
    capture.sample.stack = stack;
    capture.sample.stack_bytes += words * sizeof(uint64_t);
    capture.sample.registers[7] -= words * sizeof(uint64_t); /* rsp */
    capture.sample.ip = ip;
}

static void from_a_stub_of_the_linker(void **state)
{
    static const struct {
        uint32_t offset, words;
    } places[] = {{16, 0}, {16 + 6, 0}, {16 + 11, 1}, {6, 2}}; /* it pushes, jumps, pushes */
    struct own_process *own = own_process_read();
    uint64_t stubs, here;

    (void)state;
    if (!find_stubs(&own->info, &stubs)) {
        own_process_free(own);
        skip();
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct result result;

        deep(2);
        here = capture.sample.ip;
        put_below(stubs + places[i].offset, places[i].words);
        result = unwind_capture(&own->info);
        assert_int_equal(result.root, HR_STACK_WHOLE);
        assert_int_equal(result.addresses[0], here);
        memmove(result.addresses, result.addresses + 1, sizeof result.addresses - 8);
        result.count--;
        compare_with_expected(&result, -1);
    }
    own_process_free(own);
}

static void short_copies_are_cut(void **state)
{
    struct result whole, cut;
    size_t bytes;
    uint32_t last = 0;

    (void)state;
    deep(5);
    whole = unwind_own();
    bytes = capture.sample.stack_bytes;
    for (size_t kept = 0; kept < bytes && last < whole.count; kept += 56) {
        capture.sample.stack_bytes = kept;
        cut = unwind_own();
        assert_true(cut.count >= last);
        assert_true(cut.count == whole.count || cut.root == HR_STACK_CUT);
        assert_memory_equal(cut.addresses, whole.addresses, cut.count * sizeof whole.addresses[0]);
        last = cut.count;
    }
    assert_int_equal(last, whole.count);
}

static void other_builds_are_not_used(void **state)
{
    struct own_process *own = own_process_read();
    struct result result;

    (void)state;
    deep(1);
    for (size_t i = 0; i < own->info.map_count; i++) {
        memset(own->maps[i].build_id, 0x5a, 20);
        own->maps[i].meta.build_id_bytes = 20;
    }
    result = unwind_capture(&own->info);
    assert_int_equal(result.count, 0);
    assert_int_equal(result.root, HR_STACK_BROKEN);
    own_process_free(own);
}

static void maps_may_come_later(void **state)
{
    struct own_process *own = own_process_read();
    size_t count = own->info.map_count;
    struct unwind *unwind;
    struct stacks stacks;
    uint64_t addresses[UNWIND_FRAMES_MAX];
    uint32_t node;

    (void)state;
    deep(3);
    assert_int_equal(stacks_init(&stacks), 0);
    own->info.map_count = 0;
    assert_int_equal(unwind_open(&unwind, &own->info, NULL), 0);
    assert_int_equal(unwind_stack(unwind, &capture.sample, &stacks), HR_STACK_BROKEN);
    own->info.map_count = count;
    node = unwind_stack(unwind, &capture.sample, &stacks);
    assert_int_equal(stacks_root(&stacks, node), HR_STACK_WHOLE);
    assert_int_equal(stacks_addresses(&stacks, node, addresses, UNWIND_FRAMES_MAX), expected_count);
    unwind_close(unwind);
    stacks_free(&stacks);
    own_process_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_functions),
        cmocka_unit_test(through_the_c_library),
        cmocka_unit_test(through_a_signal_handler),
        cmocka_unit_test(interrupted_at_the_first_instruction),
        cmocka_unit_test(handler_on_its_own_stack),
        cmocka_unit_test(from_the_start_of_a_thread),
        cmocka_unit_test(from_a_stub_of_the_linker),
        cmocka_unit_test(short_copies_are_cut),
        cmocka_unit_test(other_builds_are_not_used),
        cmocka_unit_test(maps_may_come_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
