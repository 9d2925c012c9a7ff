package files

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// cacheHome is the directory of weights in a container; Hugging Face's libraries find it by
// HF_HOME, whichever user the container runs as.
const cacheHome, cacheVariable, cacheVolume = "/model-cache", "HF_HOME", "model-cache"

// configHome is where a container finds its engine's config file.
const configHome = "/configs/"

// compose is Docker Compose.
type compose struct{ scripts }

// files is a Compose file for each node. The containers share the host's
// network, so that commands are those of the plain scripts.
func (w compose) files() ([]launch.File, error) {
	one := *w.scripted()
	w.writer = &one
	nodes := w.placed()
	if w.host = requiredIP; len(nodes) == 1 {
		w.host = func(int) string { return "127.0.0.1" }
	}
	files, err := w.configFiles("compose/", nodes)
	if err != nil {
		return nil, err
	}
	for i := range nodes {
		services, err := w.services(nodes, i)
		if err != nil {
			return nil, err
		}
		data, err := encode(w.intro(i, len(nodes)), fields("services", services, "volumes", fields(cacheVolume, fields())))
		if err != nil {
			return nil, err
		}
		path := "compose/compose.yaml"
		if len(nodes) > 1 {
			path = fmt.Sprintf("compose/node_%d.compose.yaml", i)
		}
		files = append(files, launch.File{Path: path, Mode: plainFile, Data: data})
	}
	return byPath(files), nil
}

// requiredIP is the variable with a node's address: Compose starts nothing without it.
func requiredIP(node int) string { return fmt.Sprintf("${NODE_%d_IP:?address of node %d}", node, node) }

// services are the workers and routers of a node.
func (w compose) services(nodes [][]slot, i int) (*mapping, error) {
	services := &mapping{}
	for j := range nodes[i] {
		at := &nodes[i][j]
		if at.Engine == launch.MindIE || at.Engine == launch.TRTLLM && (at.Nodes > 1 || w.disaggregated() && len(nodes) > 1) {
			return nil, cannot(Compose, "%s on several nodes is started by scripts", at.Engine)
		}
		service, err := w.worker(at)
		if err != nil {
			return nil, err
		}
		services.set(serviceName(at, w.units()), service)
	}
	for unit := range w.units() {
		if all := leaders(nodes, unit); all[0].home == i && !w.alone() && (w.hasRouter() || w.disaggregated()) {
			services.set(fmt.Sprintf("router-%d", unit), w.router(all, unit))
		}
	}
	return services, nil
}

// intro is the heading with instructions for the user.
func (w compose) intro(i, nodes int) string {
	heading := w.heading(fmt.Sprintf("Docker Compose, node %d of %d", i, nodes))
	if !w.hasRouter() && !w.disaggregated() && !w.alone() {
		heading += w.balancerHint() + "\n"
	}
	if nodes > 1 {
		heading += "# Set NODE_0_IP, NODE_1_IP … to the addresses of the nodes.\n"
	}
	return heading
}

// serviceName names a worker's service.
func serviceName(s *slot, units int) string {
	name := fmt.Sprintf("%s-%d", roleName(s.Role), s.index)
	if units > 1 {
		name = fmt.Sprintf("unit%d-%s", s.unit, name)
	}
	return name
}

// worker is a service.
func (w compose) worker(at *slot) (*mapping, error) {
	command, err := w.command(at, launch.OwnServer, configHome)
	if err != nil {
		return nil, err
	}
	volumes := []string{cacheVolume + ":" + cacheHome}
	if at.Engine == launch.TRTLLM {
		volumes = append(volumes, configVolume(configFile(at.Role)))
	}
	if at.Device.Vendor == device.Ascend {
		volumes = append(volumes, ascendDriver()...)
	}
	environment := fields("HF_TOKEN", "${HF_TOKEN:-}", cacheVariable, cacheHome)
	for _, e := range w.environment(at) {
		environment.set(e[0], e[1])
	}
	environment.setIf(at.exchanges(), sideChannelHost, w.nodeAddress(at.home+at.rank))
	service := composeService(w.image(at.Values), command.InManifest().Strings(), true).set("environment", environment).set("volumes", volumes)
	composeDevices(service, environment, at)
	service.setIf(at.leads(), "healthcheck", healthcheck(w.workerPort(at)))
	return service, nil
}

// healthcheck asks a server for its health; while it loads, that it has none is no failure.
func healthcheck(port int) *mapping {
	return fields("test", []string{"CMD", "python3", "-c", probeScript(port)},
		"interval", "10s", "timeout", "5s", "retries", 3, "start_period", fmt.Sprintf("%ds", loading))
}

// composeService begins a service with a command. Its processes get no more rights than they start with.
func composeService(image string, words []string, ipc bool) *mapping {
	return fields("image", image, "network_mode", "host").setIf(ipc, "ipc", "host").
		set("init", true).set("security_opt", []string{"no-new-privileges:true"}).set("restart", "unless-stopped").set("entrypoint", words[:1]).set("command", words[1:])
}

// configVolume mounts a config file beside the Compose file.
func configVolume(file string) string { return "./" + file + ":" + configHome + file + ":ro" }

// probeScript asks for a server's health with what every image has.
func probeScript(port int) string {
	return fmt.Sprintf("import urllib.request; urllib.request.urlopen('http://127.0.0.1:%d/health', timeout=4)", port)
}

// composeDevices gives a service its devices: NVIDIA's by the runtime, others as
// files of the host.
func composeDevices(service, environment *mapping, at *slot) {
	switch at.Device.Vendor {
	case device.NVIDIA:
		service.set("deploy", fields("resources", fields("reservations", fields("devices", []*mapping{
			fields("driver", "nvidia", "device_ids", strings.Split(at.devicesOf(), ","), "capabilities", []string{"gpu"}),
		}))))
	case device.AMD:
		environment.set(at.visible(), at.devicesOf())
		service.set("devices", []string{"/dev/kfd", "/dev/dri"}).set("group_add", []string{"video", "render"})
	case device.Ascend: // in the container they are counted from 0
		var files []string
		for id := range strings.SplitSeq(at.devicesOf(), ",") {
			files = append(files, "/dev/davinci"+id)
		}
		service.set("devices", append(files, "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"))
	default: // newWriter has refused others
	}
}

// ascendDriver are the parts of Ascend's driver that containers take from the host (vllm-ascend's guide).
func ascendDriver() []string {
	var out []string
	for _, path := range []string{"/usr/local/dcmi", "/usr/local/bin/npu-smi", "/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/driver/version.info", "/etc/ascend_install.info"} {
		out = append(out, path+":"+path+":ro")
	}
	return out
}

// router is the service in front. The router of SGLang has an image; that of vLLM is installed from PyPI when it starts.
func (w compose) router(workers []slot, unit int) *mapping {
	if !w.hasRouter() {
		file := w.routingFile(unit)
		words := []string{"trtllm-serve", "disaggregated", "-c", configHome + file}
		return composeService(w.image(&w.pools[0]), words, false).set("volumes", []string{configVolume(file)}).set("healthcheck", healthcheck(w.Site.Port+unit))
	}
	command := w.routerCommand(workers, unit)
	image, words := routerImage, w.routerShell(command)
	if w.engine() == launch.SGLang {
		image, words = sglangRouterImage, command.InManifest().Strings()
	}
	return composeService(image, words, false).set("healthcheck", healthcheck(w.Site.Port+unit))
}
