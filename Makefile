# Microtome. `make help` lists the targets. Everything is built into build/.
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
BUILD ?= build
OPT ?= -O2
WORKLOAD_OPT ?= -O2# the tests know how many instructions some loops have
PREFIX ?= /usr/local
DESTDIR ?=

MAKEFLAGS += -r# its own rules are none of ours, and looking for one for each of 1,500 sources takes a second

# A parameter that is not used has no name, as in C23: gcc allows it, clang 14 must be told.
WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Werror -Wno-c2x-extensions
# -g1: functions and lines, which is what a profile or a backtrace of ours needs, in four fifths of the time.
# OPT='-O0 -g' adds variables and types, for a debugger.
COMMON := -std=gnu11 -g1 $(OPT) $(WARN) -I. -MMD -MP
CONTEXT := -Iguest/variants/shipped# guest/base/context.h without checks, for the files that include it
# Declarations at the start of a block, but for tests and workloads (CONTRIBUTING.md, "Dialect").
DIALECT := -Wdeclaration-after-statement
GUEST_CFLAGS := $(COMMON) $(DIALECT) -ffreestanding -mno-red-zone -mgeneral-regs-only -fno-pic -fno-pie \
	-mcmodel=kernel -fno-stack-protector -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
	-fno-strict-aliasing -fcf-protection=none -fno-builtin-printf
GUEST_LDFLAGS := -nostdlib -static -Wl,-T,linker.ld -Wl,--build-id=sha1 \
	-Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments
# Code of the kernel's that runs in the program: no registers but the general ones, no libraries.
VDSO_CFLAGS := $(COMMON) $(DIALECT) -fPIC -fvisibility=default -ffreestanding -mgeneral-regs-only -fno-jump-tables \
	-fno-stack-protector -fcf-protection=none -fasynchronous-unwind-tables -fno-builtin
VDSO_LDFLAGS := -nostdlib -shared -Wl,-T,guest/vdso/vdso.lds -Wl,-soname,linux-vdso.so.1 -Wl,-Bsymbolic \
	-Wl,--hash-style=both -Wl,--eh-frame-hdr -Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,-z,max-page-size=4096
HOST_CFLAGS := $(COMMON) $(DIALECT) -D_GNU_SOURCE -fstack-protector-strong
HOST_LIBS := -lelf -ldw -liberty -ljansson -lpfm -lcapstone -lsqlite3 -lm -lz
# Most of the time that a command needs to start went into loading and relocating libraries.  In an executable of fixed address
# nothing has to be relocated in them.  Two are mostly tables of pointers; others are in it where their archives are installed
# (libbz2-dev, which libdw-dev does not bring, for libdw), with what those of newer releases need.
TABLE_LIBS := -lpfm -lcapstone
archives = $(foreach lib,$(1:-l%=%),$(if $(wildcard $(shell $(CC) -print-file-name=lib$(lib).a)),-l$(lib)))
DWARF_LIBS := -ldw -lelf -llzma -lbz2
INSIDE_LIBS = $(TABLE_LIBS) $(call archives,-ljansson -lsqlite3 -lz -ldeflate) \
	$(if $(filter-out $(call archives,$(DWARF_LIBS)),$(DWARF_LIBS)),,$(DWARF_LIBS) $(call archives,-lzstd))
HR_LIBS = -no-pie -Wl,--start-group $(patsubst -l%,-l:lib%.a,$(INSIDE_LIBS)) -Wl,--end-group \
	$(filter-out $(INSIDE_LIBS),$(HOST_LIBS))
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE -g $(WORKLOAD_OPT) $(WARN) -I. -fno-omit-frame-pointer -MMD -MP

# Only the public names leave it, and it needs no C library: one archive serves glibc and musl.
LIBHR_CFLAGS := -std=gnu11 -D_GNU_SOURCE -g -O2 $(WARN) -I. -MMD -MP -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -ffreestanding -fno-stack-protector -fcf-protection=none

PLUGIN_CFLAGS := $(COMMON) $(DIALECT) -D_GNU_SOURCE -fPIC

