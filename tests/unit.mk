# Unit tests and fuzz targets: `unit`, `fuzz`, `fuzz-replay`.  Included by the Makefile.
FUZZ_CC ?= clang
# By clang where it is, whose build of lib/ and host/ this is, too: `make CC=gcc UNIT_CC=gcc BUILD=build/other unit` takes the other.
UNIT_CC ?= $(if $(shell command -v $(FUZZ_CC)),$(FUZZ_CC),$(CC))
UNIT_OUT := $(BUILD)/unit
FUZZ_OUT := $(BUILD)/fuzz
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# A check of UBSan that fails is an instruction that ends the program, and ASan says where (tests/sanitizers.c): 11 MB less of
# descriptions in hr, which the leak check reads at each exit.  `make unit UBSAN_TRAP= BUILD=build/ubsan` has UBSan's words.
UBSAN_TRAP ?= -fsanitize-undefined-trap-on-error
SANITIZE += $(UBSAN_TRAP) -fno-pie
# Compiled in half the time without optimization, and as fast under the sanitizers.
UNIT_CFLAGS := -std=gnu11 -g1 -O0 $(WARN) -I. $(CONTEXT) -MMD -MP -D_GNU_SOURCE $(SANITIZE)
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)# half the time of the other linkers
UNIT_LD := -no-pie -Wl,--build-id=sha1,--as-needed $(GOLD)
UNIT_LINK := $(UNIT_CC) $(SANITIZE) $(UNIT_LD)
ifeq ($(notdir $(UNIT_CC)),clang)
# Its sanitizer as a library, as gcc has it: the linker need not copy it into each program.  gcc calls the linker, since
# clang takes 0.1 s to start.
ASAN_LIB := $(shell $(UNIT_CC) -print-file-name=libclang_rt.asan-x86_64.so)
ASAN_START := $(wildcard $(addprefix $(dir $(ASAN_LIB))libclang_rt.,asan-preinit-x86_64.a asan_static-x86_64.a))
UNIT_LINK := gcc -Wl,--no-as-needed $(ASAN_LIB) $(UNIT_LD) -Wl,-rpath,$(dir $(ASAN_LIB)),--whole-archive $(ASAN_START) -Wl,--no-whole-archive
# Headers of the system that most files of the host include, compiled once: gcc, in `make all`, says which file lacks one.
UNIT_SYSTEM := $(UNIT_OUT)/system.pch
$(UNIT_SYSTEM): tests/unit/system.h $(BUILD)/flags tests/unit.mk
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS:-MMD=-MD) -x c-header -MF $@.d -MT $@ -o $@ $<
# Their assembly code is for the other assembler: clang's lacks a directive, and makes every jump long.
UNIT_OTHER_AS := $(patsubst %,$(UNIT_OUT)/obj/tests/unit/host/%.o,annotate/test_annotate_code unwind/test_unwind_rules)
$(UNIT_OTHER_AS): UNIT_CFLAGS += -fno-integrated-as
endif
FUZZ_CFLAGS := -std=gnu11 -g -O1 $(WARN) -I. $(CONTEXT) -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined

