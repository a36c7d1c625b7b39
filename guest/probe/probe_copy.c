/* Copies of probed instructions.
 *
 * A copy has COPY_BYTES bytes: the instruction, then a jump to the next one of the program (through
 * 8 bytes after the jump), or a breakpoint.  All are in one range of the kernel's half that ring 3
 * may execute and nothing else uses, so every address space has them.
 */
#include "guest/probe/probe_copy.h"

#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"
#include "guest/memory/vm_table.h"
#include "guest/probe/probe.h"
#include "guest/probe/probe_table.h"
#include "guest/thread/thread.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm.h"
#include "lib/hash.h"

#define COPY_BYTES 32u
#define COPIES_A_PAGE (PAGE_BYTES / COPY_BYTES)
#define PLACES_MIN                                                                 \
    1024u /* there are twice as many as points: a file may be mapped at two places \
           */
#define BUCKET_BITS 15u
#define BREAKPOINT 0xcc

static struct probe_place **buckets;
static const struct probe_place **copies; /* by number: whose it is */
static uint32_t copy_count, copies_max;
static uint8_t *copy_page; /* the last one */

void probe_forget_places(void)
{
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
        for (uint32_t i = 0; cpus[cpu].probe_recent != NULL && i < PROBE_RECENT; i++)
            __atomic_store_n(&cpus[cpu].probe_recent[i].ip, 0, __ATOMIC_RELAXED);
}

uint64_t *probe_register(struct trap_frame *f, uint8_t number)
{
    uint64_t *const registers[16] = {&f->rax, &f->rcx, &f->rdx, &f->rbx, &f->rsp, &f->rbp,
                                     &f->rsi, &f->rdi, &f->r8,  &f->r9,  &f->r10, &f->r11,
                                     &f->r12, &f->r13, &f->r14, &f->r15};

    return registers[number & 15];
}

/* Has the copied instruction's operand, which is relative to rip, use another register: one that an
 * instruction with such an operand uses only if its ModRM or VEX byte says so.  Returns that
 * register. Intel SDM volume 2, "Instruction Format". */
static uint8_t use_register(uint8_t *code, const struct run_probe_point *point)
{
    uint8_t *modrm = code + point->displacement_at - 1, *prefix = code;
    uint8_t used = *modrm >> 3 & 7, second = 8, spare = 6; /* rsi, else rdi, rbx */

    while (prefix < modrm &&
           (*prefix == 0x66 || *prefix == 0xf2 || *prefix == 0xf3 || *prefix == 0xf0 ||
            (*prefix >= 0x26 && (*prefix & 0xe7) == 0x26) || *prefix == 0x64 || *prefix == 0x65))
        prefix++;
    if (*prefix >> 4 == 4)
        *prefix &= 0xfe; /* REX.B is of the base register now */
    else if (*prefix == 0xc5)
        second = ~(prefix[1] >> 3) & 7;
    else if (*prefix == 0xc4 || *prefix == 0x62) {
        prefix[1] |= 0x20; /* the same, inverted */
        second = ~(prefix[2] >> 3) & 7;
    }
    while (spare == used || spare == second)
        spare = spare == 6 ? 7 : 3;
    *modrm = (uint8_t)(0x80 | (*modrm & 0x38) | spare);
    return spare;
}

/* Returns the page table's entry for an address of the copies; NULL without memory.  Their tables
 * take no memory of the program's. */
static uint64_t *copies_entry(uint64_t address)
{
    struct vm_slot slot = vm_table_look(vm_kernel_root(), address, VM_LEVEL_PAGE);

    for (; slot.level > VM_LEVEL_PAGE;
         slot = vm_table_look(vm_kernel_root(), address, VM_LEVEL_PAGE)) {
        void *table = probe_alloc(PAGE_BYTES);

        if (table == NULL)
            return NULL;
        *slot.entry = probe_physical(table) | VM_ENTRY_PRESENT | VM_ENTRY_WRITE | VM_ENTRY_USER;
    }
    return slot.entry;
}

static uint64_t places_max(void)
{
    return PLACES_MIN + 2ull * probe_table.point_count;
}

