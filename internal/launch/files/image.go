package files

import (
	"cmp"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// image is the container image of an engine: as its project publishes it.
func (w *writer) image(v *launch.Values) string {
	if w.Site.Image != "" {
		return w.Site.Image
	}
	amd := v.Device.Vendor == device.AMD
	switch v.Engine {
	case launch.VLLM:
		if amd {
			return "vllm/vllm-openai-rocm:v" + full(v.Version)
		}
		return "vllm/vllm-openai:v" + full(v.Version)
	case launch.SGLang:
		if amd { // one image for MI300 and MI325, one for MI350 and MI355
			chip := "mi30x"
			if v.Device.Generation == "cdna4" {
				chip = "mi35x"
			}
			return "lmsysorg/sglang:v" + v.Version + "-rocm700-" + chip
		}
		return "lmsysorg/sglang:v" + v.Version
	case launch.TRTLLM:
		return "nvcr.io/nvidia/tensorrt-llm/release:" + v.Version
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

// dynamoReleases are the releases of Dynamo and the engines in their images, newest
// first (as AIConfigurator pairs them).
func dynamoReleases() []struct{ dynamo, vllm, sglang, trtllm string } {
	return []struct{ dynamo, vllm, sglang, trtllm string }{
		{"1.3.0", "0.24.0", "0.5.16", "1.3.0rc23"},
		{"1.2.0", "0.20.1", "0.5.11", "1.3.0rc14"},
		{"1.1.0", "0.19.0", "0.5.10.post1", "1.3.0rc11"},
		{"1.0.0", "0.16.0", "0.5.9", "1.3.0rc5.post1"},
		{"0.9.0", "0.14.1", "0.5.8", "1.3.0rc1"},
		{"0.8.1", "0.12.0", "0.5.6.post2", "1.2.0rc6.post1"},
		{"0.7.1", "0.11.0", "0.5.4.post3", "1.2.0rc3"},
		{"0.6.1", "0.11.0", "0.5.3.post2", "1.1.0rc5"},
	}
}

// dynamoRelease is the oldest release of Dynamo whose engine is not older than the
// values', or the newest.
func dynamoRelease(v *launch.Values) string {
	all := dynamoReleases()
	out := all[0].dynamo
	for _, r := range all {
		has := map[string]string{launch.VLLM: r.vllm, launch.SGLang: r.sglang, launch.TRTLLM: r.trtllm}[v.Engine]
		if version.Compare(has, v.Version) < 0 {
			break
		}
		out = r.dynamo
	}
	return out
}

// dynamoImage is the image of Dynamo with an engine.
func (w *writer) dynamoImage() string {
	v := &w.pools[0]
	runtime := map[string]string{launch.VLLM: "vllm-runtime", launch.SGLang: "sglang-runtime", launch.TRTLLM: "tensorrtllm-runtime"}[v.Engine]
	return cmp.Or(w.Site.Image, "nvcr.io/nvidia/ai-dynamo/"+runtime+":"+dynamoRelease(v))
}
