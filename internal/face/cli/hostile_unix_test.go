//go:build unix

package cli_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// specials makes a pipe and a socket in a directory.
func specials(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

// TestDevices: no command reads a device or a socket, by any name.
func TestDevices(t *testing.T) {
	dir := t.TempDir()
	specials(t, dir)
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, command := range readers() {
		for file, says := range map[string]string{"/dev/zero": "a device, not a regular file", "link": "a device, not a regular file", "socket": "a socket, not a regular file"} {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) {
				code, _, talk, mib := attacked(dir, strings.Fields(strings.ReplaceAll(command, "@", file))...)
				refused(t, code, talk, says)
				if mib > 100 {
					t.Errorf("it took %d MiB", mib)
				}
			})
		}
	}
}

// TestPipes: the command line reads what comes through a pipe, also twice, up to the bound.
func TestPipes(t *testing.T) {
	write := func(dir string, content io.Reader) {
		out, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(out, content) // who reads may have enough
		_ = out.Close()
	}
	for _, c := range []struct {
		command, content, says string
		code                   int
	}{
		{"lint --device h200_sxm pipe", brokenLaunch, "--max-num-sequs", cli.ExitFailure},
		{"lint --device h200_sxm --diff pipe", brokenLaunch, "--max-num-seqs", cli.ExitOK},
		{"plan Qwen/Qwen3-8B --gpus 1 --system h200_sxm --engine vllm --serving-mode agg --no-changes --trace pipe", "arrival_s,input_tokens,output_tokens\n0,100,10\n1,100,10\n", "", cli.ExitOK},
		{"simulate Qwen/Qwen3-8B --device h200_sxm --num-prompts 3 --trace pipe", "arrival_s,input_tokens,output_tokens\n" + many(2_000_000, "1,100,10\n"), "3 requests", cli.ExitOK},
		{"call plan pipe", "{" + many(2<<20, " ") + "}", "too large; a request may have at most 1 MiB", cli.ExitUsage},
	} {
		t.Run(c.command, func(t *testing.T) {
			dir := t.TempDir()
			specials(t, dir)
			go write(dir, strings.NewReader(c.content))
			code, answer, talk, mib := attacked(dir, strings.Fields(c.command)...)
			if code != c.code || !strings.Contains(answer+talk, c.says) {
				t.Errorf("status %d, want %d and %q in %.300s%.300s", code, c.code, c.says, answer, talk)
			}
			if mib > 500 {
				t.Errorf("it took %d MiB", mib)
			}
		})
	}
}

// TestPipeWithoutWriter: waiting for a pipe ends with a signal.
func TestPipeWithoutWriter(t *testing.T) {
	dir := t.TempDir()
	specials(t, dir)
	for _, args := range [][]string{{"lint", "pipe"}, {"serve", "--users", "pipe", "--addr", "127.0.0.1:0"}, {"sweep", "pipe"}} {
		cmd := exec.CommandContext(t.Context(), "process", args...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Opening it without waiting succeeds once the command reads.
		for {
			out, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err == nil {
				defer func() { _ = out.Close() }() // so that there is no end
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("%v: read a pipe without a writer", args)
		}
	}
}

// TestPipeEndsWithContext: reading a pipe into which nobody writes ends with its context.
func TestPipeEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	specials(t, dir)
	ctx, end := context.WithCancel(t.Context())
	f, err := (&cli.Env{WorkDir: dir}).Open("pipe")
	if err != nil {
		t.Fatal(err)
	}
	in, read := bound.Until(ctx, f), make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 1))
		read <- err
	}()
	end()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestAgentNamesPipe: an agent that names a pipe, a device or a folder gets an error at once, and the server goes on.
func TestAgentNamesPipe(t *testing.T) {
	dir := t.TempDir()
	specials(t, dir)
	must(t, filepath.Join(dir, "model", "x"), "", 0o600)
	if err := syscall.Mkfifo(filepath.Join(dir, "model", "config.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := agent(t, "--dir", dir)
	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err.Error()
		}
		return r.Content[0].(*sdk.TextContent).Text
	}
	step := func(field, name string) map[string]any {
		return map[string]any{"deployment": map[string]any{"model": "Qwen/Qwen3-8B", "system": "h200_sxm"}, "query_length": 1, field: name}
	}
	for _, name := range []string{"pipe", "socket", "model", "../x"} {
		want := map[string]string{"pipe": "a named pipe, not a regular file", "socket": "a socket, not a regular file", "model": "a directory, not a regular file", "../x": "escapes"}[name]
		for _, field := range []string{"calibration", "device_file"} {
			if got := call("step", step(field, name)); !strings.Contains(got, want) {
				t.Errorf("%s %s: %s", field, name, got)
			}
		}
		trace := map[string]any{"deployment": map[string]any{"model": "Qwen/Qwen3-8B", "system": "h200_sxm"}, "trace": name}
		if got := call("simulate", trace); !strings.Contains(got, want) {
			t.Errorf("trace %s: %s", name, got)
		}
	}
	model := map[string]any{"deployment": map[string]any{"model": "./model", "system": "h200_sxm"}, "query_length": 1}
	if got := call("step", model); !strings.Contains(got, "a named pipe, not a regular file") {
		t.Errorf("a model: %s", got)
	}
}
