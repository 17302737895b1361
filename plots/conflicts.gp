# Shared-memory bank conflicts: wavefronts beyond the ideal, as a share of all shared wavefronts.
load 'plots/table.gp'
n_columns = 1
array column_name[1] = ['bank_conflict_pct']
array column_title[1] = ['']
array column_ink[1] = [ink[2]]
array column_once[1] = [0]
title_text = 'Bank conflicts by stage'
sub_text = problem.'. Percent of shared-memory wavefronts beyond the ideal'
not_predicted = 'counted by the emulator'
set ylabel 'percent of wavefronts'
load 'plots/bars.gp'
