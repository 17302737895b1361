.PHONY: new
new: ## a stage of your own: STAGE=7-mine FROM=3-wmma-pv, then make stage-7 run, make stage-7 diff
	@stages/new.sh "$$STAGE" "$$FROM"
