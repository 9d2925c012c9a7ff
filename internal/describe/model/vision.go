package model

import "math"

// maxPatch bounds the pixels of a patch side and the patches merged per side.
const maxPatch = 1 << 10

// vision checks the fields of an image tower.
func (r *reader) vision(v *Vision) {
	path := r.path
	r.path = "vision_config."
	r.need("depth", v.Layers, maxLayers)
	r.need("hidden_size", v.Hidden, maxHidden)
	r.need("intermediate_size", v.Intermediate, maxIntermediate)
	r.need("num_heads", v.Heads, maxHeads)
	r.need("patch_size", v.Patch, maxPatch)
	r.need("temporal_patch_size", v.TemporalPatch, maxPatch)
	r.need("spatial_merge_size", v.Merge, maxPatch)
	r.need("out_hidden_size", v.Out, maxHidden)
	r.may("window_size", v.Window, maxPositions)
	r.may("projector", v.MergerHidden, maxIntermediate)
	r.may("num_position_embeddings", v.Positions, maxVocab)
	r.may("tokens per image", v.TokensPerImage, maxVocab)
	r.may("patches per image", v.PatchesPerImage, maxVocab)
	r.path = path
}

// Tokens is the number of tokens an image of height × width pixels becomes. As
// Qwen's preprocessor does, each side is rounded to the nearest multiple of a
// merged patch, and is at least one; the limits a deployment puts on the number
// of pixels are not applied.
func (v *Vision) Tokens(height, width int) int {
	if v == nil || height <= 0 || width <= 0 {
		return 0
	}
	if v.TokensPerImage > 0 {
		return v.TokensPerImage
	}
	return v.side(height) * v.side(width)
}

// Patches is the number of patches the tower works on for such an image, before
// they are merged into tokens.
func (v *Vision) Patches(height, width int) int {
	if v != nil && v.PatchesPerImage > 0 {
		return v.PatchesPerImage
	}
	return v.Tokens(height, width) * v.merged()
}

// Rows is the number of patches along the height of such an image.
func (v *Vision) Rows(height int) int { return v.side(height) * max(v.Merge, 1) }

// side is the number of tokens along a side of so many pixels.
func (v *Vision) side(pixels int) int {
	unit := float64(max(v.Patch, 1) * max(v.Merge, 1))
	n := math.RoundToEven(float64(pixels) / unit)
	return int(min(max(n, 1), 1<<24))
}

// merged is the number of patches in a token.
func (v *Vision) merged() int { return max(v.Merge, 1) * max(v.Merge, 1) }

// Parameters counts the tower's weights with its projectors.
func (v *Vision) Parameters() float64 {
	if v == nil {
		return 0
	}
	h, inner, out := float64(v.Hidden), float64(v.Intermediate), float64(v.Out)
	matrices, biases := 3.0, 2*inner+h
	if v.Ungated {
		matrices, biases = 2, inner+h
	}
	layer := 4*h*h + matrices*h*inner + 4*h
	if v.Bias {
		layer += 4*h + biases
	}
	n := float64(v.Layers)*layer + float64(v.Positions)*h
	n += 3 * float64(v.TemporalPatch*v.Patch*v.Patch) * h
	in := h * float64(v.merged())
	switch {
	case v.Pooled:
		return n + h*out
	case v.Joined:
		return n + in*out
	}
	mid := float64(v.MergerHidden)
	if mid == 0 {
		mid = in
	}
	return n + float64(1+v.DeepStack)*(in*mid+mid*out+mid+out)
}