UNIT_SRC := $(sort $(wildcard $(addsuffix /test_*.c,tests/unit/* tests/unit/*/* tests/unit/*/*/*)))
# What needs lwIP is there where lwIP is (guest/net/net.mk).
UNIT_SRC := $(if $(filter yes,$(LWIP)),$(UNIT_SRC),$(filter-out %/test_network.c %/test_net_port.c,$(UNIT_SRC)))
UNIT_BIN := $(patsubst tests/unit/%.c,$(UNIT_OUT)/%,$(UNIT_SRC))
UNIT_TEST_OBJ := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(UNIT_SRC))
UNIT_LIB_OBJ := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(sort $(wildcard lib/*.c lib/*/*.c)))
UNIT_LIB := $(UNIT_OUT)/lib.a $(UNIT_OUT)/obj/tests/sanitizers.o
HOST_PARTS := $(sort $(wildcard host/*/*.c host/*/*/*.c) host/completion.c)
UNIT_HOST := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(HOST_PARTS))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SRC := $(if $(filter yes,$(LWIP)),$(FUZZ_SRC),$(filter-out %/fuzz_network.c,$(FUZZ_SRC)))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(FUZZ_OUT)/%,$(FUZZ_SRC))
REPLAY_BIN := $(patsubst tests/fuzz/fuzz_%.c,$(FUZZ_OUT)/replay_%,$(FUZZ_SRC))
REPLAY_OBJ := $(patsubst %.c,$(UNIT_OUT)/obj/%.o,$(FUZZ_SRC) tests/fuzz/replay_main.c)

$(UNIT_HOST): private UNIT_CFLAGS += $(addprefix -include-pch ,$(UNIT_SYSTEM))
$(UNIT_HOST): $(UNIT_SYSTEM)

.PHONY: unit unit-batch fuzz fuzz-replay golden
.SECONDARY: $(UNIT_LIB_OBJ) $(UNIT_HOST) $(UNIT_TEST_OBJ) $(REPLAY_OBJ)
unit: $(UNIT_BIN) $(UNIT_OUT)/hr ## build and run the unit tests under ASan and UBSan
	@printf '%s\n' $(UNIT_BIN) | xargs -P 2 -n 1 sh -c \
		'"$$0" >"$$0.out" 2>"$$0.log" || { cat "$$0.out" "$$0.log"; echo "failed: $$0" >&2; exit 1; }'

fuzz: $(FUZZ_BIN) ## build the libFuzzer targets (clang)

fuzz-replay: $(REPLAY_BIN) ## run the fuzz targets' corpora under ASan and UBSan
	@for t in $(REPLAY_BIN); do $$t tests/fuzz/corpus/$${t##*/replay_}/* || exit 1; done

golden: $(UNIT_OUT)/make_golden ## write the golden traces anew (a changed byte is a version bump)
	$< tests/golden

$(UNIT_OUT)/obj/%.o: UNIT_CFLAGS += $(DIALECT)
$(UNIT_OUT)/obj/%.o: %.c $(BUILD)/flags tests/unit.mk
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c -o $@ $<

$(UNIT_OUT)/obj/%.o: %.S $(BUILD)/flags tests/unit.mk
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c -o $@ $<

# What `make` would compile one by one: clang starts for longer than it compiles.  The others have flags of their own.
UNIT_FASTER := $(patsubst %,$(UNIT_OUT)/obj/tests/unit/%.o,drivers/test_clock guest/net/test_network guest/sample/test_python_walk \
	guest/sample/test_stack_walk host/draw/test_latency_values)
UNIT_ALONE := $(UNIT_FASTER) $(UNIT_OTHER_AS) $(patsubst %,$(UNIT_OUT)/obj/tests/unit/%.o,guest/net/test_net_port guest/sample/test_ring \
	host/unwind/test_unwind) $(UNIT_OUT)/obj/tests/fuzz/fuzz_network.o %_asset.o
by_batch = @printf '%s\n' $(patsubst $(UNIT_OUT)/obj/%.o,%.c,$(filter-out $(UNIT_ALONE),$1)) | tools/batch.py $(UNIT_OUT)/obj $(UNIT_CC) $(UNIT_CFLAGS)
unit-batch: $(UNIT_SYSTEM) $(BUILD)/flags
ifeq ($(notdir $(UNIT_CC)),clang)
	$(call by_batch,$(UNIT_HOST)) $(DIALECT) $(addprefix -include-pch ,$(UNIT_SYSTEM))
	$(call by_batch,$(UNIT_LIB_OBJ)) $(DIALECT)
	$(call by_batch,$(UNIT_TEST_OBJ) $(REPLAY_OBJ))
endif

$(UNIT_OUT)/obj/tests/unit/%.o $(UNIT_OUT)/obj/tests/fuzz/%.o: UNIT_CFLAGS += -Wno-declaration-after-statement
# ASan calls it before it has started.
$(UNIT_OUT)/obj/tests/sanitizers.o: UNIT_CFLAGS := $(filter-out $(SANITIZE),$(UNIT_CFLAGS))
# It is stepped by instruction, once for every pair of them: a third of the instructions is a twenty-fifth of the time.
$(UNIT_OUT)/obj/tests/unit/guest/sample/test_ring.o: UNIT_CFLAGS += -O2
# These compute for longer than an optimization takes.
$(UNIT_FASTER): UNIT_CFLAGS += -O1
$(patsubst %,$(UNIT_OUT)/obj/tests/unit/guest/sample/%.o,test_python_walk test_stack_walk): UNIT_CFLAGS += -Wno-gnu-variable-sized-type-not-at-end
# It unwinds its own functions, and stubs of the linker: others' say nothing of their frames.
$(UNIT_OUT)/obj/tests/unit/host/unwind/test_unwind.o: UNIT_CFLAGS += -fomit-frame-pointer
$(UNIT_OUT)/host/unwind/test_unwind: private UNIT_LINK := $(filter-out -fuse-ld=%,$(UNIT_LINK))
# What needs lwIP's headers.
$(patsubst %,$(UNIT_OUT)/obj/tests/%.o,unit/guest/net/test_network unit/guest/net/test_net_port fuzz/fuzz_network): UNIT_CFLAGS += $(LWIP_INCLUDE)
$(UNIT_OUT)/obj/tests/unit/guest/net/test_network.o: UNIT_CFLAGS += -DLWIP_TESTMODE=1

# Of an archive the linker takes only what a test needs: a tenth of the time.
$(UNIT_OUT)/host.a: $(UNIT_HOST)
$(UNIT_OUT)/lib.a: $(UNIT_LIB_OBJ)
$(UNIT_OUT)/host.a $(UNIT_OUT)/lib.a:
	@rm -f $@
	@$(AR) rcsT $@ $^

# By name: of two patterns make 4.4 takes the one whose prerequisites are there already, which is the next one.
$(filter $(UNIT_OUT)/host/%,$(UNIT_BIN)): $(UNIT_OUT)/%: $(UNIT_OUT)/obj/tests/unit/%.o $(UNIT_LIB) $(UNIT_OUT)/host.a
	@mkdir -p $(@D)
	$(UNIT_LINK) -o $@ $< $(UNIT_OUT)/host.a $(UNIT_LIB) -lcmocka $(HOST_LIBS)

$(UNIT_OUT)/%: $(UNIT_OUT)/obj/tests/unit/%.o $(UNIT_LIB)
	@mkdir -p $(@D)
	$(UNIT_LINK) -o $@ $(filter-out $(UNIT_LIB),$(filter %.o,$^)) $(UNIT_LIB) -lcmocka

$(UNIT_OUT)/guest/sample/test_stack_walk: $(UNIT_OUT)/obj/guest/sample/stack_frames.o

UNIT_LWIP := $(patsubst %.c,$(UNIT_OUT)/obj/lwip/%.o,$(LWIP_SRC))
$(UNIT_OUT)/obj/lwip/%.o: $(LWIP_DIR)/%.c guest/net/net.mk $(BUILD)/flags tests/unit.mk
	@mkdir -p $(@D)
	$(UNIT_CC) $(filter-out $(WARN),$(UNIT_CFLAGS)) -w -DLWIP_TESTMODE=1 $(LWIP_INCLUDE) -c -o $@ $<

$(UNIT_OUT)/guest/net/test_network: $(UNIT_LWIP)

GOLDEN_OBJ := $(addprefix $(UNIT_OUT)/obj/tests/golden/,golden.o golden_accesses.o golden_file.o golden_probes.o golden_stacks.o)
$(UNIT_OUT)/lib/test_trace_golden: $(GOLDEN_OBJ)

$(UNIT_OUT)/make_golden: $(UNIT_OUT)/obj/tests/golden/make_golden.o $(GOLDEN_OBJ) $(UNIT_LIB)
	$(UNIT_LINK) -o $@ $^

# The command itself under ASan and UBSan, for tests that give it hostile input.
$(UNIT_OUT)/hr: $(UNIT_OUT)/obj/host/main.o $(UNIT_HOST) $(UNIT_LIB)
	$(UNIT_LINK) -o $@ $^ $(HR_LIBS)

FUZZ_LWIP := $(patsubst %.c,$(FUZZ_OUT)/obj/lwip/%.o,$(LWIP_SRC))
$(FUZZ_OUT)/obj/lwip/%.o: $(LWIP_DIR)/%.c guest/net/net.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out $(WARN),$(FUZZ_CFLAGS)) -w $(LWIP_INCLUDE) -c -o $@ $<

$(FUZZ_OUT)/fuzz_network: $(FUZZ_LWIP)
FUZZ_FLAGS_network = $(LWIP_INCLUDE)
$(FUZZ_OUT)/replay_network: $(UNIT_LWIP)

# Targets that read no trace need none of the host, and take none: both are archives.
FUZZ_PARTS := $(patsubst %.c,$(FUZZ_OUT)/obj/%.o,$(HOST_PARTS) $(LIB_SRC) boot/uefi/frames.c)
$(FUZZ_OUT)/parts.a: $(FUZZ_PARTS)
	@rm -f $@
	@$(AR) rcsT $@ $^

$(FUZZ_OUT)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS:-fsanitize=fuzzer%=-fsanitize=fuzzer-no-link%) -MMD -MP -c -o $@ $<

$(FUZZ_OUT)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_OUT)/parts.a
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) $(FUZZ_FLAGS_$*) -o $@ $(filter-out %.mk,$^) $(HOST_LIBS)

$(FUZZ_OUT)/replay_%: $(UNIT_OUT)/obj/tests/fuzz/fuzz_%.o $(UNIT_OUT)/obj/tests/fuzz/replay_main.o $(UNIT_OUT)/obj/boot/uefi/frames.o \
		$(UNIT_OUT)/host.a $(UNIT_LIB)
	@mkdir -p $(@D)
	$(UNIT_LINK) -o $@ $(filter %.o %.a,$^) $(HOST_LIBS)

-include $(shell find $(UNIT_OUT) $(FUZZ_OUT) -name '*.d' 2>/dev/null)
