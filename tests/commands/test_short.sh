#!/bin/bash
# Short of memory, file descriptors, processes, disk, folders, streams: tests/commands/short.py.
exec python3 tests/commands/short.py "${BUILD:-build}"
