#!/bin/bash
# Short of memory, file descriptors, processes, disk, folders, streams: tests/short.py.
exec python3 tests/short.py "${BUILD:-build}"
