/* Makes two functions at run time and says so as perf's jitdump has it: jit-PID.dump in /tmp.  Both
 * are loops; `made_hot` turns three times as often as `made_cool`.  Then a third one takes the
 * place of `made_cool`. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const uint8_t loop[] = {0xb9, 0,    0,    0,    0,
                               0xff, 0xc9, 0x75, 0xfc, 0xc3}; /* mov ecx; dec ecx; jnz; ret */
static FILE *dump;
static uint64_t number;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void begin(void)
{
    const struct {
        uint32_t magic, version, bytes, machine, pad, pid;
        uint64_t time, flags;
    } header = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), now(), 0};
    char path[64];

    snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)getpid());
    dump = fopen(path, "w");
    fwrite(&header, sizeof header, 1, dump);
}

static void put_head(uint32_t type, size_t bytes)
{
    const struct {
        uint32_t type, bytes;
        uint64_t time;
    } head = {type, (uint32_t)(sizeof head + bytes), now()};

    fwrite(&head, sizeof head, 1, dump);
}

/* Line 10 for the constant, 11 for the loop. */
static void put_lines(uint64_t address)
{
    const uint64_t lines[2] = {address, 2};
    struct {
        uint64_t address;
        int32_t line, discriminator;
    } line = {address, 10, 0};

    put_head(2, sizeof lines + sizeof line + sizeof "made.src" + sizeof line + sizeof "\xff");
    fwrite(lines, sizeof lines, 1, dump);
    fwrite(&line, sizeof line, 1, dump);
    fwrite("made.src", sizeof "made.src", 1, dump);
    line.address += 5;
    line.line++;
    fwrite(&line, sizeof line, 1, dump);
    fwrite("\xff", sizeof "\xff", 1, dump);
}

static void (*make(uint8_t *at, const char *name, uint32_t turns))(void)
{
    uint64_t address = (uint64_t)at;
    const struct {
        uint32_t pid, tid;
        uint64_t linked, address, bytes, number;
    } load = {(uint32_t)getpid(), (uint32_t)getpid(), address, address, sizeof loop, number++};
    void (*function)(void);

    memcpy(at, loop, sizeof loop);
    memcpy(at + 1, &turns, sizeof turns);
    put_lines(address);
    put_head(0, sizeof load + strlen(name) + 1 + sizeof loop);
    fwrite(&load, sizeof load, 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(at, sizeof loop, 1, dump);
    memcpy(&function, &at, sizeof function);
    return function;
}

int main(void)
{
    uint8_t *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return 1;
    begin();
    make(memory, "made_hot", 3000000)();
    make(memory + 64, "made_cool", 1000000)();
    make(memory + 64, "made_later", 500000)();
    fclose(dump);
    puts("made");
    return 0;
}
