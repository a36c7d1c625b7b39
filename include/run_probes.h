/* Where the kernel places probes: the file RUN_PROBES_NAME of a run archive, which `hr` writes.
 *
 *   struct run_probes_header
 *   struct run_probe_object[object_count]
 *   struct run_probe_point[point_count], those of an object together, by file_offset
 *   path_bytes bytes: paths of the objects, without NUL
 *   meta_bytes bytes: records HR_META_PROBES, HR_META_PROBE_FUNCTION and HR_META_PROBE_POINTS, each
 *                     with its struct hr_record_header: the kernel puts them into the trace as they
 *                     are
 *
 *   zeros
 *
 * A point's number in the trace is its index here.  Integers are little-endian.
 */
#pragma once

#include <stdint.h>

#define RUN_PROBES_NAME "microtome/probes"
#define RUN_PROBES_MAGIC 0x31626f7270726875ull /* "uhrprob1" */
#define RUN_PROBE_CODE_BYTES 15u /* of the longest instruction */

struct run_probes_header {
    uint64_t magic;
    uint32_t object_count;
    uint32_t point_count;
    uint32_t path_bytes;
    uint32_t meta_bytes;
    uint32_t argument_count; /* registers that each hit keeps, 0 .. HR_PROBE_ARGUMENTS_MAX */
    uint32_t every; /* 0: hits are recorded; N: every Nth hit of a point becomes a sample instead */
};
_Static_assert(sizeof(struct run_probes_header) == 32, "run_probes_header");

struct run_probe_object {
    uint32_t path_offset; /* absolute path as the guest sees it, links resolved */
    uint32_t path_bytes;
    uint32_t first_point;
    uint32_t point_count;
};
_Static_assert(sizeof(struct run_probe_object) == 16, "run_probe_object");

/* How the replaced instruction is executed.  The kernel does jumps itself, because it has to know
 * where they lead; it executes others in a copy. */
enum run_probe_flow {
    RUN_PROBE_COPY = 1, /* in a copy; then comes the next instruction */
    RUN_PROBE_COPY_RELATIVE = 2, /* as COPY, with a memory operand relative to rip */
    RUN_PROBE_COPY_AWAY = 3, /* in a copy; it does not come to the next one: ret */
    RUN_PROBE_JUMP = 4, /* to `target` */
    RUN_PROBE_JUMP_IF = 5, /* to `target` if `condition` holds, or to the next one */
    RUN_PROBE_JUMP_COUNT = 6, /* loop, loope, loopne, jrcxz: `condition` is the opcode's low byte */
    RUN_PROBE_JUMP_REGISTER = 7, /* to what register `base` holds */
    RUN_PROBE_JUMP_MEMORY = 8, /* to what the 8 bytes at base + index * scale + displacement hold */
    RUN_PROBE_CALL = 9, /* to `target` */
    RUN_PROBE_CALL_REGISTER = 10,
    RUN_PROBE_CALL_MEMORY = 11,
};

enum { RUN_PROBE_NO_REGISTER = 16, RUN_PROBE_RIP = 17 }; /* others: 0 rax, 1 rcx .. 15 r15 */

/* Which hits a point makes.  With INSIDE only a jump that leaves the function is a return. */
enum {
    RUN_PROBE_ENTRY = 1,
    RUN_PROBE_RETURN = 2,
    RUN_PROBE_PLACE = 4,
    RUN_PROBE_HEAP = 0xf8, /* calls of an allocator, whatever else is at the point: */
    RUN_PROBE_HEAP_SHIFT = 3, /* 3 bits: an entry, of enum run_probe_heap; 0: none */
    RUN_PROBE_HEAP_ENTRY = 7,
    RUN_PROBE_HEAP_RETURN = 0x40, /* a return, of whichever */
    RUN_PROBE_HEAP_JUMP = 0x80, /* a jump to memset, which gives back its first argument */
};

/* Where an allocator's arguments are. */
enum run_probe_heap {
    RUN_PROBE_HEAP_SIZE = 1, /* rdi: bytes */
    RUN_PROBE_HEAP_COUNT = 2, /* rdi * rsi */
    RUN_PROBE_HEAP_SECOND = 3, /* rsi; rdi: alignment */
    RUN_PROBE_HEAP_STORE = 4, /* rdx; rdi: where the address is stored; rax: 0, or an error */
    RUN_PROBE_HEAP_RESIZE = 5, /* rsi; rdi: what is to be resized */
    RUN_PROBE_HEAP_RESIZE_COUNT = 6, /* rsi * rdx; rdi likewise */
    RUN_PROBE_HEAP_FREE = 7, /* rdi: what is freed */
};

struct run_probe_point {
    uint64_t file_offset; /* of the instruction */
    int64_t target; /* jumps and calls: bytes from this instruction's start to where they lead */
    int64_t inside_start; /* the function's main part, from this instruction's start: a jump that */
    int64_t inside_end; /* leads into start .. end-1 does not return; both 0: it always does */
    int32_t displacement; /* of a memory operand */
    uint32_t function; /* its number in the trace */
    uint8_t kind; /* RUN_PROBE_ENTRY | RUN_PROBE_RETURN, or RUN_PROBE_PLACE; RUN_PROBE_HEAP */
    uint8_t flow; /* enum run_probe_flow */
    uint8_t bytes; /* of the instruction, 1 .. 15 */
    uint8_t displacement_at; /* COPY_RELATIVE: where the operand's 4 bytes are in `code` */
    uint8_t condition; /* the low 4 bits of a conditional jump's opcode; JUMP_COUNT: the byte */
    uint8_t base; /* register */
    uint8_t index; /* register */
    uint8_t scale; /* 1, 2, 4, 8 */
    uint8_t segment; /* base of a memory operand's segment: 0 none, 1 fs, 2 gs */
    uint8_t code[RUN_PROBE_CODE_BYTES]; /* as the file has them, else the kernel places no probe */
};
_Static_assert(sizeof(struct run_probe_point) == 64, "run_probe_point");
