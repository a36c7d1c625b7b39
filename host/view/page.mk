# The page of `hr view`: its own sources and two libraries, in one file that hr holds.  Included by the Makefile.
PAGE_SRC := $(sort $(wildcard host/view/page/*))
HOST_LIBS += -ldeflate -lm
PAGE_LIBRARIES := $(BUILD)/page/libraries

.PHONY: page
page: ## get the libraries of hr view's page again, after the build could not
	@rm -f $(PAGE_LIBRARIES)
	@$(MAKE) --no-print-directory -s $(PAGE_LIBRARIES)

# Says so, once, where they cannot be had: hr is built all the same.
$(PAGE_LIBRARIES): tools/page-libraries.sh $(if $(wildcard $(BUILD)/page/no-npm),$(if $(shell command -v npm),FORCE))
	@mkdir -p $(@D)
	@tools/page-libraries.sh $(@D)
	@touch $@

$(BUILD)/page/page.html: tools/page.sh $(PAGE_SRC) $(PAGE_LIBRARIES)
	@tools/page.sh $(@D) >$@.tmp && mv $@.tmp $@

$(addsuffix /sweep/show/sweep_asset.o,$(addprefix $(BUILD)/,host/host unit/obj/host fuzz/obj/host)): host/sweep/show/page/sweep.html

$(BUILD)/host/host/view/html/view_asset.o: HOST_CFLAGS += -Wa,-I,$(BUILD)/page
$(addsuffix /view/html/view_asset.o,$(addprefix $(BUILD)/,host/host unit/obj/host fuzz/obj/host)): $(BUILD)/page/page.html
$(BUILD)/unit/obj/host/view/html/view_asset.o: UNIT_CFLAGS += -Wa,-I,$(BUILD)/page
$(BUILD)/fuzz/obj/host/view/html/view_asset.o: FUZZ_CFLAGS += -Wa,-I,$(BUILD)/page
