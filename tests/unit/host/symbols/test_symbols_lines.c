/* Tests of inlined functions and lines: programs of several compilers and forms of debug
 * information, looked up at a known place.
 */
#include "host/symbols/symbols.h"

#include <pthread.h>

#include "tests/unit/host/program.h"
#include "tests/unit/test.h"

static void expect_frame(const struct symbols_frame *frame, const char *function, uint32_t line,
                         bool inlined)
{
    assert_string_equal(frame->function, function);
    assert_int_equal(frame->line, line);
    assert_non_null(frame->file);
    assert_string_equal(strrchr(frame->file, '/'), "/program.cc");
    assert_int_equal(frame->inlined, inlined);
}

static void expect_chain(const struct symbols_frame *frames, uint32_t count)
{
    assert_int_equal(count, 3);
    expect_frame(&frames[0], "demo::scale(int)", 3, true);
    expect_frame(&frames[1], "demo::sum(int, int)", 6, true);
    expect_frame(&frames[2], "demo::work(int, int)", 11, false);
}

static void every_form_gives_the_same_frames(void **state)
{
    static const char *const commands[] = {
        "g++ -O2 -g -gdwarf-4 -o $p program.cc",
        "g++ -O2 -g -gdwarf-5 -o $p program.cc",
        "g++ -O2 -g -no-pie -o $p program.cc",
        "g++ -O2 -g -static -o $p program.cc",
        "g++ -O2 -g -shared -fPIC -o $p program.cc",
        "g++ -O2 -g -gz=zlib -o $p program.cc",
        "g++ -O2 -g -gz=zlib-gnu -o $p program.cc",
        "g++ -O2 -g -fdebug-types-section -ffunction-sections -o $p program.cc",
        "g++ -O2 -g -gdwarf-5 -gsplit-dwarf -o $p program.cc",
        "g++ -O2 -g -gdwarf-4 -gsplit-dwarf -o $p program.cc",
        "g++ -O2 -g -flto -o $p program.cc",
        "clang++ -O2 -g -gdwarf-4 -o $p program.cc", /* without .debug_aranges */
        "clang++ -O2 -g -gdwarf-5 -o $p program.cc",
        "clang++ -O2 -g -gdwarf-5 -gsplit-dwarf -o $p program.cc",
    };
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols *symbols;
    struct program program;
    const char *file;

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        print_message("  %s\n", commands[i]);
        program_build(&program, commands[i]);
        assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
        expect_chain(frames, symbols_frames(symbols, program.probe, frames));
        expect_chain(frames, symbols_frames(symbols, program.probe, frames)); /* kept */
        assert_null(symbols_problem(symbols, 0, &file));
        symbols_close(symbols);
        program_free(&program);
    }
}

static void options_are_followed(void **state)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols *symbols;
    struct symbols_place place;
    struct program program;

    (void)state;
    program_build(&program, "g++ -O2 -g -o $p program.cc");
    assert_int_equal(
        symbols_open(&symbols, &program.info, &(struct symbols_options){.no_inlines = true}), 0);
    assert_int_equal(symbols_frames(symbols, program.probe, frames), 1);
    expect_frame(&frames[0], "demo::work(int, int)", 11, false);
    symbols_close(symbols);

    assert_int_equal(
        symbols_open(&symbols, &program.info, &(struct symbols_options){.raw_names = true}), 0);
    assert_true(symbols_find(symbols, program.probe, &place));
    assert_string_equal(place.name, "_ZN4demo4workEii");
    assert_int_equal(symbols_frames(symbols, program.probe, frames), 3);
    expect_frame(&frames[1], "_ZN4demo3sumEii", 6, true);
    expect_frame(&frames[2], "_ZN4demo4workEii", 11, false);
    symbols_close(symbols);
    program_free(&program);
}

