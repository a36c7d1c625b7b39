/* Copies between kernel and program memory, page by page through the direct map. */
#include "guest/vm/uaccess.h"
#include "guest/base/context.h"
#include "guest/base/random.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "guest/base/layout.h"
#include "guest/cpu/cpu.h"
#include "guest/memory/page.h"
#include "guest/thread/thread.h"
#include "guest/vm/vm_access.h"
#include "guest/vm/vm_fill.h"

#define RANDOM_BYTES 256u /* at a time */

static struct vm_space *current_space(void)
{
    return cpu_this()->thread->process->space;
}

static bool range_ok(uint64_t address, size_t bytes)
{
    return bytes <= USER_END && address <= USER_END - bytes;
}

void (*uaccess_out_of_memory)(void);

/* vm_access, but the process ends if there is no memory, as by a page fault of its own.  What it
 * fills is told. */
static int uaccess_reach(struct vm_space *space, uint64_t address, enum vm_access_kind kind,
                         void **pointer, uint64_t *room)
{
    uint64_t fills = space->fills;
    int error = vm_access(space, address, kind, pointer, room);

    if (space->fills != fills)
        vm_fill_told(space, address, kind != VM_ACCESS_READ);
    if (error == -ENOMEM)
        uaccess_out_of_memory();
    return error;
}

/* A range of user memory, piece by piece: each lies within one page. */
struct pieces {
    struct vm_space *space;
    enum vm_access_kind kind;
    uint64_t address; /* of the next piece */
    size_t left;
    void *at; /* this piece */
    size_t bytes;
};

static struct pieces pieces_of(uint64_t address, size_t bytes, enum vm_access_kind kind)
{
    return (struct pieces){
        .space = current_space(), .kind = kind, .address = address, .left = bytes};
}

/* Steps to the next piece.  Returns 1, 0 at the end, or -EFAULT. */
static int next_piece(struct pieces *p)
{
    uint64_t room;

    if (!range_ok(p->address, p->left))
        return -EFAULT;
    if (!p->left)
        return 0;
    if (uaccess_reach(p->space, p->address, p->kind, &p->at, &room) != 0)
        return -EFAULT;
    p->bytes = room < p->left ? room : p->left;
    p->address += p->bytes;
    p->left -= p->bytes;
    return 1;
}

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    struct pieces p = pieces_of(from, bytes, VM_ACCESS_READ);
    uint8_t *out = to;
    int status;

    context_assert_thread();
    while ((status = next_piece(&p)) > 0) {
        page_copy_bytes(out, p.at, p.bytes);
        out += p.bytes;
    }
    return status;
}

int copy_to_user(uint64_t to, const void *from, size_t bytes)
{
    struct pieces p = pieces_of(to, bytes, VM_ACCESS_WRITE);
    const uint8_t *in = from;
    int status;

    context_assert_thread();
    while ((status = next_piece(&p)) > 0) {
        page_copy_bytes(p.at, in, p.bytes);
        in += p.bytes;
    }
    return status;
}

int uaccess_zero(uint64_t to, size_t bytes)
{
    struct pieces p = pieces_of(to, bytes, VM_ACCESS_WRITE);
    int status;

    while ((status = next_piece(&p)) > 0)
        memset(p.at, 0, p.bytes);
    return status;
}

int uaccess_prepare_write(uint64_t address, size_t bytes)
{
    struct pieces p = pieces_of(address, bytes, VM_ACCESS_WRITE);
    int status;

    while ((status = next_piece(&p)) > 0)
        ;
    return status;
}

uint32_t *uaccess_word(uint64_t address)
{
    struct pieces p = pieces_of(address, sizeof(uint32_t), VM_ACCESS_WRITE);

    return address % sizeof(uint32_t) == 0 && next_piece(&p) > 0 ? p.at : NULL;
}

int copy_string_from_user(char *to, uint64_t from, size_t room_in_to)
{
    struct vm_space *space = current_space();
    size_t length = 0;

    context_assert_thread();
    while (length < room_in_to) {
        uint64_t room;
        void *source;
        size_t part;

        if (from >= USER_END || uaccess_reach(space, from, VM_ACCESS_READ, &source, &room) != 0)
            return -EFAULT;
        if (room > room_in_to - length)
            room = room_in_to - length;
        part = strnlen(source, room);
        memcpy(to + length, source, part);
        length += part;
        from += part;
        if (part < room) {
            to[length] = '\0';
            return (int)length;
        }
    }
    return -ENAMETOOLONG;
}

int uaccess_time(uint64_t user, uint64_t *ns)
{
    struct {
        int64_t seconds, part;
    } t;

    if (copy_from_user(&t, user, sizeof t) != 0)
        return -EFAULT;
    if (t.seconds < 0 || t.part < 0 || t.part >= (int64_t)NS_PER_SECOND)
        return -EINVAL;
    if (__builtin_mul_overflow((uint64_t)t.seconds, NS_PER_SECOND, ns) ||
        __builtin_add_overflow(*ns, (uint64_t)t.part, ns) || *ns == UINT64_MAX)
        *ns = UINT64_MAX - 1;
    return 0;
}

int64_t uaccess_random(uint64_t user, uint64_t bytes)
{
    uint8_t part[RANDOM_BYTES];

    for (uint64_t done = 0; done < bytes;) {
        uint64_t count = bytes - done < sizeof part ? bytes - done : sizeof part;

        random_bytes(part, count);
        if (copy_to_user(user + done, part, count) != 0)
            return done ? (int64_t)done : -EFAULT;
        done += count;
    }
    return (int64_t)bytes;
}