uint64_t probe_copy_bytes(void)
{
    uint64_t each = sizeof(struct probe_place) + COPY_BYTES + sizeof *copies;

    return places_max() * each + ((sizeof *buckets) << BUCKET_BITS) +
           (run.wanted_cpus + 1ull) * (PROBE_RECENT * sizeof(struct probe_recent) + PAGE_BYTES) +
           (places_max() * COPY_BYTES / LARGE_PAGE_BYTES + 4) * PAGE_BYTES;
}

void probe_copy_start(void)
{
    copies_max = (uint32_t)places_max();
    while (copies_max * sizeof *copies > PROBE_ALLOC_MAX)
        copies_max /= 2;
    buckets = probe_alloc((sizeof *buckets) << BUCKET_BITS);
    copies = probe_alloc(copies_max * sizeof *copies);
    if (buckets == NULL || copies == NULL || copies_entry(PROBE_MAP) == NULL)
        panic("no memory for probes; give more with --mem");
}

static uint8_t *new_copy(uint64_t *address)
{
    uint32_t in_page = copy_count % COPIES_A_PAGE;
    uint64_t *entry;

    if (copy_count == copies_max)
        return NULL;
    *address = PROBE_MAP + (uint64_t)copy_count * COPY_BYTES;
    if (in_page == 0) {
        entry = copies_entry(*address);
        copy_page = entry != NULL ? probe_alloc(PAGE_BYTES) : NULL;
        if (copy_page == NULL)
            return NULL;
        *entry = probe_physical(copy_page) | VM_ENTRY_PRESENT | VM_ENTRY_USER | VM_ENTRY_ACCESSED;
    }
    return copy_page + (uint64_t)in_page * COPY_BYTES;
}

static bool make_copy(struct probe_place *place)
{
    const struct run_probe_point *point = place->point;
    static const uint8_t jump[6] = {0xff, 0x25}; /* jmp *0(%rip) */
    uint64_t next = place->ip + point->bytes;
    uint8_t *code = new_copy(&place->copy);

    if (code == NULL)
        return false;
    memcpy(code, point->code, point->bytes);
    memcpy(code + point->bytes, jump, sizeof jump);
    memcpy(code + point->bytes + sizeof jump, &next, sizeof next);
    if (point->flow == RUN_PROBE_COPY_RELATIVE) {
        place->spare = use_register(code, point);
        code[point->bytes] = BREAKPOINT;
    }
    copies[copy_count++] = place;
    return true;
}

/* In virtual time instructions are all that the clock counts: a breakpoint, what follows a copied
 * instruction in its copy, and not the original. */
static void fill_place(struct probe_place *place)
{
    const struct run_probe_point *point = place->point;
    uint32_t number = (uint32_t)(point - probe_table.points);

    place->what = point->kind & (HR_PROBE_ENTERED | HR_PROBE_RETURNED);
    place->slot_word = (number & 0xffff) | number >> 16 << 18 | (uint32_t)HR_REC_PROBES << 24;
    if (run.clock.virtual_time && place->copy)
        place->excess = point->flow == RUN_PROBE_COPY_AWAY ? 1 : 2;
    place->plain = place->copy && point->flow != RUN_PROBE_COPY_RELATIVE && !cpu_nmi_samples &&
                   !probe_table.argument_count && !probe_table.every && !probe_table.stacks;
}

/* Returns the place of a point at `ip`; NULL without memory. */
static struct probe_place *place_of(const struct run_probe_point *point, uint64_t ip)
{
    struct probe_place **bucket, *place;

    bucket = &buckets[hash_place(ip, BUCKET_BITS)];
    for (place = *bucket; place != NULL; place = place->next)
        if (place->ip == ip && place->point == point)
            return place;
    place = probe_alloc(sizeof *place);
    if (place == NULL)
        return NULL;
    place->ip = ip;
    place->point = point;
    if (point->flow <= RUN_PROBE_COPY_AWAY && !make_copy(place))
        return NULL;
    fill_place(place);
    place->next = *bucket;
    *bucket = place;
    return place;
}

