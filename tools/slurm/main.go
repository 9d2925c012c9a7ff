// Slurm runs the batch jobs of plimsoll's files in a toy cluster: a real slurmctld and slurmd for each node, in namespaces of their own on this
// machine, with a stand-in for the engines and the real routers of vLLM and SGLang in front of it. It says whether every unit of a job answers a
// request, and after how long, or how the job ended.
//
// It needs root, Debian's slurmctld, slurmd, slurm-client, munge and iproute2, and a virtual environment with vllm-router and sglang-router
// (-routers; made by pip if it is not there).
//
//	go -C tools run ./slurm                          # jobs of several units, as the golden files have them
//	go -C tools run ./slurm -load 20m JOB_FOLDER     # engines that load for 20 minutes, by the real clock
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// golden are folders of jobs of two units and of one, under plimsoll's folder.
var golden = []string{"sglang-disagg-moe", "vllm-disagg-dense", "vllm-disagg-moe", "sglang-agg-dense", "vllm-agg-dense"}

// pinned are the routers, in the releases that files are written for.
var pinned = []string{"vllm-router==0.1.16", "sglang-router==0.3.2"}

// settings are the flags.
type settings struct {
	routers, work string
	load, limit   time.Duration
	inside        bool
}

func main() {
	if name := filepath.Base(os.Args[0]); name == "vllm" || name == "python3" {
		standIn(name, os.Args[1:])
		return
	}
	var s settings
	flag.StringVar(&s.routers, "routers", filepath.Join(cacheFolder(), "routers"), "virtual environment with the routers")
	flag.StringVar(&s.work, "work", "", "folder for logs (default a temporary one)")
	flag.DurationVar(&s.load, "load", 5*time.Second, "how long engines load until they serve")
	flag.DurationVar(&s.limit, "limit", 3*time.Minute, "how long after that every unit of a job has to answer")
	flag.BoolVar(&s.inside, "inside", false, "for the program itself: namespaces are there")
	flag.Parse()
	jobs := flag.Args()
	if len(jobs) == 0 {
		for _, name := range golden {
			jobs = append(jobs, filepath.Join("..", "internal", "launch", "files", "testdata", name, "slurm"))
		}
	}
	if err := s.main(jobs); err != nil {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		os.Exit(1)
	}
}

// cacheFolder keeps the routers between runs.
func cacheFolder() string {
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	return filepath.Join(root, "plimsoll-slurm")
}

// main enters namespaces, or runs the jobs in them.
func (s *settings) main(jobs []string) error {
	if s.inside {
		return s.run(jobs)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--", self, "-inside",
		"-routers", s.routers, "-work", s.work, "-load", s.load.String(), "-limit", s.limit.String(),
	}
	for _, job := range jobs {
		whole, err := filepath.Abs(job)
		if err != nil {
			return err
		}
		args = append(args, whole)
	}
	c := exec.Command("unshare", args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// prepare checks for programs and makes the folders.
func (s *settings) prepare() error {
	for _, name := range []string{"unshare", "ip", "munged", "slurmctld", "slurmd", "sbatch", "srun"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%w: on Debian, install slurmctld, slurmd, slurm-client, munge and iproute2", err)
		}
	}
	if s.work == "" {
		made, err := os.MkdirTemp("", "plimsoll-slurm-")
		if err != nil {
			return err
		}
		s.work = made
	}
	var err error
	if s.work, err = filepath.Abs(s.work); err != nil {
		return err
	}
	if s.routers, err = filepath.Abs(s.routers); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.routers, "bin", "vllm-router")); err == nil {
		return nil
	}
	if err := command("python3", "-m", "venv", s.routers); err != nil {
		return err
	}
	return command(filepath.Join(s.routers, "bin", "pip"), append([]string{"install", "-q"}, pinned...)...)
}

// command runs a program and reports what it says if it fails.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// run runs jobs one after another, inside the namespaces.
func (s *settings) run(jobs []string) error {
	c := &cluster{folder: s.work, routers: s.routers}
	if err := c.start(); err != nil {
		return err
	}
	failed := 0
	for _, job := range jobs {
		name := filepath.Base(filepath.Dir(job))
		took, err := c.try(job, name, s.load, s.limit)
		verdict := fmt.Sprintf("every unit answers after %v", took.Round(time.Second))
		if err != nil {
			failed, verdict = failed+1, err.Error()
		}
		fmt.Printf("%-24s %s\n", name, verdict)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d jobs failed; logs: %s", failed, len(jobs), s.work)
	}
	return nil
}

// router finds the port of each router that a job starts.
var router = regexp.MustCompile(`(?s)(?:vllm-router|sglang_router\.launch_router) .*?--port (\d+)`)

// try submits a job, and waits until each of its routers passes a request to an engine or the job ends.
func (c *cluster) try(folder, name string, load, limit time.Duration) (time.Duration, error) {
	script, err := os.ReadFile(filepath.Join(folder, "job.sbatch"))
	if err != nil {
		return 0, err
	}
	var ports []string
	for _, m := range router.FindAllSubmatch(script, -1) {
		ports = append(ports, string(m[1]))
	}
	if len(ports) == 0 {
		return 0, errors.New("the job starts no router")
	}
	at := filepath.Join(c.folder, "jobs", name)
	if err := os.CopyFS(at, os.DirFS(folder)); err != nil {
		return 0, err
	}
	id, err := c.submit(at, load)
	if err != nil {
		return 0, err
	}
	defer c.cancel(id)
	began := time.Now()
	client := &http.Client{Timeout: 5 * time.Second}
	for time.Since(began) < load+limit {
		if state := c.state(id); state != "RUNNING" && state != "PENDING" && state != "CONFIGURING" {
			return 0, fmt.Errorf("the job ended after %v: %s", time.Since(began).Round(time.Second), c.why(at))
		}
		ports = slices.DeleteFunc(ports, func(port string) bool { return c.answers(client, port) })
		if len(ports) == 0 {
			return time.Since(began), nil
		}
		time.Sleep(time.Second)
	}
	return 0, fmt.Errorf("no answer at ports %v after %v: %s", ports, time.Since(began).Round(time.Second), c.why(at))
}

// answers reports whether a request to a router is answered by an engine.
func (c *cluster) answers(client *http.Client, port string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":1}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address(0)+":"+port+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusOK && bytes.Contains(text, []byte(standInAnswer))
}

// why are the last lines of the job's log.
func (c *cluster) why(folder string) string {
	logs, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(logs) == 0 {
		return "no log"
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		return err.Error()
	}
	const most = 6
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, standInSays) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n    ")
}

// number is a number of a text, 0 if it is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
