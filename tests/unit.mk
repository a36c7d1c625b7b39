# Unit tests and fuzz targets: `unit`, `fuzz`, `fuzz-replay`.  Included by the Makefile.
FUZZ_CC ?= clang
UNIT_OUT := $(BUILD)/unit
FUZZ_OUT := $(BUILD)/fuzz
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
UNIT_CFLAGS := -std=gnu11 -g -O1 $(WARN) -I. -MMD -MP -D_GNU_SOURCE $(SANITIZE)
FUZZ_CFLAGS := -std=gnu11 -g -O1 $(WARN) -I. -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined

UNIT_SRC := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
# What needs lwIP is there where lwIP is (guest/net/net.mk).
UNIT_SRC := $(if $(filter yes,$(LWIP)),$(UNIT_SRC),$(filter-out %/test_network.c %/test_net_port.c,$(UNIT_SRC)))
UNIT_BIN := $(patsubst tests/unit/%.c,$(UNIT_OUT)/%,$(UNIT_SRC))
UNIT_LIB := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(sort $(wildcard lib/*.c)))
UNIT_HOST := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(filter-out host/main.c,$(sort $(wildcard host/*.c host/*/*.c))))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SRC := $(if $(filter yes,$(LWIP)),$(FUZZ_SRC),$(filter-out %/fuzz_network.c,$(FUZZ_SRC)))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(FUZZ_OUT)/%,$(FUZZ_SRC))
REPLAY_BIN := $(patsubst tests/fuzz/fuzz_%.c,$(FUZZ_OUT)/replay_%,$(FUZZ_SRC))

.PHONY: unit fuzz fuzz-replay golden
.SECONDARY: $(UNIT_LIB) $(UNIT_HOST)
unit: $(UNIT_BIN) $(UNIT_OUT)/hr ## build and run the unit tests under ASan and UBSan
	@printf '%s\n' $(UNIT_BIN) | xargs -P 2 -n 1 sh -c \
		'"$$0" >"$$0.out" 2>"$$0.log" || { cat "$$0.out" "$$0.log"; echo "failed: $$0" >&2; exit 1; }'

fuzz: $(FUZZ_BIN) ## build the libFuzzer targets (clang)

fuzz-replay: $(REPLAY_BIN) ## run the fuzz targets' corpora under ASan and UBSan
	@for t in $(REPLAY_BIN); do $$t tests/fuzz/corpus/$${t##*/replay_}/* || exit 1; done

golden: $(UNIT_OUT)/make_golden ## write the golden traces anew (a changed byte is a version bump)
	$< tests/golden

$(UNIT_OUT)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -c -o $@ $<

# Of an archive the linker takes only what a test needs: a tenth of the time.
$(UNIT_OUT)/host.a: $(UNIT_HOST)
	@rm -f $@
	@$(AR) rcsT $@ $^

# By name: of two patterns make 4.4 takes the one whose prerequisites are there already, which is the next one.
$(filter $(UNIT_OUT)/host/%,$(UNIT_BIN)): $(UNIT_OUT)/%: tests/unit/%.c $(UNIT_LIB) $(UNIT_OUT)/host.a
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $< $(UNIT_OUT)/host.a $(UNIT_LIB) -lcmocka $(HOST_LIBS)

$(UNIT_OUT)/%: tests/unit/%.c $(UNIT_LIB)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $< $(UNIT_LIB) -lcmocka

UNIT_LWIP := $(patsubst %.c,$(UNIT_OUT)/obj/lwip/%.o,$(LWIP_SRC))
$(UNIT_OUT)/obj/lwip/%.o: $(LWIP_DIR)/%.c guest/net/net.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(filter-out $(WARN),$(UNIT_CFLAGS)) -w -DLWIP_TESTMODE=1 $(LWIP_INCLUDE) -c -o $@ $<

$(UNIT_OUT)/guest/net/test_network: tests/unit/guest/net/test_network.c $(UNIT_LWIP) $(UNIT_LIB)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -DLWIP_TESTMODE=1 $(LWIP_INCLUDE) -o $@ $< $(UNIT_LWIP) $(UNIT_LIB) -lcmocka

$(UNIT_OUT)/guest/net/test_net_port: tests/unit/guest/net/test_net_port.c $(UNIT_LIB)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) $(LWIP_INCLUDE) -o $@ $< $(UNIT_LIB) -lcmocka

GOLDEN_OBJ := $(addprefix $(UNIT_OUT)/obj/tests/golden/,golden.o golden_file.o golden_stacks.o)
$(UNIT_OUT)/lib/test_trace_golden: $(GOLDEN_OBJ)
$(UNIT_OUT)/lib/test_trace_golden: tests/unit/lib/test_trace_golden.c $(UNIT_LIB)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $< $(GOLDEN_OBJ) $(UNIT_LIB) -lcmocka

