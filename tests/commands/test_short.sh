#!/bin/bash
# Short of memory, file descriptors, processes, disk, folders, streams: tests/commands/short.py.
# Thorough: it takes minutes, and make test leaves it out.
exec python3 tests/commands/short.py "${BUILD:-build}"
