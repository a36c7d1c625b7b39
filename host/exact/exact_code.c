/* Decodes the blocks' instructions with capstone. */
#include "host/exact/exact_code.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Instructions whose memory operand is only an address, or a hint. */
static bool accesses_nothing(unsigned int id)
{
    switch (id) {
    case X86_INS_LEA:
    case X86_INS_NOP:
    case X86_INS_PREFETCH:
    case X86_INS_PREFETCHW:
    case X86_INS_PREFETCHNTA:
    case X86_INS_PREFETCHT0:
    case X86_INS_PREFETCHT1:
    case X86_INS_PREFETCHT2:
    case X86_INS_CLFLUSH:
    case X86_INS_CLFLUSHOPT:
    case X86_INS_CLWB:
        return true;
    default:
        return false;
    }
}

/* Accesses to the stack without an operand. */
static uint8_t stack_accesses(unsigned int id)
{
    switch (id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHF:
    case X86_INS_PUSHFQ:
    case X86_INS_CALL:
    case X86_INS_LCALL:
    case X86_INS_ENTER:
        return EXACT_STORES;
    case X86_INS_POP:
    case X86_INS_POPF:
    case X86_INS_POPFQ:
    case X86_INS_RET:
    case X86_INS_RETF:
    case X86_INS_RETFQ:
    case X86_INS_LEAVE:
        return EXACT_LOADS;
    default:
        return 0;
    }
}

static uint8_t accesses(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    uint8_t kinds = stack_accesses(insn->id);

    if (accesses_nothing(insn->id))
        return 0;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        if (x86->operands[i].type != X86_OP_MEM)
            continue;
        if ((x86->operands[i].access & CS_AC_READ) != 0)
            kinds |= EXACT_LOADS;
        if ((x86->operands[i].access & CS_AC_WRITE) != 0)
            kinds |= EXACT_STORES;
    }
    return kinds;
}

/* rep movs, stos and lods; scas and cmps may end before their count. */
static bool repeats(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    uint8_t opcode = x86->opcode[0];

    return (x86->prefix[0] == X86_PREFIX_REP || x86->prefix[0] == X86_PREFIX_REPNE) &&
           x86->opcode[1] == 0 &&
           (opcode == 0xa4 || opcode == 0xa5 || (opcode >= 0xaa && opcode <= 0xad));
}

static bool is_unconditional(unsigned int id)
{
    return id == X86_INS_JMP || id == X86_INS_LJMP;
}

static uint8_t branch(csh handle, const cs_insn *insn, uint64_t *target)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const cs_x86_op *to = &x86->operands[0];
    bool loops =
        insn->id == X86_INS_LOOP || insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE;
    bool jumps = cs_insn_group(handle, insn, CS_GRP_JUMP) || loops;
    bool calls = cs_insn_group(handle, insn, CS_GRP_CALL);
    uint8_t kinds = EXACT_IS_BRANCH;

    *target = 0;
    if (!jumps && !calls && !cs_insn_group(handle, insn, CS_GRP_RET))
        return 0;
    if (calls)
        kinds |= EXACT_IS_CALL;
    else if (jumps && !is_unconditional(insn->id))
        kinds |= EXACT_IS_CONDITIONAL;
    if ((jumps || calls) && x86->op_count == 1 && to->type == X86_OP_IMM)
        *target = (uint64_t)to->imm;
    if (insn->id == X86_INS_JMP && to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP)
        kinds |= EXACT_IS_LINK;
    return kinds;
}

static void read_block(struct exact_code *code, const struct exact_memory *m, uint32_t number,
                       csh handle, cs_insn *insn)
{
    const struct exact_block *block = &m->blocks[number];
    const uint8_t *lengths = exact_memory_code(m, number), *bytes = lengths + block->instructions;
    uint64_t address = block->start;

    for (uint32_t i = 0; i < block->instructions; i++) {
        const uint8_t *next = bytes;
        uint64_t next_address = address;
        size_t left = lengths[i];
        uint8_t *kinds = &code->kinds[block->code + i];

        if (cs_disasm_iter(handle, &next, &left, &next_address, insn)) {
            *kinds = branch(handle, insn, &code->targets[number]) | accesses(insn);
            if (repeats(insn))
                *kinds |= EXACT_REPEATS;
        }
        bytes += lengths[i];
        address += lengths[i];
    }
}

int exact_code_read(struct exact_code *code, const struct exact_memory *memory)
{
    cs_insn *insn = NULL;
    csh handle;

    code->kinds = calloc((size_t)memory->header->code_bytes + 1, 1);
    code->targets = calloc((size_t)memory->header->blocks + 1, sizeof code->targets[0]);
    if (code->kinds == NULL || code->targets == NULL ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) {
        exact_code_free(code);
        return -ENOMEM;
    }
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(handle);
    for (uint32_t i = 1; insn != NULL && i <= memory->header->blocks; i++)
        read_block(code, memory, i, handle, insn);
    if (insn != NULL)
        cs_free(insn, 1);
    cs_close(&handle);
    return insn != NULL ? 0 : -ENOMEM;
}

void exact_code_free(struct exact_code *code)
{
    free(code->kinds);
    free(code->targets);
    *code = (struct exact_code){0};
}
