/* Reads single instructions (Intel SDM, volume 2, "Instruction Format").  Capstone finds their
 * length; branches are so regular that their bytes say the rest. */
#include "host/probe/probe_step.h"

#include <string.h>

struct prefixes {
    bool operand16; /* 66H */
    bool address32; /* 67H */
    uint8_t segment; /* as run_probe_point.segment */
    uint8_t rex;
    uint8_t count;
};

/* A REX prefix counts only right before the opcode. */
static struct prefixes read_prefixes(const uint8_t *code, size_t bytes)
{
    struct prefixes p = {0};

    for (; p.count < bytes; p.count++) {
        uint8_t byte = code[p.count];
        bool rex = (byte & 0xf0) == 0x40;

        if (byte == 0x66)
            p.operand16 = true;
        else if (byte == 0x67)
            p.address32 = true;
        else if (byte == 0x64 || byte == 0x65)
            p.segment = byte == 0x64 ? 1 : 2;
        else if (byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && (byte & 0xe7) != 0x26 && !rex)
            break;
        p.rex = rex ? byte : 0;
    }
    return p;
}

static int32_t number(const uint8_t *bytes, size_t count)
{
    int32_t value;

    if (count == 1)
        return (int8_t)bytes[0];
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* The offset is at the instruction's end and counts from there. */
static void set_target(struct probe_step *s, uint8_t flow, size_t offset_bytes)
{
    s->point.flow = flow;
    s->point.target =
        s->point.bytes + number(s->point.code + s->point.bytes - offset_bytes, offset_bytes);
    s->leaves = flow != RUN_PROBE_CALL;
    s->ends = flow == RUN_PROBE_JUMP;
}

/* A memory operand: ModRM, SIB and displacement. */
static void set_memory(struct run_probe_point *point, const uint8_t *modrm,
                       const struct prefixes *p)
{
    uint8_t mode = modrm[0] >> 6, base = modrm[0] & 7;
    const uint8_t *displacement = modrm + 1;

    point->segment = p->segment;
    point->scale = 1;
    point->base = (uint8_t)(base | (p->rex & 1) << 3);
    if (base == 4) {
        uint8_t sib = *displacement++, index = (uint8_t)(((sib >> 3) & 7) | (p->rex & 2) << 2);

        base = sib & 7;
        point->base = (uint8_t)(base | (p->rex & 1) << 3);
        point->index = index != 4 ? index : RUN_PROBE_NO_REGISTER;
        point->scale = (uint8_t)(1 << (sib >> 6));
        if (mode == 0 && base == 5)
            point->base = RUN_PROBE_NO_REGISTER;
    } else if (mode == 0 && base == 5) {
        point->base = RUN_PROBE_RIP;
    }
    if (mode == 1)
        point->displacement = number(displacement, 1);
    else if (mode == 2 || (mode == 0 && base == 5))
        point->displacement = number(displacement, 4);
}

/* FFH: calls and jumps through a register or memory. */
static void read_indirect(struct probe_step *s, const uint8_t *modrm, const struct prefixes *p)
{
    bool memory = modrm[0] < 0xc0;
    uint8_t kind = (modrm[0] >> 3) & 7;

    if (kind == 3 || kind == 5)
        s->refused = "it goes to another code segment";
    if (kind < 2 || kind > 5)
        return;
    s->leaves = s->ends = kind >= 4;
    if (kind < 4)
        s->point.flow = memory ? RUN_PROBE_CALL_MEMORY : RUN_PROBE_CALL_REGISTER;
    else
        s->point.flow = memory ? RUN_PROBE_JUMP_MEMORY : RUN_PROBE_JUMP_REGISTER;
    if (memory)
        set_memory(&s->point, modrm, p);
    else
        s->point.base = (uint8_t)((modrm[0] & 7) | (p->rex & 1) << 3);
    if (memory && p->address32)
        s->refused = "its address has 32 bits";
}

static void read_two_bytes(struct probe_step *s, const uint8_t *opcode)
{
    if (opcode[1] >= 0x80 && opcode[1] <= 0x8f) {
        set_target(s, RUN_PROBE_JUMP_IF, 4);
        s->point.condition = opcode[1] & 15;
    } else if (opcode[1] == 0x07 || opcode[1] == 0x34 || opcode[1] == 0x35) {
        s->refused = "it is a system call of another kind";
    }
    s->ends = s->ends || opcode[1] == 0x0b || opcode[1] == 0xb9; /* ud2, ud1 */
    s->idle = opcode[1] == 0x05 || opcode[1] == 0x1f; /* syscall, nop */
}

static void read_opcode(struct probe_step *s, const uint8_t *opcode, const struct prefixes *p)
{
    switch (opcode[0]) {
    case 0x0f:
        read_two_bytes(s, opcode);
        break;
    case 0x70 ... 0x7f:
        set_target(s, RUN_PROBE_JUMP_IF, 1);
        s->point.condition = opcode[0] & 15;
        break;
    case 0x90:
        s->idle = true;
        break;
    case 0xc2:
    case 0xc3:
        s->point.flow = RUN_PROBE_COPY_AWAY;
        s->leaves = s->ends = true;
        break;
    case 0xc7:
        if (opcode[1] == 0xf8)
            s->refused = "it begins a transaction, which a probe ends";
        break;
    case 0xca:
    case 0xcb:
    case 0xcf:
        s->refused = "it returns to another code segment";
        s->leaves = s->ends = true;
        break;
    case 0xcc:
    case 0xcd:
    case 0xf1:
        s->refused = "it is an interrupt itself";
        s->idle = true;
        break;
    case 0xe0 ... 0xe3:
        set_target(s, RUN_PROBE_JUMP_COUNT, 1);
        s->point.condition = opcode[0];
        if (p->address32)
            s->refused = "its count has 32 bits";
        break;
    case 0xe8:
        set_target(s, RUN_PROBE_CALL, 4);
        break;
    case 0xe9:
        set_target(s, RUN_PROBE_JUMP, 4);
        break;
    case 0xeb:
        set_target(s, RUN_PROBE_JUMP, 1);
        break;
    case 0xf4:
        s->ends = s->idle = true;
        break;
    case 0xff:
        read_indirect(s, opcode + 1, p);
        break;
    default:
        break;
    }
}

/* An operand relative to rip of an instruction that is executed in a copy. */
static void read_relative(struct probe_step *s, size_t modrm_at, const struct prefixes *p)
{
    if (s->point.flow != RUN_PROBE_COPY || modrm_at == 0 || modrm_at + 5 > s->point.bytes ||
        (s->point.code[modrm_at] & 0xc7) != 5)
        return;
    s->point.flow = RUN_PROBE_COPY_RELATIVE;
    s->point.base = RUN_PROBE_RIP;
    s->point.scale = 1;
    s->point.segment = p->segment;
    s->point.displacement_at = (uint8_t)(modrm_at + 1);
    s->point.displacement = number(s->point.code + modrm_at + 1, 4);
    if (p->address32)
        s->refused = "its address has 32 bits";
}

static size_t operand_bytes(const uint8_t *modrm, size_t bytes)
{
    uint8_t mode = modrm[0] >> 6, base = modrm[0] & 7;
    size_t count = 1;

    if (mode != 3 && base == 4 && bytes > 1) {
        base = modrm[1] & 7;
        count++;
    }
    if (mode == 2 || (mode == 0 && base == 5))
        count += 4;
    else if (mode == 1)
        count += 1;
    return count;
}

/* Instructions that capstone 4 does not know: those of AVX-512 (SDM, volume 2, "VEX Prefix" and
 * "Intel AVX-512 Encoding") and those of 0F 01 without an operand.  Returns the length, or 0. */
static size_t decode_rest(const uint8_t *code, size_t bytes, size_t *modrm_at)
{
    size_t prefix = bytes == 0 ? 0 : code[0] == 0xc5 ? 2 : code[0] == 0xc4 ? 3 : 4, length;
    uint8_t map, opcode;

    if (bytes >= 3 && code[0] == 0x0f && code[1] == 0x01 && code[2] >= 0xc0)
        return 3;
    if (bytes < prefix + 2 || (prefix == 4 && (code[0] != 0x62 || (code[2] & 4) == 0)))
        return 0;
    map = prefix == 2 ? 1 : prefix == 3 ? code[1] & 31 : code[1] & 15;
    if (map == 0 || map == 4 || map > 6)
        return 0;
    opcode = code[prefix];
    *modrm_at = prefix + 1;
    length = prefix + 1 + operand_bytes(code + *modrm_at, bytes - *modrm_at);
    if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
                                  (opcode >= 0xc4 && opcode <= 0xc6))))
        length++; /* an immediate byte */
    return length <= bytes && length <= RUN_PROBE_CODE_BYTES ? length : 0;
}

