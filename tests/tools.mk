# Builds the programs that the guest and command-line tests and the benches use.
TEST_TOOL_SRC := $(wildcard tests/tools/*.c tests/bench/*.c)
TEST_TOOL_BIN := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(TEST_TOOL_SRC))))
PIE_PROGRAMS := $(addprefix $(BUILD)/tests/,hello-static-pie phases-static-pie)
FRAMELESS_PROGRAMS := $(BUILD)/tests/calls-frameless
PLUGINS := $(addprefix $(BUILD)/tests/,count.so many.so)
TEST_CFLAGS := $(COMMON) -D_GNU_SOURCE

include tests/firmware/efi.mk
.PHONY: test-tools
test-tools: $(TEST_TOOL_BIN) $(PIE_PROGRAMS) $(FRAMELESS_PROGRAMS) $(PLUGINS) $(BUILD)/asserting/hr $(BUILD)/guest-bench.elf \
	$(BUILD)/tests/fake-kernel.elf $(BUILD)/tests/return_app.efi $(FIRMWARE) ## build what the tests use

# hr with the kernel of the tests beside it, which it finds without being asked.
$(BUILD)/asserting/hr: $(BUILD)/hr $(BUILD)/guest-test.elf $(BUILD)/vdso.so $(BUILD)/exact.so $(BUILD)/BOOTX64.EFI
	@mkdir -p $(@D)
	ln -f $(BUILD)/vdso.so $(BUILD)/exact.so $(BUILD)/BOOTX64.EFI $(@D)
	ln -f $(BUILD)/guest-test.elf $(@D)/guest.elf
	ln -f $(BUILD)/hr $@

# lib/ is linked in from the host's objects: a tool may use any of it.
TOOL_LIB := $(patsubst %.c,$(BUILD)/host/%.o,$(LIB_SRC))
$(BUILD)/tests/%: tests/tools/%.c $(TOOL_LIB) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^) -Wl,--as-needed $(HOST_LIBS)

$(BUILD)/tests/gentrace $(BUILD)/tests/genviews $(BUILD)/tests/genmany $(BUILD)/tests/genhostile \
		$(BUILD)/tests/genprobes $(BUILD)/tests/genaccesses $(BUILD)/tests/genallocs $(BUILD)/tests/gentopdown: \
		$(BUILD)/host/host/trace/trace_index.o $(BUILD)/host/host/base/transfer.o
$(BUILD)/tests/genviews: $(BUILD)/host/host/trace/trace_regions.o $(BUILD)/host/host/base/array.o
$(BUILD)/tests/restack $(BUILD)/tests/waitnames: $(filter-out %/host/main.o,$(HOST_OBJ))

# What docs/abi.md is generated with, and the page: its table is the kernel's own.
$(BUILD)/tests/abi: lib/program/syscall_table.h lib/program/syscall_names.h
docs/abi.md: docs/abi.md.in lib/program/syscall_table.h lib/program/syscall_names.c tests/tools/abi.c
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/abi
	$(BUILD)/tests/abi $< >$@.tmp && mv $@.tmp $@

$(BUILD)/tests/%: tests/bench/%.c $(TOOL_LIB) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^) $(LDLIBS)

$(BUILD)/tests/scaling: $(addprefix $(BUILD)/host/host/,draw/svg.o base/xml.o base/text.o)
$(BUILD)/tests/scaling: LDLIBS := -lm

# The unwinder with all that it needs of the host.
$(BUILD)/tests/unwind: tests/bench/unwind.c $(filter-out $(BUILD)/host/host/main.o,$(HOST_OBJ)) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^) -Wl,--as-needed $(HOST_LIBS)

$(BUILD)/tests/%-static-pie: workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(WORKLOAD_CFLAGS) -MF $@.d -MT $@ -fPIE -static-pie -o $@ $<

# Without frame pointers, as distributions build, and with shared libraries.
$(BUILD)/tests/%-frameless: workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(filter-out -fno-omit-frame-pointer,$(WORKLOAD_CFLAGS)) -fomit-frame-pointer -MF $@.d -MT $@ -o $@ $< -lpthread

$(PLUGINS): $(BUILD)/tests/%.so: tests/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MF $@.d -MT $@ -fPIC -shared -o $@ $<

# A kernel for tests of the loader, linked as the real one; it runs where it was loaded to.
$(BUILD)/tests/fake-kernel.elf: tests/firmware/fake_kernel.c boot/string.c lib/crc32c.c lib/format.c lib/boot/run_stream.c \
		linker.ld $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(COMMON) -ffreestanding -fpie -fvisibility=hidden -mno-red-zone -mgeneral-regs-only -fno-builtin \
		-fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -MF $@.d -MT $@ \
		$(GUEST_LDFLAGS) -Wl,-e,uefi_entry -o $@ $(filter %.c,$^)

-include $(addsuffix .d,$(filter-out %/abi,$(TEST_TOOL_BIN)) $(PIE_PROGRAMS) $(FRAMELESS_PROGRAMS) $(PLUGINS) $(BUILD)/tests/fake-kernel.elf)
