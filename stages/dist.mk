##tables-7 dist: Pack kernel images for machines without nvcc.
##  make dist
##
##  Writes build/dist/attnlab-images-REVISION.tar.gz: PTX and cubins, their checksums and the hash of their sources.
##  make stage-3 dist packs one stage.
.PHONY: dist
dist: $(foreach s,$(CHOSEN),$(images-$s) $(bf16-images-$s))
	@stages/dist.sh write $(BUILD) $(CHOSEN)

##own-5 images: Take kernel images from a tarball; compile none.
##  make images FROM=images.tar.gz
##
##  For machines without nvcc: stages then run on the emulator as they are. make setup images FROM=... installs CUDA's
##  headers alone. A tarball that is damaged, or whose sources are not the ones here, is refused.
.PHONY: images
images:
	@stages/dist.sh read $(BUILD) "$$FROM" $(CHOSEN)