/* Returns the length of the first instruction, or 0, and where its ModRM byte is; 0: it has none.
 */
static size_t decode(csh handle, cs_insn *insn, const uint8_t *code, size_t bytes, size_t *modrm_at)
{
    const uint8_t *at = code;
    size_t left = bytes;
    uint64_t address = 0;

    if (!cs_disasm_iter(handle, &at, &left, &address, insn))
        return decode_rest(code, bytes, modrm_at);
    *modrm_at = insn->detail->x86.encoding.modrm_offset;
    return insn->size <= RUN_PROBE_CODE_BYTES ? insn->size : 0;
}

bool probe_step_read(struct probe_step *step, csh handle, cs_insn *insn, const uint8_t *code,
                     size_t bytes)
{
    uint8_t padded[RUN_PROBE_CODE_BYTES + 8] = {0}; /* whatever it claims to have */
    size_t modrm_at = 0, length = decode(handle, insn, code, bytes, &modrm_at);
    struct prefixes p;

    if (length == 0)
        return false;
    *step = (struct probe_step){
        .point = {.flow = RUN_PROBE_COPY,
                  .bytes = (uint8_t)length,
                  .base = RUN_PROBE_NO_REGISTER,
                  .index = RUN_PROBE_NO_REGISTER},
    };
    memcpy(step->point.code, code, length);
    memcpy(padded, code, length);
    p = read_prefixes(padded, length);
    if (p.count < length)
        read_opcode(step, padded + p.count, &p);
    read_relative(step, modrm_at, &p);
    /* Without REX.W, AMD's processors cut the target to 16 bits and Intel's do not (SDM, "JMP"). */
    if (step->point.flow >= RUN_PROBE_COPY_AWAY && p.operand16 && (p.rex & 8) == 0)
        step->refused = "its prefix 66H means another thing to each processor";
    return true;
}
