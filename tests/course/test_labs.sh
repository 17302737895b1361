# The labs: holes, skeletons, solutions, mistakes and their hints (tests/course/labs.py), a student's folder.
# Two mistakes a lab; all of them, minutes, and a table where it is named: make test TESTS=labs [LAB=2].
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
unset MAKEFLAGS MFLAGS # of the make that runs this

if [ ! -x .venv/bin/jupytext ]; then
    skip labs "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi

bare() { # no mark of a solution is left, and what a solution says is gone
    local file
    for file in $(git grep -l 'BEGIN SOLUTION lab-' stages); do
        notebooks/course/strip.py "$file" > "$tap_dir/bare" && ! grep -n SOLUTION "$tap_dir/bare" && ! cmp -s "$file" "$tap_dir/bare" || return 1
    done
}
check "stripped kernels have no solutions" bare
printf '// BEGIN SOLUTION lab-1: x\n' > "$tap_dir/open.cu"
status "a solution without an end is said" 1 notebooks/course/strip.py "$tap_dir/open.cu"
status "no such file" 1 notebooks/course/strip.py "$tap_dir/nosuch.cu"
status "make: no such lab" 2 make -n lab-9
status "see: no such lab" 2 .venv/bin/python notebooks/course/see.py 9
status "see: no such folder" 2 .venv/bin/python notebooks/course/see.py 1 --source "$tap_dir/nosuch"
other_lab() { [ "$(notebooks/course/strip.py --lab 2 stages/1-scalar/kernel.cu | grep -c 'BEGIN SOLUTION lab-1')" -eq 3 ]; }
check "--lab leaves the others' alone" other_lab

hints() { # three for every part of every lab
    local n
    for n in 1 2 3 4 5 6; do
        [ "$(grep -c '^    - ' notebooks/course/$n/hints)" -eq $((3 * $(grep -rhE "(//|[*]) BEGIN SOLUTION lab-$n: " stages | wc -l))) ] || { echo "lab $n"; return 1; }
    done
}
check "three hints for every part" hints

# On a GPU, which tests/fake/cuda.c pretends: what is right on the emulator runs there, what is not does not.
whole=$tap_dir/whole
mkdir "$whole" && sed 's/END SOLUTION/END/' stages/1-scalar/kernel.cu > "$whole/kernel.cu"
on_gpu() { # BUG STATUS TEXT
    LD_LIBRARY_PATH=$build/tests/fake FAKE_CUDA_BUG=$1 .venv/bin/python notebooks/course/check.py 1 --source "$whole" --device cuda > "$tap_dir/checked"
    [ $? -eq "$2" ] && grep -q "$3" "$tap_dir/checked" || { cat "$tap_dir/checked"; false; }
}
check "right, on a GPU too" on_gpu "" 0 "answers, on this GPU too"
check "right on the emulator, wrong on a GPU" on_gpu last 1 "one-tile.*, cuda: "
check "its hint" grep -q "hint: Right on the emulator, not on this GPU" "$tap_dir/checked"
# A driver that knows of no GPU, or of one too old: DEVICE=auto goes on without it, cuda does not.
mkdir "$tap_dir/bin" && ln -s /bin/true "$tap_dir/bin/nvidia-smi"
no_gpu() { # PROGRAM DEVICE STATUS TEXT
    PATH=$tap_dir/bin:$PATH LD_LIBRARY_PATH=$build/tests/fake FAKE_CUDA_DEVICES=0 .venv/bin/python "notebooks/course/$1.py" 1 --source "$whole" --device "$2" > "$tap_dir/checked" 2>&1
    [ $? -eq "$3" ] && grep -q "$4" "$tap_dir/checked" || { cat "$tap_dir/checked"; false; }
}
check "check: auto, and the driver knows of no GPU" no_gpu check auto 0 "^note .*tried on the emulator only"
check "check: a GPU is asked for, and there is none" no_gpu check cuda 4 "^check: .*GPU"
check "see: auto, and the driver knows of no GPU" no_gpu see auto 0 "^not measured: .*GPU"
sed -i "s/args.scale_log2/0.5f * args.scale_log2/" "$whole/kernel.cu"
check "wrong on the emulator" on_gpu "" 1 "short.*, round-robin: "
unasked() { FAKE_CUDA_DEVICES=0 on_gpu "" 1 "short.*, round-robin: "; } # asked, it would end with 4
check "no GPU is asked then" unasked

. tests/course/labs.sh
labs_tried $THOROUGH $LAB
check "mistakes were tried" test $tap_n -gt $([ -n "${LAB:-}" ] && echo 12 || echo 40)
tap_done
