# Builds the programs that the guest and command-line tests and the benches use.
TEST_TOOL_SRC := $(wildcard tests/tools/*.c)
TEST_TOOL_BIN := $(patsubst tests/tools/%.c,$(BUILD)/tests/%,$(TEST_TOOL_SRC))
PIE_PROGRAMS := $(addprefix $(BUILD)/tests/,hello-static-pie phases-static-pie)
TEST_CFLAGS := $(COMMON) -D_GNU_SOURCE

.PHONY: test-tools
test-tools: $(TEST_TOOL_BIN) $(PIE_PROGRAMS) $(BUILD)/guest-panic.elf ## build the programs that the tests use

# lib/ is linked in from the host's objects: a tool may use any of it.
$(BUILD)/tests/%: tests/tools/%.c $(patsubst %.c,$(BUILD)/host/%.o,$(LIB_SRC)) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^) -lelf -ljansson

$(BUILD)/tests/%-static-pie: workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(WORKLOAD_CFLAGS) -MF $@.d -MT $@ -fPIE -static-pie -o $@ $<

-include $(TEST_TOOL_BIN:=.d) $(PIE_PROGRAMS:=.d)
