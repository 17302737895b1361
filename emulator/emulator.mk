# The emulator's core is loops over 32 lanes: they pay for -O3.
$(BUILD)/emulator/%.o: CFLAGS += -O3