$(UNIT_OUT)/make_golden: $(UNIT_OUT)/obj/tests/golden/make_golden.o $(GOLDEN_OBJ) $(UNIT_LIB)
	$(CC) $(UNIT_CFLAGS) -o $@ $^

# The command itself under ASan and UBSan, for tests that give it hostile input.
$(UNIT_OUT)/hr: $(UNIT_OUT)/obj/host/main.o $(UNIT_LIB) $(UNIT_HOST)
	$(CC) $(UNIT_CFLAGS) -o $@ $^ $(HOST_LIBS)

# The trace's target also reads what host/ gathers from META and END chunks.
FUZZ_TRACE_HOST := host/trace_info.c host/trace_regions.c
$(FUZZ_OUT)/fuzz_trace: $(FUZZ_TRACE_HOST)
$(FUZZ_OUT)/replay_trace: $(FUZZ_TRACE_HOST:%.c=$(UNIT_OUT)/obj/%.o)

# So do those for what the host alone reads.
define FUZZ_HOST
$(FUZZ_OUT)/fuzz_$(1): $(2)
$(FUZZ_OUT)/replay_$(1): $(2:%.c=$(UNIT_OUT)/obj/%.o)
endef
$(eval $(call FUZZ_HOST,frames,boot/uefi/frames.c))
$(eval $(call FUZZ_HOST,ld_cache,host/pack_ld_cache.c))
$(eval $(call FUZZ_HOST,script,host/pack_script.c))
$(eval $(call FUZZ_HOST,pack_elf,host/pack_elf.c))
$(eval $(call FUZZ_HOST,keep_files,host/keep_files.c host/keep_store.c host/text.c))
$(eval $(call FUZZ_HOST,usb_result,host/usb/usb_result.c))
$(eval $(call FUZZ_HOST,collect_stream,$(addprefix host/stream/,connection.c run.c run_files.c run_place.c run_state.c) \
	$(filter-out host/collect_command.c,$(wildcard host/collect*.c)) host/output_file.c host/output_kind.c host/run_failure.c host/trace_index.c \
	host/keep_files.c host/keep_store.c host/text.c))
# What reads a trace is the whole command; the golden traces are its corpus.
$(eval $(call FUZZ_HOST,commands,$(filter-out host/main.c,$(sort $(wildcard host/*.c host/*/*.c)))))
FUZZ_LIBS_commands = $(HOST_LIBS) -Wa,-I,$(BUILD)/page
$(eval $(call FUZZ_HOST,demangle,host/symbols_demangle.c))
FUZZ_LIBS_demangle := -liberty
$(eval $(call FUZZ_HOST,symbols,$(wildcard host/symbols*.c) host/text.c host/cache.c host/object_cache.c \
	host/unwind_tables.c host/unwind_row.c host/unwind_rule.c host/unwind_epilogue.c host/unwind_expression.c host/elf_place.c))
FUZZ_LIBS_symbols := -lelf -ldw -liberty

$(eval $(call FUZZ_HOST,unwind,host/unwind.c host/unwind_epilogue.c host/unwind_expression.c host/unwind_files.c host/unwind_row.c \
	host/unwind_rule.c host/unwind_tables.c host/elf_place.c host/stacks.c host/symbols_debuginfod.c host/symbols_file.c host/text.c \
	host/trace_info.c host/trace_regions.c host/cache.c host/object_cache.c))
FUZZ_LIBS_unwind := -ldw -lelf

FUZZ_LWIP := $(patsubst %.c,$(FUZZ_OUT)/obj/lwip/%.o,$(LWIP_SRC))
$(FUZZ_OUT)/obj/lwip/%.o: $(LWIP_DIR)/%.c guest/net/net.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out $(WARN),$(FUZZ_CFLAGS)) -w $(LWIP_INCLUDE) -c -o $@ $<

$(FUZZ_OUT)/fuzz_network: $(FUZZ_LWIP)
FUZZ_LIBS_network = $(LWIP_INCLUDE) $(filter $(FUZZ_OUT)/obj/%,$^)
$(FUZZ_OUT)/replay_network: $(UNIT_LWIP)

$(FUZZ_OUT)/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard lib/*.c lib/*.h include/*.h)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -o $@ $< $(filter lib/%.c host/%.c boot/%.c,$^) $(FUZZ_LIBS_$*)

$(FUZZ_OUT)/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay_main.c $(UNIT_LIB)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $(filter %.c %.o,$^) $(FUZZ_LIBS_$*)

-include $(shell find $(UNIT_OUT) $(FUZZ_OUT) -name '*.d' 2>/dev/null)
