##change-2 new: Begin a stage of your own as a copy of another.
##  make new STAGE=7-mine FROM=3-wmma-pv
##
##  Then make stage-7 run, make stage-7 diff, and make stage-7 against BASE=stage-3.
.PHONY: new
new:
	@stages/new.sh "$$STAGE" "$$FROM"
