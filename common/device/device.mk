# What runs a command while no other uses the same GPU.
$(BUILD)/alone: $(BUILD)/common/device/alone.o $(LIB)
	$(LINK)
$(if $(RECORDED),,$(STAGES)) calibrate ceilings: | $(BUILD)/alone