/* Returns whether a breakpoint at `ip` is the program's: in a page that it has written to, which is
 * a copy of the file's own page. */
static bool is_own_breakpoint(const struct vm_space *space, uint64_t ip)
{
    struct vm_slot slot = vm_table_look(space->root, ip, VM_LEVEL_PAGE);
    uint64_t entry = *slot.entry;
    const uint8_t *page;

    if (slot.level != VM_LEVEL_PAGE || !(entry & VM_ENTRY_PRESENT) || entry & VM_ENTRY_FOREIGN)
        return false;
    page = phys_pointer(entry & VM_ENTRY_ADDRESS);
    return page[ip % PAGE_BYTES] == BREAKPOINT;
}

/* Looks for a point at `ip` in what the thread has mapped. */
static struct probe_place *find_place(const struct vm_space *space, uint64_t ip)
{
    const struct vm_area *area = vm_find(space, ip);
    const struct probe_object *object =
        area != NULL && area->inode != NULL ? area->inode->probes : NULL;
    const struct run_probe_point *point;
    uint64_t offset;

    if (object == NULL)
        return NULL;
    offset = area->offset + (ip - area->start);
    point = probe_point_from(object, offset);
    return point < object->points + object->point_count && point->file_offset == offset &&
                   !is_own_breakpoint(space, ip)
               ? place_of(point, ip)
               : NULL;
}

struct probe_place *probe_place_at(struct cpu *cpu, uint64_t ip)
{
    struct probe_recent *known = cpu->probe_recent;
    struct probe_place *place;

    if (known != NULL && known[ip % PROBE_RECENT].ip == ip &&
        known[ip % PROBE_RECENT].space == cpu->space)
        return known[ip % PROBE_RECENT].place;
    cross_lock(cpu);
    place = find_place(cpu->thread->process->space, ip);
    if (known == NULL)
        known = cpu->probe_recent = probe_alloc(PROBE_RECENT * sizeof *known);
    if (known != NULL && place != NULL)
        known[ip % PROBE_RECENT] =
            (struct probe_recent){.ip = ip, .space = cpu->space, .place = place};
    cross_unlock();
    return place;
}

void probe_enter_copy(struct cpu *cpu, struct trap_frame *frame, const struct probe_place *place)
{
    if (place->point->flow == RUN_PROBE_COPY_RELATIVE) {
        uint64_t *spare = probe_register(frame, place->spare);

        cpu->thread->probe.spare = *spare;
        *spare = place->ip + place->point->bytes;
    }
    frame->rip = place->copy;
    probe_take_off(cpu, place->excess);
}

/* Returns whose copy the thread is in; NULL: in none. */
static const struct probe_place *copied_at(uint64_t rip)
{
    uint64_t number = (rip - PROBE_MAP) / COPY_BYTES;

    return number < copy_count ? copies[number] : NULL;
}

static void restore_spare(struct cpu *cpu, struct trap_frame *frame,
                          const struct probe_place *place)
{
    if (place->point->flow == RUN_PROBE_COPY_RELATIVE)
        *probe_register(frame, place->spare) = cpu->thread->probe.spare;
}

bool probe_end_copy(struct cpu *cpu, struct trap_frame *frame, uint64_t ip)
{
    const struct probe_place *place = copied_at(ip);

    if (place == NULL || ip != place->copy + place->point->bytes)
        return false;
    restore_spare(cpu, frame, place);
    frame->rip = place->ip + place->point->bytes;
    return true;
}

void probe_leave_copy(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();
    const struct probe_place *place = copied_at(frame->rip);

    if (place == NULL)
        return;
    restore_spare(cpu, frame, place);
    if (frame->rip == place->copy) { /* the breakpoint comes again, and then is no new hit */
        frame->rip = place->ip;
        cpu->thread->probe.again_ip = place->ip;
        cpu->thread->probe.again_sp = frame->rsp;
    } else {
        frame->rip = place->ip + place->point->bytes;
    }
    if (place->excess)
        probe_take_off(cpu, 1 - (int64_t)place->excess);
}
