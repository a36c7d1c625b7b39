/* avx: keeps known values in all vector registers across system calls and samples, and computes. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define LANES 8
#define REGISTERS 16

/* Loads 16 vectors from `in`, spins `loops` times, makes system call `number` (-1: none), stores
 * the registers to `out` in place.  System V: in, out, loops, number.  Only the kernel keeps the
 * upper halves, so nothing else may run in between.
 */
void avx_hold(const void *in, void *out, uint64_t loops, int64_t number);
__asm__(".text\n"
        ".type avx_hold, @function\n"
        "avx_hold:\n"
        "   push %rbx\n"
        "   mov %rdx, %rbx\n"
        "   mov %rsi, %r9\n"
        "   .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "   vmovdqu 32*\\n(%rdi), %ymm\\n\n"
        "   .endr\n"
        "1: dec %rbx\n"
        "   jnz 1b\n"
        "   mov %rcx, %rax\n"
        "   test %rax, %rax\n"
        "   js 2f\n"
        "   syscall\n"
        "2: .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "   vmovdqu %ymm\\n, 32*\\n(%r9)\n"
        "   .endr\n"
        "   vzeroupper\n"
        "   pop %rbx\n"
        "   ret\n"
        ".size avx_hold, .-avx_hold\n");

static uint64_t mismatches(uint64_t round, int64_t number)
{
    static uint64_t in[REGISTERS * 4], out[REGISTERS * 4];
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < REGISTERS * 4; i++)
        in[i] = (round + 1) * 0x9e3779b97f4a7c15ull + i * 0xd6e8feb86659fd93ull;
    memset(out, 0, sizeof(out));
    avx_hold(in, out, 2000, number);
    for (uint64_t i = 0; i < REGISTERS * 4; i++)
        wrong += in[i] != out[i];
    return wrong;
}

/* Computes the logistic map in eight lanes, with a system call from time to time. */
__attribute__((target("avx2"), noinline)) static void compute_vector(float *lanes, uint64_t steps)
{
    __m256 x = _mm256_loadu_ps(lanes);
    const __m256 rate = _mm256_set1_ps(3.75f), one = _mm256_set1_ps(1.0f);
    for (uint64_t i = 0; i < steps; i++) {
        x = _mm256_mul_ps(_mm256_mul_ps(rate, x), _mm256_sub_ps(one, x));
        if (i % 1000 == 0) {
            long pid = SYS_getpid;
            __asm__ volatile("syscall" : "+a"(pid) : : "rcx", "r11", "memory");
        }
    }
    _mm256_storeu_ps(lanes, x);
}

static void compute_scalar(float *lanes, uint64_t steps)
{
    for (int lane = 0; lane < LANES; lane++)
        for (uint64_t i = 0; i < steps; i++) {
            volatile float scaled = 3.75f * lanes[lane]; /* rounds where the vector unit rounds */
            lanes[lane] = scaled * (1.0f - lanes[lane]);
        }
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    if (argc > 2 || rounds == 0) {
        fputs("usage: avx [ROUNDS]\n", stderr);
        return 2;
    }
    if (!__builtin_cpu_supports("avx2")) {
        fputs("avx: this CPU has no AVX2\n", stderr);
        return 1;
    }
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < rounds; r++)
        wrong += mismatches(r, r % 2 ? SYS_getpid : -1);

    float vector[LANES], scalar[LANES];
    for (int lane = 0; lane < LANES; lane++)
        vector[lane] = scalar[lane] = 0.1f + 0.05f * (float)lane;
    compute_vector(vector, rounds * 100);
    compute_scalar(scalar, rounds * 100);
    int differ = memcmp(vector, scalar, sizeof(vector)) != 0;
    printf("avx: %llu wrong vector registers, results %s\n", (unsigned long long)wrong,
           differ ? "differ" : "equal");
    return wrong || differ ? 1 : 0;
}
