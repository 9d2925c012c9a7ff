package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// slurm is a batch job.
type slurm struct{ scripts }

// files is one batch job for all workers. A step of srun starts each process, with its devices of
// the node; TensorRT-LLM on several nodes is one step of MPI tasks. Routers run on the first node.
func (w slurm) files() ([]launch.File, error) {
	nodes := w.placed()
	switch {
	case w.engine() == launch.MindIE:
		return nil, cannot(Slurm, "mindie needs a rank table, which its own installer writes")
	case w.mixed():
		return nil, cannot(Slurm, "one job has one kind of node, and the plan %s", w.systems())
	}
	files, err := w.configFiles("slurm/", nodes)
	if err != nil {
		return nil, err
	}
	body, most := &script{}, slices.Max(onNodes(nodes))
	for i := range nodes {
		for j := range nodes[i] {
			if err := w.srun(body, &nodes[i][j], most); err != nil {
				return nil, err
			}
		}
	}
	for unit := range w.units() {
		w.router(body, unit, nodes)
	}
	s := newScript(w.intro(len(nodes), most))
	s.add(`read -ra hosts <<<"$(scontrol show hostnames "${SLURM_JOB_NODELIST}" | tr '\n' ' ')"`)
	if len(nodes) > 1 {
		s.add(`for i in "${!hosts[@]}"; do`)
		s.add(`  declare "NODE_${i}_IP=$(getent ahostsv4 "${hosts[i]}" | awk 'NR == 1 {print $1}')"`)
		s.add("done")
	}
	s.WriteString(addresses(len(nodes), body.String()))
	if strings.Contains(body.String(), "${step[@]}") {
		s.add("# A process on one node. With pyxis, add --container-image=… here.")
		s.add(`step=(--overlap --nodes=1 --ntasks=1 --cpus-per-task="${SLURM_CPUS_ON_NODE}" --gpus-per-node=%d)`, most)
	}
	s.WriteString(body.String())
	s.add("\nwait -n")
	return byPath(append(files, launch.File{Path: "slurm/job.sbatch", Mode: scriptFile, Data: []byte(s.String())})), nil
}

// intro is what sbatch reads, and the heading.
func (w slurm) intro(nodes, devices int) string {
	options := []string{
		"job-name=" + w.name, "nodes=" + strconv.Itoa(nodes), "ntasks-per-node=1", "gpus-per-node=" + strconv.Itoa(devices),
		"exclusive", "mem=0", "output=%x-%j.log",
	}
	return "#SBATCH --" + strings.Join(options, "\n#SBATCH --") + "\n" + w.heading("Slurm, "+strconv.Itoa(nodes)+" nodes")
}

// host is the variable with a node's name.
func host(node int) string { return fmt.Sprintf("${hosts[%d]}", node) }

// srun starts a worker's process on a node in the background. Slurm sets the variable that names
// the devices, so the process gets ours after it.
func (w slurm) srun(s *script, at *slot, devices int) error {
	command, err := w.command(at, launch.OwnServer, "")
	if err != nil {
		return err
	}
	start := append(launch.Literals("srun"), launch.Expansion("${step[@]}"), launch.Expansion("--nodelist="+host(at.home+at.rank)))
	switch {
	case command == nil:
		return nil // the step of its first node has tasks on this one
	case at.Engine == launch.TRTLLM && at.Nodes > 1:
		command = command[len(at.mpirun())-1:] // from trtllm-llmapi-launch on
		start = at.tasks(devices)
	}
	start = start.Add("env", at.visible()+"="+at.devicesOf())
	for _, e := range w.environment(at) {
		start = start.Add(e[0] + "=" + e[1])
	}
	if at.exchanges() {
		start = append(start, launch.Expansion(sideChannelHost+"="+nodeIP(at.home+at.rank)))
	}
	s.add("\n# %s: %s", at.title(), at.where())
	s.add("%s &", append(start, command...).Lines("  "))
	return nil
}

// where are the devices of a process, for people.
func (s *slot) where() string {
	if s.Engine == launch.TRTLLM && s.Nodes > 1 {
		return fmt.Sprintf("devices %s of nodes %d to %d", s.devicesOf(), s.home, s.home+s.Nodes-1)
	}
	return fmt.Sprintf("devices %s of node %d", s.devicesOf(), s.home+s.rank)
}

// tasks is a step with a task of MPI for each device of a worker, on nodes of which the job has so
// many devices.
func (s *slot) tasks(devices int) launch.Command {
	var hosts []string
	for n := range s.Nodes {
		hosts = append(hosts, host(s.home+n))
	}
	each := strconv.Itoa(s.PerNode)
	out := launch.Literals("srun", "--overlap", "--mpi=pmix", "--nodes="+strconv.Itoa(s.Nodes), "--ntasks="+strconv.Itoa(s.Devices), "--ntasks-per-node="+each)
	return append(out, launch.Expansion("--cpus-per-task=$((SLURM_CPUS_ON_NODE / "+each+"))"), launch.Expansion("--nodelist="+strings.Join(hosts, ","))).
		Add("--gpus-per-node=" + strconv.Itoa(devices))
}

// router starts the router of a unit. trtllm-serve reads the addresses of its workers from
// a file, which only the job knows.
func (w slurm) router(s *script, unit int, nodes [][]slot) {
	if !w.routed(s) {
		return
	}
	command := w.routerCommand(leaders(nodes, unit), unit)
	if !w.hasRouter() && len(nodes) > 1 {
		var replace []string
		for i := range nodes {
			replace = append(replace, fmt.Sprintf("s/node-%d:/%s:/", i, nodeIP(i)))
		}
		file := w.routingFile(unit)
		s.add(`sed "%s" %s >"${SLURM_JOB_ID}.%s"`, strings.Join(replace, ";"), file, file)
		command[len(command)-1] = launch.Expansion("${SLURM_JOB_ID}." + file)
	}
	s.add("# Requests go to port %d of the first node.%s", w.Site.Port+unit, w.routerNeeds())
	start := append(launch.Literals("srun"), launch.Expansion("${step[@]}"), launch.Expansion("--nodelist="+host(0)))
	s.add("%s &", append(start, command...).Lines("  "))
}

// routerNeeds says what the command of a router needs that the engine's image lacks.
func (w slurm) routerNeeds() string {
	if !w.hasRouter() {
		return ""
	}
	return " Needs: pip install " + routerPackage(w.engine())
}
