#!/bin/bash
# No dead code: every member of a struct is read or written somewhere, every function of a header is called somewhere.
# (What one file keeps to itself, the compiler sees: -Wall -Werror.)
. tests/tap.sh

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.py')
dead() { python3 tests/house/dead_code.py "$@"; }
check "no member of a struct is dead" dead fields "${sources[@]}"
check "no function of a header is dead" dead functions "${sources[@]}"

# Each of these must be able to fail.
printf 'struct cell {\n    int used; /* dead */\n    int dead, *also_dead[4];\n};\nint cell_value(const struct cell *c);\nint cell_dead(int x);\n' > "$tap_dir/cell.h"
printf '#include "cell.h"\nint cell_value(const struct cell *c) { return c->used; }\nint cell_dead(int x) { return x; }\nint main(void) { return cell_value(0); }\n' > "$tap_dir/cell.c"
found() { dead "$1" "$tap_dir/cell.h" "$tap_dir/cell.c" > "$tap_dir/said"; [ "$(sed 's/.*: //' "$tap_dir/said" | paste -sd,)" = "$2" ]; }
check "dead members are found" found fields also_dead,dead
check "a dead function is found" found functions cell_dead
tap_done
