#!/bin/bash
# rules.sh ARCH...: prints the makefile of stage 4's sweep: for each line of tiles.txt a program and its
# images in $(BUILD)/sweep/TILE/. A line is DIM and the tile's numbers, which ../tile.h takes as SWEEP_BQ
# ... SWEEP_CTAS; tiles with several groups are for small problems, and their image is dDIM-small.
set -eu
here=stages/4-tuned
sources=$(echo $here/*.cu $here/*.cuh $here/*.[ch] common/cuda/*)
grep -E '^[0-9]' $here/sweep/tiles.txt | while read -r dim bq bkv warps groups stages q ctas; do
    small=$((groups > 1))
    place="\$(BUILD)/sweep/d$dim-${bq}x$bkv-w${warps}x$groups-s$stages-q$q-c$ctas"
    [[ ${place##*/} == "${SWEEP_TILES:-}"* ]] || continue
    image=d$dim
    size=LARGE
    [ $small = 0 ] || { image=d$dim-small size=SMALL; }
    flags="-DDIM=$dim -DSIZE=$size -DSWEEP_BQ=$bq -DSWEEP_BKV=$bkv -DSWEEP_WARPS=$warps -DSWEEP_GROUPS=$groups"
    flags+=" -DSWEEP_STAGES=$stages -DSWEEP_Q=$q -DSWEEP_CTAS=$ctas"
    echo "sweep-tiles: $place/stage-4"
    echo "$place/stage.o: $sources | sweep-device $place/.dir"
    echo "	@\$(CC) \$(CPPFLAGS) \$(call stage-flags,4-tuned) \$(CFLAGS) $flags -c -o \$@ $here/stage.c"
    echo "$place/stage-4: $place/stage.o \$(filter-out %/stage.o,\$(patsubst %.c,\$(BUILD)/%.o,\$(wildcard $here/*.c))) \$(LIB)"
    echo "	@\$(LINK)"
    for arch; do
        extension=cubin
        [[ $arch == sm* ]] || extension=ptx
        echo "sweep-tiles: $place/images/stage-4/$image.$arch.$extension"
        echo "$place/images/stage-4/$image.$arch.$extension: $here/kernel.cu $sources | sweep-device"
        echo "	\$(call compile,-$extension -arch=$arch $flags)"
    done
done
