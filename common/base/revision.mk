# The revision of the source, baked into every program. build/revision changes only when it does.
REVISION := $(or $(shell git describe --always --dirty 2>/dev/null),unknown)
ifneq ($(REVISION),$(shell cat $(BUILD)/revision 2>/dev/null))
$(shell mkdir -p $(BUILD) && test -w $(BUILD) && echo '$(REVISION)' > $(BUILD)/revision)
endif

$(BUILD)/common/base/revision.o: CPPFLAGS += -DREVISION='"$(REVISION)"'
$(BUILD)/common/base/revision.o: $(BUILD)/revision

$(BUILD)/revision: ; @mkdir -p $(@D) && echo '$(REVISION)' > $@
