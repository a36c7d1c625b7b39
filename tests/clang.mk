# The build with clang, for its warnings, by few processes: `make CC=clang clang-batch` makes the objects, what `make CC=clang`
# builds afterwards only links them.  Included by the Makefile.
.PHONY: clang-batch clang-workloads
CLANG_WORKLOADS := $(filter-out instrumented,$(WORKLOADS))
# by_clang FOLDER FLAGS SOURCES: all have the folder of context.h; that only those which name it find it, gcc checks.
by_clang = @printf '%s\n' $(filter-out %_asset.c,$(filter %.c,$3)) | tools/batch.py $(BUILD)/$1 $(CC) $2
clang-batch: $(BUILD)/flags
	$(call by_clang,guest,$(GUEST_CFLAGS) $(CONTEXT),$(GUEST_SRC))
	$(call by_clang,uefi,$(UEFI_CFLAGS),$(UEFI_SRC))
	$(call by_clang,linked,$(WORKLOAD_CFLAGS),$(CLANG_WORKLOADS:%=workloads/%.c))
ifeq ($(LWIP),yes)
	$(call by_clang,guest,$(GUEST_CFLAGS) $(LWIP_INCLUDE) $(CONTEXT),$(NET_SRC))
endif

# The workloads are linked by gcc, since clang takes 0.1 s to start; the one with flags of its own is built as ever.
clang-workloads: $(CLANG_WORKLOADS:%=$(BUILD)/linked/workloads/%) $(BUILD)/workloads/instrumented
$(BUILD)/linked/workloads/%: $(BUILD)/linked/workloads/%.o $(BUILD)/libhr.a
	gcc -static $(GOLD) -o $@ $^

$(BUILD)/linked/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(WORKLOAD_CFLAGS) -c -o $@ $<

-include $(CLANG_WORKLOADS:%=$(BUILD)/linked/workloads/%.d)
