# CUPTI's host header includes <string>; profiler/cxx holds an empty file of that name, for C.
$(BUILD)/profiler/%.o: CPPFLAGS += -isystem profiler/cxx

.PHONY: doctor
doctor: ## what is here, what is not, and the remedy for each
	@command -v $(CC) > /dev/null && test -e $(CUDA)/include/cuda.h || \
	    { echo "missing: a C compiler or CUDA's headers, without which nothing is built; run 'make setup'"; exit 77; }
	@mkdir -p $(BUILD); $(MAKE) --no-print-directory $(BUILD)/doctor > $(BUILD)/doctor.log 2>&1 || \
	    { tail -5 $(BUILD)/doctor.log; echo "missing: something that the build needs; run 'make setup'"; exit 77; }
	@$(BUILD)/doctor $(NVCC) $(PYTHON)

$(BUILD)/doctor: $(BUILD)/profiler/doctor.o $(LIB)
	$(LINK)