static void without_lines_the_function_is_known(void **state)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    const char *file, *problem;
    struct symbols *symbols;
    struct program program;

    (void)state;
    program_build(&program, "g++ -O2 -g0 -o $p program.cc");
    assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
    assert_int_equal(symbols_frames(symbols, program.probe, frames), 1);
    assert_string_equal(frames[0].function, "demo::work(int, int)");
    assert_null(frames[0].file);
    assert_int_equal(frames[0].line, 0);
    problem = symbols_problem(symbols, 0, &file);
    assert_non_null(problem);
    assert_non_null(strstr(problem, "build it with -g"));
    assert_null(symbols_problem(symbols, 1, &file));
    assert_int_equal(symbols_frames(symbols, 0x1234, frames), 1); /* in no map */
    assert_null(frames[0].function);
    symbols_close(symbols);
    program_free(&program);
}

static char *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    char *all;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    all = malloc(*bytes);
    assert_int_equal(fread(all, 1, *bytes, file), *bytes);
    fclose(file);
    return all;
}

/* Bytes changed anywhere behind the ELF header: debug information among them. */
static void damaged_debug_information_is_survived(void **state)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct test_random random = {11};
    struct symbols *symbols;
    struct program program;
    size_t bytes;
    char *all;

    (void)state;
    program_build(&program, "g++ -O2 -g -o $p program.cc");
    all = read_all(program.path, &bytes);
    program.map.meta.build_id_bytes = 0;
    for (int round = 0; round < 200; round++) {
        FILE *file = fopen(program.path, "w");

        assert_non_null(file);
        assert_int_equal(fwrite(all, 1, bytes, file), bytes);
        for (int n = 0; n < 30; n++) {
            uint64_t at = 0x3000 + test_random_below(&random, bytes - 0x3000);

            fseek(file, (long)at, SEEK_SET);
            fputc((int)test_random_below(&random, 256), file);
        }
        fclose(file);
        assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
        for (uint64_t address = program.probe - 64; address < program.probe + 64; address += 8) {
            uint32_t count = symbols_frames(symbols, address, frames);

            assert_in_range(count, 1, SYMBOLS_FRAMES_MAX);
        }
        symbols_close(symbols);
    }
    free(all);
    program_free(&program);
}

/* A program whose lines would fill the memory, had they all to be kept. */
static void memory_is_bounded(void **state)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols *symbols;
    struct program program;

    (void)state;
    program_build(&program, "g++ -O2 -g -o $p program.cc");
    assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
    for (uint64_t n = 0; n < 600000; n++) { /* more than the cache holds */
        uint64_t address = program.map.meta.start + n % 4096;

        if (n > 8192)
            address = program.map.meta.end + n;
        assert_in_range(symbols_frames(symbols, address, frames), 1, SYMBOLS_FRAMES_MAX);
    }
    expect_chain(frames, symbols_frames(symbols, program.probe, frames));
    symbols_close(symbols);
    program_free(&program);
}

struct worker {
    struct symbols *symbols;
    const struct program *program;
    uint32_t unlike; /* what every other one gets */
};

static void *look_around(void *argument)
{
    struct worker *w = argument;
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;

    for (uint64_t n = 0; n < 20000; n++) {
        uint64_t address = w->program->probe - 200 + n % 400;
        bool known = symbols_find(w->symbols, address, &place);
        uint32_t count = symbols_frames(w->symbols, address, frames);

        if (known && place.name != NULL && frames[count - 1].function != place.name)
            w->unlike++;
        if (address == w->program->probe && (count != 3 || frames[1].line != 6))
            w->unlike++;
    }
    return NULL;
}

static void many_threads_look_up(void **state)
{
    struct worker workers[4];
    pthread_t threads[4];
    struct symbols *symbols;
    struct program program;

    (void)state;
    program_build(&program, "g++ -O2 -g -o $p program.cc");
    assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){symbols, &program, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, look_around, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].unlike, 0);
    }
    symbols_close(symbols);
    program_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_the_same_frames),
        cmocka_unit_test(options_are_followed),
        cmocka_unit_test(without_lines_the_function_is_known),
        cmocka_unit_test(damaged_debug_information_is_survived),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(many_threads_look_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
