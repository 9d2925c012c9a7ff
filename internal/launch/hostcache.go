package launch

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// keepsOnHost reports whether a worker is to keep what its devices evict: workers that only decode look nothing up.
func (v *Values) keepsOnHost() bool {
	return v.HostGiB > 0 && v.PrefixCaching && v.Role != deployment.Decode
}

// hostCache sets the host memory of a worker in the engine's own unit: vLLM counts GiB of one data-parallel rank (vllm/config/cache.py), SGLang
// whole GB of one device (mem_cache/memory_pool_host.py), and TensorRT-LLM bytes of one (llmapi/llm_args.py).
func (v *Values) hostCache(t *native) {
	if !v.keepsOnHost() || v.HostLack() != "" {
		return
	}
	each := v.HostGiB * float64(units.GiB) / float64(max(1, v.Layout.Devices))
	switch v.Engine {
	case VLLM:
		t.HostCache, t.HostBackend = strconv.FormatFloat(v.HostGiB/float64(max(1, v.Layout.DP)), 'f', -1, 64), "native"
	case SGLang:
		const gb = 1e9
		t.HostSwitch, t.HostCache = true, strconv.Itoa(max(1, int(each/gb)))
	case TRTLLM:
		t.HostCache = strconv.FormatInt(int64(each), 10)
	}
}

// HostLack says why the worker's files cannot give it the host memory of the prediction, "" if they do, or it needs none.
func (v *Values) HostLack() string {
	switch names := v.profile.OptionNames("host_cache.size"); {
	case !v.keepsOnHost():
		return ""
	case v.Device.Vendor == device.Ascend && v.Engine != MindIE:
		return v.Port() + " keeps blocks on the host by a connector of its own"
	case len(names) == 0:
		return v.Engine + " has no option for it"
	case v.Option("host_cache.size") == "":
		return fmt.Sprintf("%s %s has no %s", v.Engine, v.Version, names[0])
	case v.Engine == SGLang && version.Compare(v.Version, "0.5.15") < 0: // an assertion until then (mem_cache/memory_pool_host.py)
		return fmt.Sprintf("sglang %s starts only if it is larger than the cache of the devices", v.Version)
	case v.Engine == VLLM && v.Role != deployment.Both: // it has one, and --kv-offloading-size puts its own in its place (vllm/config/vllm.py)
		return "in a disaggregated worker the connector of vllm sends blocks to others"
	}
	return ""
}
