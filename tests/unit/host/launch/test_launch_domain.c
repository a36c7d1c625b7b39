/* The XML of a libvirt domain: escaping, and what each kind of machine is described with. */
#include "tests/unit/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/xml.h"
#include "host/launch/launch_domain.h"

static void escapes_what_it_must(void **state)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct xml x;

    (void)state;
    xml_init(&x, out);
    xml_start(&x, "a");
    xml_attribute(&x, "b", "<'\"&>\t%s", "\n");
    xml_start(&x, "c");
    xml_end(&x);
    xml_element(&x, "d", "]]><x>&amp;");
    xml_end(&x);
    fclose(out);
    assert_string_equal(text, "<a b='&lt;&apos;&quot;&amp;&gt;&#9;&#10;'>\n"
                              "  <c/>\n"
                              "  <d>]]&gt;&lt;x&gt;&amp;amp;</d>\n"
                              "</a>\n");
    assert_false(x.bad);
    free(text);
}

static char *describe(const struct options *o, const struct launch_machine *machine,
                      const char *directory, int *result, struct run_failure *failure)
{
    static struct launch_domain domain;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    domain = (struct launch_domain){
        .name = "microtome-1", .emulator = "/usr/bin/qemu-system-x86_64", .models = {"dac"}};
    snprintf(domain.directory, sizeof domain.directory, "%s", directory);
    *result = launch_domain_write(o, machine, &domain, out, failure);
    fclose(out);
    return text;
}

static void describes_emulation_as_the_command_line_does(void **state)
{
    const struct options o = {.memory_bytes = 64u << 20};
    const struct launch_machine machine = {.virtual_time = true, .guest_cpus = 1};
    struct run_failure failure = {0};
    int result;
    char *text = describe(&o, &machine, "/tmp/a&b", &result, &failure);

    (void)state;
    assert_int_equal(result, 0);
    assert_non_null(strstr(text, "<domain type='qemu' "));
    assert_non_null(strstr(text, "<memory unit='MiB'>64</memory>"));
    assert_non_null(strstr(text, "<initrd>/tmp/a&amp;b/run.cpio</initrd>"));
    assert_non_null(strstr(text, "<feature policy='require' name='pclmuldq'/>"));
    assert_non_null(strstr(text, "<qemu:arg value='shift=0,sleep=off'/>"));
    assert_non_null(strstr(text, "<target type='virtio' name='org.microtome.trace'/>"));
    assert_non_null(strstr(text, "<seclabel type='none' model='dac'/>"));
    assert_null(strstr(text, "cputune"));
    assert_null(strstr(text, "memoryBacking"));
    assert_null(strstr(text, "<pmu"));
    free(text);
}

static void describes_kvm_with_everything(void **state)
{
    const struct options o = {.memory_bytes = 1u << 30};
    struct options ipi = o;
    struct launch_machine machine = {.kvm = true, .cpus = 1, .guest_cpus = 2, .fifo = true};
    struct run_failure failure = {0};
    char *text;
    int result;

    (void)state;
    machine.memory = (struct launch_memory){
        .huge_pages = true, .filled = true, .locked = true, .bound = true, .node = 1};
    machine.pin.count = 2;
    machine.pin.cpus[0] = 4;
    machine.pin.cpus[1] = 6;
    CPU_SET(1, &machine.pin.others);
    text = describe(&o, &machine, "/tmp/d", &result, &failure);
    assert_int_equal(result, 0);
    assert_non_null(strstr(text, "<domain type='kvm' "));
    assert_non_null(strstr(text, "<pmu state='on'/>"));
    assert_non_null(strstr(text, "mode='host-passthrough' check='none' migratable='off'"));
    assert_non_null(strstr(text, "<vcpupin vcpu='1' cpuset='6'/>"));
    assert_non_null(strstr(text, "<emulatorpin cpuset='1'/>"));
    assert_non_null(strstr(text, "<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/>"));
    assert_non_null(strstr(text, "<page size='2' unit='MiB'/>"));
    assert_non_null(strstr(text, "<locked/>"));
    assert_non_null(strstr(text, "<allocation mode='immediate'/>"));
    assert_non_null(strstr(text, "<memory mode='strict' nodeset='1'/>"));
    assert_non_null(strstr(text, "<qemu:arg value='mem-lock=on'/>"));
    assert_null(strstr(text, "cpu-pm"));
    assert_null(strstr(text, "-icount"));
    free(text);
    machine.memory.bound = machine.memory.filled = false;
    ipi.mode = HR_MODE_IPI;
    text = describe(&ipi, &machine, "/tmp/d", &result, &failure);
    assert_non_null(strstr(text, "<qemu:arg value='mem-lock=on,cpu-pm=on'/>"));
    assert_null(strstr(text, "numatune"));
    assert_null(strstr(text, "allocation"));
    free(text);
}

static void refuses_what_xml_cannot_hold(void **state)
{
    const struct options o = {.memory_bytes = 64u << 20, .cpu = "a\033b"};
    const struct launch_machine machine = {.guest_cpus = 1};
    struct run_failure failure = {0};
    int result;

    (void)state;
    free(describe(&o, &machine, "/tmp/d", &result, &failure));
    assert_int_equal(result, -1);
    assert_non_null(strstr(failure.text, "XML cannot hold"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_it_must),
        cmocka_unit_test(describes_emulation_as_the_command_line_does),
        cmocka_unit_test(describes_kvm_with_everything),
        cmocka_unit_test(refuses_what_xml_cannot_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
