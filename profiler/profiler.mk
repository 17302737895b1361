# CUPTI's host header includes <string>; profiler/cxx holds an empty file of that name, for C.
$(BUILD)/profiler/%.o: CPPFLAGS += -isystem profiler/cxx
