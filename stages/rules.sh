#!/bin/bash
# rules.sh STAGE_FOLDER: prints the makefile of a stage's kernel images, build/images/stage-N.mk, from
# the stage's file `images`. The file has a line for each image,
#
#     NAME FLAGS...        what kernel.cu is compiled with; FILE.cu among the flags takes its place
#
# and these lines about the stage:
#
#     arch A...            targets of the images below: sm_XX makes NAME.sm_XX.cubin, compute_XX makes
#                          NAME.compute_XX.ptx
#     types T...           fp16, the default, or fp16 bf16: each image below has one more, NAME-bf16, which is
#                          compiled with -DBF16
#     previous FOLDER      the stage before this one, if that is not number - 1; none: there is none
#     problem wgmma        what the stage computes, if that is not attention
#
# What is printed reads like this; $(call compile,FLAGS) stands in the Makefile:
#
#     images-stage-2 := $(BUILD)/images/stage-2/d64.sm_90a.cubin ...
#     bf16-images-stage-2 :=
#     previous-stage-2 := 1-scalar
#     problem-stage-2 := attention
#     $(BUILD)/images/stage-2/d64.sm_90a.cubin: stages/2-wmma-qk/kernel.cu stages/2-wmma-qk/images
#         $(call compile,-cubin -arch=sm_90a -DDIM=64)
#
# A cubin whose PTX is an image too is assembled from that: the source is compiled once.
set -eu
folder=$1 name=${1##*/} number=${1##*/}
number=${number%%-*}

previous=none
for other in stages/$((number - 1))-*; do [ -d "$other" ] && previous=${other##*/}; done

awk -v folder="$folder" -v stage="stage-$number" -v name="$name" -v previous="$previous" '
    /^#/ || !NF      {next}
    $1 == "arch"     {$1 = ""; archs = $0; next}
    $1 == "types"    {bf16 = /bf16/; next}
    $1 == "previous" {previous = $2; next}
    $1 == "problem"  {problem = $2; next}
    {
        add($1, "")
        if (bf16) add($1 "-bf16", " -DBF16")
    }
    function add(name, more,    i) {
        image[++n_images] = name
        targets[name] = archs
        source[name] = folder "/kernel.cu"
        for (i = 2; i <= NF; i++)
            if ($i ~ /\.cu$/) source[name] = folder "/" $i
            else flags[name] = flags[name] " " $i
        flags[name] = flags[name] more
    }
    function list(wanted,    i, n, a, arch) {
        for (i = 1; i <= n_images; i++) {
            if ((image[i] ~ /-bf16$/) != wanted) continue
            n = split(targets[image[i]], arch, " ")
            for (a = 1; a <= n; a++) printf " \\\n    %s", file(image[i], arch[a])
        }
    }
    function file(image, arch) {
        return "$(BUILD)/images/" stage "/" image "." arch (arch ~ /^sm/ ? ".cubin" : ".ptx")
    }
    function rule(image, arch, ptx) {
        printf "%s: %s %s/images\n", file(image, arch), (ptx ? ptx : source[image]), folder
        printf "\t$(call compile,%s -arch=%s%s)\n", (arch ~ /^sm/ ? "-cubin" : "-ptx"), arch,
               (ptx ? "" : flags[image])
    }
    END {
        print "# Written by stages/rules.sh from " folder "/images; edit that."
        printf "images-%s :=", stage
        list(0)
        printf "\nbf16-images-%s :=", stage
        list(1)
        printf "\nprevious-%s := %s\nproblem-%s := %s\n", stage, previous, stage,
               (problem ? problem : "attention")
        for (i = 1; i <= n_images; i++) {
            n = split(targets[image[i]], arch, " ")
            split("", is_arch)
            for (a = 1; a <= n; a++) is_arch[arch[a]] = 1
            for (a = 1; a <= n; a++) {
                same = arch[a]
                sub(/^sm_/, "compute_", same)
                print ""
                rule(image[i], arch[a], arch[a] ~ /^sm/ && same in is_arch ? file(image[i], same) : "")
            }
        }
    }' "$folder/images"
