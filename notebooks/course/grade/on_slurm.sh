#!/bin/bash
# on_slurm.sh GRADE_ALL...: the same, each submission a job of Slurm (make grade-all SLURM=1). SLURM and DEVICE come from the
# environment; JOBS is the folder of its jobs. Exit status: grade_all.py's, or that of setup/jobs.py where nothing could be run.
set -u
tasks=$("$@" --tasks) || exit
[ -z "$tasks" ] || python3 setup/jobs.py run "${JOBS:-results/grade-jobs}" --slurm "$SLURM" $([ "${DEVICE-}" != cuda ] || echo --gpu) <<< "$tasks"
status=$?
[ $status -le 1 ] || exit $status
exec "$@" --kept
