package launch

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// cacheHome is where weights are kept in a container. HF_HOME tells Hugging Face's
// libraries, whoever the container runs as.
const cacheHome, cacheVariable = "/model-cache", "HF_HOME"

// configHome is where a container finds its engine's file of settings.
const configHome = "/configs/"

// compose is a Compose file for each node. The containers share the host's
// network, so that commands are those of the plain scripts.
func (w *writer) compose() ([]File, error) {
	files, err := w.engineFiles("compose/")
	if err != nil {
		return nil, err
	}
	nodes := w.placed()
	if w.pools[0].Engine == trtllm && w.disaggregated() {
		more, err := w.trtllmRouting("compose/", nodes)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	for i := range nodes {
		services, err := w.composeServices(nodes, i)
		if err != nil {
			return nil, err
		}
		data, err := encode(w.composeHeading(i, len(nodes)), fields("services", services, "volumes", fields(w.Site.CacheClaim, fields())))
		if err != nil {
			return nil, err
		}
		path := "compose/compose.yaml"
		if len(nodes) > 1 {
			path = fmt.Sprintf("compose/node_%d.compose.yaml", i)
		}
		files = append(files, File{path, plainFile, data})
	}
	return byPath(files), nil
}

// composeServices are the workers of a node, and the routers that stand there.
func (w *writer) composeServices(nodes [][]slot, i int) (*mapping, error) {
	services := &mapping{}
	for j := range nodes[i] {
		service, err := w.composeWorker(&nodes[i][j])
		if err != nil {
			return nil, err
		}
		services.set(serviceName(&nodes[i][j], w.units()), service)
	}
	for unit := range w.units() {
		if all := leaders(nodes, unit); all[0].home == i && !w.alone() && (w.hasRouter() || w.disaggregated()) {
			services.set(fmt.Sprintf("router-%d", unit), w.composeRouter(all, unit))
		}
	}
	return services, nil
}

// composeHeading says what the user adds.
func (w *writer) composeHeading(i, nodes int) string {
	heading := w.heading(fmt.Sprintf("Docker Compose, node %d of %d", i, nodes))
	if !w.hasRouter() && !w.disaggregated() && !w.alone() {
		heading += fmt.Sprintf("# The workers listen on ports %d and up: put a load balancer in front of them.\n", w.Site.Port+100)
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

// hasRouter reports whether the engine's project has a router that needs no file
// of its own.
func (w *writer) hasRouter() bool { e := w.pools[0].Engine; return e == vllm || e == sglang }

// composeWorker is a service.
func (w *writer) composeWorker(at *slot) (*mapping, error) {
	if at.Engine == mindie || at.Engine == trtllm && (at.Nodes > 1 || w.disaggregated() && len(w.placed()) > 1) {
		return nil, cannot(Compose, "%s on several nodes is started by scripts", at.Engine)
	}
	command := at.command(ownServer, w.Site.ServedName, configHome+engineFile(at.Role))
	if _, err := w.across(at, &command); err != nil {
		return nil, err
	}
	if at.leads() {
		command = append(command, listen(itoa(w.workerPort(at)))...)
		if at.Engine == sglang && at.Role == deployment.Prefill {
			command = append(command, "--disaggregation-bootstrap-port", itoa(bootstrap+at.serial))
		}
	}
	volumes := []string{w.Site.CacheClaim + ":" + cacheHome}
	if at.Engine == trtllm {
		volumes = append(volumes, "./"+engineFile(at.Role)+":"+configHome+engineFile(at.Role)+":ro")
	}
	environment := fields("HF_TOKEN", "${HF_TOKEN:-}", cacheVariable, cacheHome)
	for _, e := range w.environment(at) {
		environment.set(e[0], e[1])
	}
	if at.Engine == vllm && at.Role != deployment.Both {
		environment.set("VLLM_NIXL_SIDE_CHANNEL_HOST", w.host(at.home+at.rank))
	}
	service := fields("image", w.image(at.Values), "network_mode", "host", "ipc", "host", "restart", "unless-stopped",
		"entrypoint", command[:1], "command", command[1:], "environment", environment, "volumes", volumes)
	composeDevices(service, environment, at)
	service.setIf(at.leads(), "healthcheck", fields("test", []string{"CMD", "python3", "-c", probeScript(w.workerPort(at))},
		"interval", "10s", "timeout", "5s", "retries", 3, "start_period", "60m"))
	return service, nil
}

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
	default:
		environment.set(at.visible(), at.devicesOf())
	}
}

// routerImage and routerPackages are how a router is run: from PyPI, since not all
// of its projects publish an image.
const routerImage = "python:3.12-slim"

func routerPackage(name string) string {
	return map[string]string{vllm: "vllm-router==0.1.16", sglang: "sglang-router==0.3.2"}[name]
}

// routerShell installs and starts a router.
func (w *writer) routerShell(command []string) []string {
	return []string{"bash", "-c", "pip install -q " + routerPackage(w.pools[0].Engine) + " && exec " + quoted(command)}
}

// composeRouter is the service in front.
func (w *writer) composeRouter(workers []slot, unit int) *mapping {
	if !w.hasRouter() {
		file := routingFile(w, unit)
		return fields("image", w.image(&w.pools[0]), "network_mode", "host", "restart", "unless-stopped", "entrypoint", []string{"trtllm-serve"},
			"command", []string{"disaggregated", "-c", configHome + file}, "volumes", []string{"./" + file + ":" + configHome + file + ":ro"})
	}
	shell := w.routerShell(w.routerCommand(workers, unit, func(at *slot) string {
		return fmt.Sprintf("http://%s:%d", w.host(at.home), w.workerPort(at))
	}))
	return fields("image", routerImage, "network_mode", "host", "restart", "unless-stopped", "entrypoint", shell[:1], "command", shell[1:])
}

// host is the address of a node as Compose replaces it; a single node is this one.
func (w *writer) host(node int) string {
	if len(w.placed()) == 1 {
		return "127.0.0.1"
	}
	return nodeIP(node)
}