LIB_SRC := $(wildcard lib/*.c lib/*/*.c)
GUEST_SRC := $(filter-out guest/net/% guest/vdso/% guest/variants/%,$(wildcard guest/*.c guest/*/*.c guest/*/*/*.c guest/*/*.S)) \
	$(wildcard boot/*.S boot/*.c drivers/*.c drivers/*/*.c) $(LIB_SRC)
HOST_SRC := $(wildcard host/*.c host/*/*.c host/*/*/*.c) $(LIB_SRC)
LIBHR_SRC := workloads/libhr.c workloads/libhr_counters.S
LIBHR_HOOKS_SRC := workloads/libhr_shadow.c workloads/libhr_hooks.S# of libhr.a alone
WORKLOADS := $(patsubst workloads/%.c,%,$(filter-out $(LIBHR_SRC) $(LIBHR_HOOKS_SRC),$(wildcard workloads/*.c)))

GUEST_OBJ := $(addprefix $(BUILD)/guest/,$(addsuffix .o,$(basename $(GUEST_SRC))))
CONTEXT_OBJ := $(patsubst %.c,$(BUILD)/guest/%.o,$(shell grep -l '^.include "guest/base/context.h"' $(filter %.c,$(GUEST_SRC)) guest/variants/*.c))
HOST_OBJ := $(addprefix $(BUILD)/host/,$(addsuffix .o,$(basename $(HOST_SRC))))
# A plain name is the glibc build; the musl builds appear where musl-tools is installed, which has no headers of Linux.
MUSL_GCC := $(shell command -v musl-gcc)
WORKLOAD_BIN := $(addprefix $(BUILD)/workloads/,$(WORKLOADS) $(WORKLOADS:=-glibc-static) \
	$(if $(MUSL_GCC),$(addsuffix -musl,$(filter-out io_netlink,$(WORKLOADS)))))

.PHONY: all workloads help clean demo check test test-long check-vpmu bench lint check-layers install uninstall FORCE
all: $(BUILD)/hr $(BUILD)/guest.elf $(BUILD)/BOOTX64.EFI $(BUILD)/mbr.bin $(BUILD)/libhr.a $(BUILD)/libhr.so $(BUILD)/exact.so $(BUILD)/membench workloads ## build the hr command, the kernel, the loader for sticks and the workloads

include guest/net/net.mk
GUEST_VARIANTS := $(NET_VARIANT)
$(BUILD)/guest.elf: $(GUEST_OBJ) $(GUEST_VARIANTS) $(BUILD)/guest/guest/variants/test_hook_off.o linker.ld \
		$(BUILD)/flags $(BUILD)/sources
	$(CC) $(GUEST_LDFLAGS) -o $@ $(filter %.o,$^)

# The kernel of the tests: it checks in which context functions are called (guest/base/context.h), and panics or tries
# its network card when the manifest asks for it.  What checks nothing is shared: no other file finds context.h.
CHECKED_OBJ := $(patsubst $(BUILD)/guest/%,$(BUILD)/asserting/%,$(CONTEXT_OBJ))
GUEST_TEST_OBJ := $(filter-out $(CONTEXT_OBJ),$(GUEST_OBJ)) $(CHECKED_OBJ) \
	$(patsubst %,$(BUILD)/asserting/guest/variants/%.o,test_hook_on net_test memory_test context_asserting)
$(BUILD)/guest-test.elf: $(GUEST_TEST_OBJ) $(GUEST_VARIANTS) linker.ld $(BUILD)/flags $(BUILD)/sources
	$(CC) $(GUEST_LDFLAGS) -o $@ $(filter %.o,$^)

# The kernel whose instructions `make bench` counts: it says how many it executed, and checks nothing.
GUEST_BENCH_OBJ := $(GUEST_OBJ) $(patsubst %,$(BUILD)/guest/guest/variants/%.o,test_hook_on net_test memory_test)
$(BUILD)/guest-bench.elf: $(GUEST_BENCH_OBJ) $(GUEST_VARIANTS) linker.ld $(BUILD)/flags $(BUILD)/sources
	$(CC) $(GUEST_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/asserting/%.o: GUEST_CFLAGS += $(CONTEXT:shipped=asserting)
$(BUILD)/asserting/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -c -o $@ $<

$(BUILD)/hr: $(HOST_OBJ) $(BUILD)/flags $(BUILD)/sources Makefile
	$(CC) -o $@ $(HOST_OBJ) $(HR_LIBS)

$(CONTEXT_OBJ): GUEST_CFLAGS += $(CONTEXT)
$(BUILD)/guest/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -c -o $@ $<

$(BUILD)/guest/%.o: %.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -Wa,-I,$(BUILD) -c -o $@ $<

$(BUILD)/host/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -c -o $@ $<

# With its symbols for reports; the kernel holds it without.
$(BUILD)/vdso.so: guest/vdso/vdso.c guest/vdso/vdso.lds $(BUILD)/flags
	$(CC) $(VDSO_CFLAGS) $(VDSO_LDFLAGS) -MF $@.d -MT $@ -o $@ $<

$(BUILD)/vdso.bin: $(BUILD)/vdso.so
	objcopy --strip-all $< $@

$(BUILD)/guest/guest/exec/vdso_image.o: $(BUILD)/vdso.bin

# What a BIOS runs of a stick: 16-bit code, loaded at 7C00H.
$(BUILD)/mbr.bin: boot/bios/mbr.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -m32 -fno-pic -nostdlib -static -Wl,-Ttext,0x7c00,--oformat,binary,--build-id=none,-e,start -o $@ $<

LIBHR_OBJ := $(addprefix $(BUILD)/libhr/,$(addsuffix .o,$(basename $(LIBHR_SRC))))
LIBHR_HOOKS_OBJ := $(addprefix $(BUILD)/libhr/,$(addsuffix .o,$(basename $(LIBHR_HOOKS_SRC))))
$(BUILD)/libhr/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(LIBHR_CFLAGS) -c -o $@ $<

$(BUILD)/libhr/%.o: %.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(LIBHR_CFLAGS) -c -o $@ $<

$(BUILD)/libhr/libhr.o: $(LIBHR_OBJ)
$(BUILD)/libhr/libhr_instrumented.o: $(LIBHR_HOOKS_OBJ)
$(BUILD)/libhr/libhr.o $(BUILD)/libhr/libhr_instrumented.o:
	$(CC) -nostdlib -r -o $@.tmp $^
	objcopy --localize-hidden $@.tmp $@

$(BUILD)/libhr.a: $(BUILD)/libhr/libhr.o $(BUILD)/libhr/libhr_instrumented.o
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libhr.so: $(BUILD)/libhr/libhr.o
	$(CC) -nostdlib -shared -Wl,-soname,libhr.so -Wl,-z,noexecstack -o $@ $<

# A plugin of the emulator: counts every instruction for --mode exact.
$(BUILD)/exact.so: plugin/exact.c plugin/instruction.c $(BUILD)/flags
	$(CC) $(PLUGIN_CFLAGS) -shared -MF $@.d -MT $@ -o $@ $(filter %.c,$^)

# What hr bench runs.
$(BUILD)/membench: $(BUILD)/workloads/membench-glibc-static
	ln -f $< $@

workloads: $(WORKLOAD_BIN) ## build the sample programs

$(BUILD)/workloads/%-glibc-static: workloads/%.c $(BUILD)/libhr.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(WORKLOAD_CFLAGS) -MF $@.d -MT $@ -static -o $@ $< $(BUILD)/libhr.a

$(BUILD)/workloads/%-musl: workloads/%.c $(BUILD)/libhr.a $(BUILD)/flags
	@mkdir -p $(@D)
	musl-gcc $(WORKLOAD_CFLAGS) -MF $@.d -MT $@ -static -o $@ $< $(BUILD)/libhr.a

$(BUILD)/workloads/%: $(BUILD)/workloads/%-glibc-static
	ln -f $< $@

# The program whose functions have hooks.
$(BUILD)/workloads/instrumented-glibc-static $(BUILD)/workloads/instrumented-musl: WORKLOAD_CFLAGS += -finstrument-functions

include boot/uefi/uefi.mk

# Rewritten when the compiler or a flag changes, or the list of sources: what depends on it is rebuilt.
FLAGS_NOW := $(CC) $(GUEST_CFLAGS) $(CONTEXT) $(GUEST_LDFLAGS) $(VDSO_CFLAGS) $(VDSO_LDFLAGS) $(HOST_CFLAGS) $(HOST_LIBS) $(WORKLOAD_CFLAGS) \
	$(LIBHR_CFLAGS) $(UEFI_CFLAGS) $(PLUGIN_CFLAGS)
SOURCES_NOW := $(sort $(GUEST_SRC) $(HOST_SRC) $(patsubst $(BUILD)/%,%,$(NET_VARIANT)) $(UEFI_SRC))
$(BUILD)/flags: NOW = $(FLAGS_NOW)
$(BUILD)/sources: NOW = $(SOURCES_NOW)
$(BUILD)/flags $(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(NOW)' | cmp -s - $@ || echo '$(NOW)' >$@

include host/view/page.mk
-include tests/unit.mk
include tests/tools.mk
include tests/clang.mk

demo: ## install what is missing, build, run a real job and show its profile (two minutes at most)
	@tools/setup.sh build run demo
	@$(MAKE) --no-print-directory -s -j2 all
	@BUILD=$(BUILD) tools/demo.sh

check: ## for the inner loop: unit tests, lint of what changed, a test of each kind (90 seconds at most)
	@BUILD=$(BUILD) MAKE='$(MAKE)' tools/check.sh

test: ## install what is missing, build and run every test
	@tools/setup.sh build run demo page test
	@BUILD=$(BUILD) tools/servers.sh || echo 'tests of servers are skipped'
	@BUILD=$(BUILD) MAKE='$(MAKE)' tools/test.sh

test-long: ## like test, with inputs of up to 100 MB
	@HR_TEST_LONG=1 $(MAKE) --no-print-directory test

# ACCEL is kvm for a real PMU, and then only the file runs whose bounds a processor can keep:
# make check-vpmu QEMU=qemu-system-x86_64 CPU=host
check-vpmu: CHECK_ACCEL = $(or $(ACCEL),$(if $(filter host%,$(CPU)),kvm,tcg))
check-vpmu: all test-tools ## test real counters on the emulator QEMU with the CPU models CPU
	@test -n '$(QEMU)' || { echo "check-vpmu: name an emulator: QEMU=PATH [CPU=MODEL] [ACCEL=kvm]" >&2; exit 2; }
	@BUILD=$(BUILD) QEMU='$(QEMU)' FLAVOURS='$(CPU)' ACCEL='$(CHECK_ACCEL)' \
		prove tests/guest/$(if $(filter kvm,$(CHECK_ACCEL)),10-counters,1[0-4]-*).t

bench: ## measure speed, size and accuracy against their limits
	@tools/setup.sh build run page bench
	@$(MAKE) --no-print-directory -s -j2 all test-tools
	@BUILD=$(BUILD) tests/bench/bench.sh

lint: check-layers ## check layers, shell scripts, format and likely bugs
	@BUILD=$(BUILD) tools/lint.sh

check-layers: $(BUILD)/hr $(BUILD)/guest.elf ## check that rooms use only what is below them (docs/architecture.md)
	@BUILD=$(BUILD) tools/check-layers.sh

COMPLETIONS := bash-completion/completions/hr zsh/site-functions/_hr fish/vendor_completions.d/hr.fish
install: all ## install into PREFIX (default /usr/local)
	install -D -m 755 $(BUILD)/hr $(DESTDIR)$(PREFIX)/bin/hr
	install -D -m 644 $(BUILD)/guest.elf $(DESTDIR)$(PREFIX)/lib/microtome/guest.elf
	install -D -m 644 $(BUILD)/BOOTX64.EFI $(DESTDIR)$(PREFIX)/lib/microtome/BOOTX64.EFI
	install -D -m 644 $(BUILD)/vdso.so $(DESTDIR)$(PREFIX)/lib/microtome/vdso.so
	install -D -m 755 $(BUILD)/exact.so $(DESTDIR)$(PREFIX)/lib/microtome/exact.so
	install -D -m 755 $(BUILD)/membench $(DESTDIR)$(PREFIX)/lib/microtome/membench
	install -D -m 644 $(BUILD)/mbr.bin $(DESTDIR)$(PREFIX)/lib/microtome/mbr.bin
	install -D -m 644 docs/hr.1 $(DESTDIR)$(PREFIX)/share/man/man1/hr.1
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,$(dir $(COMPLETIONS)))
	$(foreach f,$(COMPLETIONS),$(BUILD)/hr completion $(firstword $(subst -, ,$(firstword $(subst /, ,$(f))))) >$(DESTDIR)$(PREFIX)/share/$(f) &&) true
	install -D -m 644 include/hr.h $(DESTDIR)$(PREFIX)/include/hr.h
	install -D -m 644 $(BUILD)/libhr.a $(DESTDIR)$(PREFIX)/lib/libhr.a
	install -D -m 755 $(BUILD)/libhr.so $(DESTDIR)$(PREFIX)/lib/libhr.so
	install -D -m 644 workloads/python/microtome.py $(DESTDIR)$(PREFIX)/lib/microtome/microtome.py

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/hr $(DESTDIR)$(PREFIX)/share/man/man1/hr.1
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,include/hr.h lib/libhr.a lib/libhr.so $(addprefix share/,$(COMPLETIONS)))
	rm -rf $(DESTDIR)$(PREFIX)/lib/microtome

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

-include $(GUEST_OBJ:.o=.d) $(GUEST_TEST_OBJ:.o=.d) $(HOST_OBJ:.o=.d) $(LIBHR_OBJ:.o=.d) $(LIBHR_HOOKS_OBJ:.o=.d) $(WORKLOAD_BIN:=.d) $(BUILD)/vdso.so.d $(BUILD)/exact.so.d
