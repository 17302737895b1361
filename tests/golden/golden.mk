# Golden files of the emulator, tests/golden: what an H200 computes. The forms are shared by the generator,
# which needs a GPU, and by tests/golden/test_emu_golden.c.

GOLDEN_OWN := tests/golden/generate.c tests/golden/test_emu_golden.c
GOLDEN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(GOLDEN_OWN),$(wildcard tests/golden/*.c)))

$(BUILD)/tests/test_emu_golden: $(GOLDEN_OBJ)

$(BUILD)/golden: $(BUILD)/tests/golden/generate.o $(GOLDEN_OBJ)
	$(CC) -o $@ $^ $(CUDA)/lib64/libcudart_static.a -ldl -lpthread -lrt -lstdc++

##tests-7 golden: Record the emulator's golden files again.
##  make golden
##
##  What an H200 computes, and the emulator must compute, too: tests/golden. Needs an H200.
.PHONY: golden
golden: $(BUILD)/golden
	@BUILD=$(BUILD) tests/golden/record.sh
