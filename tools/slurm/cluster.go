package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The nodes of the cluster: enough for the largest golden job.
const (
	nodes   = 8
	devices = 8 // of each
)

// address is a node's own, of this machine. Programs that ask for addresses of the families that the machine has find no loopback ones.
func address(node int) string { return fmt.Sprintf("10.77.0.%d", 10+node) }

// cluster is a running one.
type cluster struct {
	folder  string
	routers string // virtual environment
}

// start starts munge and Slurm, and waits until all nodes are idle.
func (c *cluster) start() error {
	if err := command("ip", "link", "set", "lo", "up"); err != nil {
		return err
	}
	for i := range nodes {
		if err := command("ip", "addr", "add", address(i)+"/24", "dev", "lo"); err != nil {
			return err
		}
	}
	for _, name := range []string{"bin", "state", "spool", "jobs", "run"} {
		if err := os.MkdirAll(c.at(name), 0o755); err != nil {
			return err
		}
	}
	if err := c.configure(); err != nil {
		return err
	}
	for _, link := range [][2]string{{"vllm", ""}, {"python3", ""}, {"vllm-router", filepath.Join(c.routers, "bin", "vllm-router")}} {
		target := link[1]
		if target == "" {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			target = self
		}
		if err := os.Symlink(target, c.at("bin", link[0])); err != nil && !os.IsExist(err) {
			return err
		}
	}
	if err := command("mount", "--bind", c.at("hosts"), "/etc/hosts"); err != nil {
		return err
	}
	if err := c.background("munged", "--foreground", "--force", "--socket", c.at("run", "munge.sock"), "--key-file", c.at("munge.key"),
		"--pid-file", c.at("run", "munged.pid"), "--log-file", c.at("munged.log"), "--seed-file", c.at("munge.seed")); err != nil {
		return err
	}
	time.Sleep(time.Second)
	if err := c.background("slurmctld", "-D"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	for i := range nodes {
		if err := c.background("slurmd", "-D", "-N", fmt.Sprintf("n%d", i)); err != nil {
			return err
		}
	}
	for range 60 {
		out, err := c.slurm("sinfo", "-h", "-N", "-o", "%T")
		if err == nil && strings.Count(out, "idle") == nodes {
			return nil
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("the nodes are not idle; logs: %s", c.folder)
}

func (c *cluster) at(path ...string) string {
	return filepath.Join(append([]string{c.folder}, path...)...)
}

// configure writes the settings of Slurm and munge, and the names of nodes.
func (c *cluster) configure() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	hosts := "127.0.0.1 localhost\n" + address(0) + " " + host + "\n"
	conf := fmt.Sprintf(`ClusterName=toy
SlurmctldHost=%s(%s)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%s
StateSaveLocation=%s
SlurmdSpoolDir=%s/%%n
SlurmctldPidFile=%s/slurmctld.pid
SlurmdPidFile=%s/slurmd.%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=5
`, host, address(0), c.at("run", "munge.sock"), c.at("state"), c.at("spool"), c.at("run"), c.at("run"))
	const firstPort = 17000
	for i := range nodes {
		if err := os.MkdirAll(c.at("spool", fmt.Sprintf("n%d", i)), 0o755); err != nil {
			return err
		}
		hosts += fmt.Sprintf("%s n%d\n", address(i), i)
		conf += fmt.Sprintf("NodeName=n%d NodeHostname=%s NodeAddr=%s Port=%d CPUs=16 RealMemory=2000 Gres=gpu:%d State=UNKNOWN\n", i, host, address(i), firstPort+i, devices)
	}
	conf += fmt.Sprintf("PartitionName=all Nodes=n[0-%d] Default=YES MaxTime=INFINITE State=UP\n", nodes-1)
	for name, text := range map[string]string{
		"hosts": hosts, "slurm.conf": conf, "gres.conf": fmt.Sprintf("AutoDetect=off\nName=gpu File=%s\n", c.at("run", fmt.Sprintf("gpu[0-%d]", devices-1))),
		"cgroup.conf": "CgroupAutomount=no\n", "munge.key": strings.Repeat("a toy cluster of one machine ", 40)[:1024],
	} {
		if err := os.WriteFile(c.at(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for i := range devices { // Slurm only looks whether they are devices
		if err := os.Symlink(os.DevNull, c.at("run", fmt.Sprintf("gpu%d", i))); err != nil {
			return err
		}
	}
	return os.Chmod(c.at("hosts"), 0o644)
}

// environment has what Slurm and the jobs need.
func (c *cluster) environment(more ...string) []string {
	path := c.at("bin") + ":" + os.Getenv("PATH")
	return append(os.Environ(), append([]string{"SLURM_CONF=" + c.at("slurm.conf"), "PATH=" + path, "STANDIN_ROUTERS=" + c.routers, "STANDIN_FOLDER=" + c.at("run")}, more...)...)
}

// background starts a program that ends with the namespaces.
func (c *cluster) background(name string, args ...string) error {
	log, err := os.OpenFile(c.at(name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p := exec.Command(name, args...)
	p.Env, p.Stdout, p.Stderr = c.environment(), log, log
	return p.Start()
}

// slurm runs one of Slurm's programs.
func (c *cluster) slurm(name string, args ...string) (string, error) {
	p := exec.Command(name, args...)
	p.Env = c.environment()
	out, err := p.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// submit submits the job of a folder.
func (c *cluster) submit(folder string, load time.Duration) (string, error) {
	p := exec.Command("sbatch", "--parsable", "job.sbatch")
	p.Dir, p.Env = folder, c.environment(fmt.Sprintf("STANDIN_LOAD=%d", int(load.Seconds())))
	out, err := p.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("sbatch: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// state is that of a job, "" when it has left the queue.
func (c *cluster) state(id string) string {
	out, err := c.slurm("squeue", "-h", "-j", id, "-o", "%T")
	if err != nil {
		return ""
	}
	return out
}

// cancel ends a job, and waits until its nodes are free.
func (c *cluster) cancel(id string) {
	if _, err := c.slurm("scancel", id); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for range 60 {
		if out, err := c.slurm("sinfo", "-h", "-N", "-o", "%T"); err == nil && strings.Count(out, "idle") == nodes {
			return
		}
		time.Sleep(time.Second)
	}
}
