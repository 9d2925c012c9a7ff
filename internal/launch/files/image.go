package files

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// image is the container image of an engine: as its project publishes it.
func (w *writer) image(v *launch.Values) string {
	if w.Site.Image != "" {
		return w.Site.Image
	}
	if v.Device.Vendor == device.Ascend {
		return ascendImage(v)
	}
	amd := v.Device.Vendor == device.AMD
	switch v.Engine {
	case launch.VLLM:
		if amd {
			return launch.VLLMROCm + ":v" + full(v.Version)
		}
		return launch.VLLMImage + ":v" + full(v.Version)
	case launch.SGLang:
		if amd { // one image for MI300 and MI325, one for MI350 and MI355
			chip := "mi30x"
			if v.Device.Generation == "cdna4" {
				chip = "mi35x"
			}
			return launch.SGLangImage + ":v" + v.Version + "-rocm700-" + chip
		}
		return launch.SGLangImage + ":v" + v.Version
	}
	return launch.TRTLLMImage + ":" + v.Version
}

// cann is the release of Ascend's toolkit in the tags of SGLang's images (its guide for NPUs, of 0.5.16).
const cann = "cann9.0.0"

// ascendImage is the image for Ascend's devices: of vllm-ascend without a suffix for the A2, of SGLang for the chip's name.
func ascendImage(v *launch.Values) string {
	a3 := v.Device.Generation == "ascend-a3"
	switch v.Engine {
	case launch.VLLM:
		if a3 {
			return launch.VLLMAscend + ":v" + v.Version + "-a3"
		}
		return launch.VLLMAscend + ":v" + v.Version
	case launch.SGLang:
		if a3 {
			return launch.SGLangNPU + ":" + cann + "-a3-v" + v.Version
		}
		return launch.SGLangNPU + ":" + cann + "-910b-v" + v.Version
	}
	return "mindie:" + cmp.Or(v.Version, "latest")
}

// full is a version with all three numbers, as vLLM tags its images.
func full(release string) string {
	for strings.Count(release, ".") < 2 && strings.Trim(release, "0123456789.") == "" {
		release += ".0"
	}
	return release
}

// unpublished says that no image has the release's tag, "" if one has, or may have since the table of releases was made.
func (w *writer) unpublished() string {
	v := &w.pools[0]
	all := engine.Releases(v.Port())
	if w.Site.Image != "" || len(all) == 0 || engine.Published(v.Port(), v.Version) != nil || version.Compare(v.Version, all[len(all)-1].Version) > 0 {
		return ""
	}
	return fmt.Sprintf("Release %s of %s is not known to be published; the newest before it is %s.", v.Version, v.Port(), engine.Upto(v.Port(), v.Version))
}

// dynamoRelease is the release of Dynamo whose image runs the workers.
func (w *writer) dynamoRelease() string {
	return engine.Carrier(w.engine(), w.pools[0].Version).Version
}

// dynamoImage is the image of Dynamo with an engine.
func (w *writer) dynamoImage() string {
	return cmp.Or(w.Site.Image, launch.DynamoImage(w.engine())+":"+w.dynamoRelease())
}

// inDynamo is the writer for the release of the engine in Dynamo's image. Where that is another than asked for it says so.
func (w *writer) inDynamo() (*writer, error) {
	asked := w.pools[0].Version
	r := engine.Carrier(w.engine(), asked)
	has := r.Carries[w.engine()]
	if w.Site.Image != "" || has == "" || version.Compare(has, asked) == 0 {
		return w, nil
	}
	p := *w.Plan
	p.Deployment.Engine.Version = has
	p.Remarks = append(slices.Clone(p.Remarks), fmt.Sprintf("No image of Dynamo has %s %s: these files are for %s %s in that of Dynamo %s.",
		w.engine(), asked, w.engine(), has, r.Version))
	made, err := newWriter(&p)
	if err != nil {
		return nil, err
	}
	made.targets, made.of = w.targets, w.of
	return made, nil
}
