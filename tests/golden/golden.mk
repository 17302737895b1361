# Golden files of the emulator, tests/golden: what an H200 computes. The forms are shared by the generator,
# which needs a GPU, and by tests/golden/test_emu_golden.c.

GOLDEN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/golden/generate.c tests/golden/test_emu_golden.c,$(wildcard tests/golden/*.c)))

$(BUILD)/tests/test_emu_golden: $(GOLDEN_OBJ)

$(BUILD)/golden: $(BUILD)/tests/golden/generate.o $(GOLDEN_OBJ)
	$(CC) -o $@ $^ $(CUDA)/lib64/libcudart_static.a -ldl -lpthread -lrt -lstdc++

.PHONY: golden
golden: $(BUILD)/golden ### record the emulator's golden files again, on an H200
	@BUILD=$(BUILD) tests/golden/record.sh
