package cli_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk/disktest"
)

// killVariable is the operation on the disk at which a process of the program kills itself.
const killVariable = "PLIMSOLL_TEST_KILL"

// asProcess is the program as a process.
func asProcess() {
	env := cli.OSEnv()
	if at, err := strconv.Atoi(os.Getenv(killVariable)); err == nil {
		env.Disk = &disktest.Faults{System: disk.OS{}, At: at, Kill: func() {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // until it arrives
		}}
	}
	os.Exit(cli.Main(env))
}

// kills is the number of kills of each writer that PLIMSOLL_KILLS asks for, 0 for none.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PLIMSOLL_KILLS")
	n, err := strconv.Atoi(text)
	if text != "" && err != nil {
		t.Fatalf("PLIMSOLL_KILLS must be a number, got %q", text)
	}
	return n
}

// TestKills: a process that gets SIGKILL, at an operation on the disk or at any time, leaves its output old or new, and the next run
// succeeds and clears. "make kills" kills every writer many times, this alone some of them twice.
func TestKills(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	for _, w := range writers() {
		n := kills(t)
		if n == 0 && !w.like {
			n = 2
		}
		if n == 0 {
			continue
		}
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			s, operations := w.states(t, l)
			random := rand.New(rand.NewPCG(1, uint64(n)))
			begin := time.Now()
			if code, _ := w.process(t, l, w.start(t), 0, 0); code != 0 {
				t.Fatalf("exit %d", code)
			}
			longest := time.Since(begin)
			killed := 0
			for i := 0; i < n && !t.Failed(); i++ {
				dir := w.start(t)
				at, after := 0, time.Duration(0)
				if i%2 == 0 {
					at = 1 + random.IntN(operations)
				} else {
					after = time.Duration(random.Int64N(int64(longest)))
				}
				code, dead := w.process(t, l, dir, at, after)
				if dead {
					killed++
				} else if code != 0 || at > 0 {
					t.Errorf("killed at operation %d, after %v: exit %d", at, after, code)
				}
				got, _ := files(t, dir)
				if err := w.whole(s, got); err != nil {
					t.Errorf("killed at operation %d, after %v: %v", at, after, err)
				}
				w.again(t, l, s, dir)
			}
			t.Logf("%s: %d of %d processes killed", w.name(), killed, n)
		})
	}
}

// process runs the program as a process that is killed at an operation or after a time, 0 for neither, and reports how it ended.
func (w *writer) process(t *testing.T, l *laboratory, dir string, at int, after time.Duration) (code int, dead bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "process", w.line(l.inputs)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "HOME="+filepath.Dir(dir))
	if at > 0 {
		cmd.Env = append(cmd.Env, killVariable+"="+strconv.Itoa(at))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), cmd.ProcessState.ExitCode() < 0
}
