/* host/trace/trace_names.c: names of code from a trace's META chunks, wherever they are. */
#include "host/trace/trace_names.h"
#include "tests/unit/host/fixture.h"

static struct trace_file file;

static struct trace_record record_of(uint8_t type, const uint8_t *body, size_t bytes)
{
    return (struct trace_record){.type = type, .bytes = (uint16_t)bytes, .body = body};
}

static struct hr_meta_python_code code_of(uint64_t start, uint32_t first_line)
{
    return (struct hr_meta_python_code){.start = HR_PYTHON_BASE + start,
                                        .code_bytes = 16,
                                        .first_line = first_line,
                                        .name_bytes = 1,
                                        .file_bytes = 2,
                                        .name_unit = 1,
                                        .file_unit = 1};
}

static void add_code(struct fixture *f, struct hr_meta_python_code code, const char *texts)
{
    fixture_add(&f->meta, HR_META_PYTHON_CODE, &code, sizeof code, texts);
}

static void names_come_from_chunks_behind_the_data(void **state)
{
    const struct hr_meta_jit_file jit = {6, HR_JIT_PERF_MAP, 7, 3, 0};
    const struct hr_meta_jit_data data = {3, 0}, other = {4, 0};
    struct trace_names *names;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    add_code(&f, code_of(32, 5), "gab");
    fixture_begin_data(&f);
    fixture_samples(&f, 10);
    fixture_split(&f);
    trace_writer_begin(&f.meta, HR_CHUNK_META);
    add_code(&f, code_of(64, 1), "fab");
    add_code(&f, code_of(16, 1), "fab"); /* the same function, met before */
    fixture_add(&f.meta, HR_META_JIT_FILE, &jit, sizeof jit, "/tmp/perf-7.map");
    fixture_add(&f.meta, HR_META_JIT_DATA, &data, sizeof data, "abc");
    fixture_add(&f.meta, HR_META_JIT_DATA, &other, sizeof other, "no part of it");
    fixture_add(&f.meta, HR_META_JIT_DATA, &data, sizeof data, "def");
    fixture_chunk(&f, &f.meta);
    fixture_samples(&f, 10);
    fixture_end(&f);
    assert_int_equal(trace_file_open(&file, fixture_file(&f)), 0);
    names = trace_names_new(&file);
    trace_file_close(&file);
    assert_non_null(names);
    assert_int_equal(trace_names_read(names), 0);
    assert_int_equal(names->code_count, 3);
    assert_null(trace_names_python(names, HR_PYTHON_BASE + 15));
    assert_string_equal(trace_names_python(names, HR_PYTHON_BASE + 16)->name, "f");
    assert_string_equal(trace_names_python(names, HR_PYTHON_BASE + 47)->name, "g");
    assert_null(trace_names_python(names, HR_PYTHON_BASE + 48));
    assert_ptr_equal(trace_names_python(names, HR_PYTHON_BASE + 79)->first, &names->codes[0]);
    assert_string_equal(names->codes[0].file, "ab");
    assert_int_equal(names->file_count, 1);
    assert_string_equal(names->files[0].path, "/tmp/perf-7.map");
    assert_int_equal(names->files[0].count, 6);
    assert_string_equal((char *)names->files[0].bytes, "abcdef");
    trace_names_release(names);
    fixture_free(&f);
}

static void texts_become_utf8(void **state)
{
    static const uint8_t wide[] = {0x41, 0, 0xc0, 0x03, 0x00, 0xd8}; /* A, pi, half a pair */
    static const uint8_t full[] = {0x00, 0xf6, 0x01, 0x00, 0xff, 0xff, 0xff, 0xff};
    char text[64];

    (void)state;
    trace_names_text(text, (const uint8_t *)"a\xe9", 2, 1);
    assert_string_equal(text, "a\xc3\xa9");
    trace_names_text(text, wide, sizeof wide, 2);
    assert_string_equal(text, "A\xcf\x80\xef\xbf\xbd");
    trace_names_text(text, full, sizeof full, 4);
    assert_string_equal(text, "\xf0\x9f\x98\x80\xef\xbf\xbd");
    trace_names_text(text, wide, 3, 2); /* half a character is none */
    assert_string_equal(text, "A");
}

static void records_that_lie_are_refused(void **state)
{
    struct hr_meta_python_code code = code_of(16, 1);
    uint8_t body[sizeof code + 3] = {0};
    struct trace_record record = record_of(HR_META_PYTHON_CODE, body, sizeof body);

    (void)state;
    memcpy(body, &code, sizeof code);
    assert_true(trace_names_valid(&record));
    record.bytes--;
    assert_false(trace_names_valid(&record));
    record.bytes++;
    for (uint32_t i = 0; i < 4; i++) {
        struct hr_meta_python_code bad = code;

        if (i == 0)
            bad.start = HR_PYTHON_UNKNOWN;
        else if (i == 1)
            bad.code_bytes = UINT32_MAX, bad.start = HR_PYTHON_END - 5;
        else if (i == 2)
            bad.name_unit = 3;
        else
            bad.line_bytes = 1;
        memcpy(body, &bad, sizeof bad);
        assert_false(trace_names_valid(&record));
    }
    record = record_of(HR_META_JIT_FILE, body, sizeof(struct hr_meta_jit_file));
    assert_false(trace_names_valid(&record)); /* it has no path */
    record = record_of(HR_META_JIT_DATA, body, 7);
    assert_false(trace_names_valid(&record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_from_chunks_behind_the_data),
        cmocka_unit_test(texts_become_utf8),
        cmocka_unit_test(records_that_lie_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
