package cli_test

import (
	"bufio"
	"context"
	stdjson "encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const doorPlan = `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"no_changes":true,` +
	`"workloads":[{"isl":512,"osl":8}],"limits":{"ttft_ms":1000,"tpot_ms":20}}`

// doorArgs is the same request on the command line.
const doorArgs = "plan Qwen/Qwen3-8B --system h200_sxm --gpus 2 --engine vllm --serving-mode agg --no-changes --isl 512 --osl 8 --ttft 1000 --tpot 20 --json"

// agent starts "plimsoll mcp" as a process and connects to its standard streams.
func agent(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	cmd := exec.Command("process", append([]string{"mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func called(t *testing.T, s *sdk.ClientSession, tool, arguments string) (r *sdk.CallToolResult, text string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: stdjson.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Content[0].(*sdk.TextContent).Text
}

// TestAgentFiles: files go into the folder that was named and nowhere else.
func TestAgentFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	s := agent(t, "--dir", dir)
	write := func(folder string) (*sdk.CallToolResult, string) {
		t.Helper()
		name, _ := stdjson.Marshal(folder)
		return called(t, s, "write_files", `{"plan":`+doorPlan+`,"targets":["plain"],"folder":`+string(name)+`}`)
	}
	for _, folder := range []string{"..", "../x", "/tmp/x", "a/../../x", "out", "out/x"} {
		if r, text := write(folder); !r.IsError || !strings.Contains(text, "writing "+folder) {
			t.Errorf("folder %s: %s", folder, text)
		}
	}
	if r, text := write("a/b"); r.IsError {
		t.Fatal(text)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "a/b/plain/*")); err != nil || len(found) == 0 {
		t.Errorf("wrote %v %v", found, err)
	}
	if r, text := write("a/b"); !r.IsError || !strings.Contains(text, "exists") {
		t.Errorf("written twice: %s", text)
	}
	const read = `{"deployment":{"model":"%","system":"h200_sxm"},"decode":true}`
	for _, model := range []string{"../x", "/etc"} {
		if r, text := called(t, s, "step", strings.Replace(read, "%", model, 1)); !r.IsError {
			t.Errorf("model %s: %s", model, text)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "out")); err != nil || len(entries) > 0 {
		t.Errorf("a link out of the folder was followed: %v %v", entries, err)
	}
}

// TestSameEverywhere: a request gives the same document on the command line, by MCP and by HTTP.
func TestSameEverywhere(t *testing.T) {
	s := agent(t)
	r, _ := called(t, s, "plan", doorPlan)
	link := r.Content[1].(*sdk.ResourceLink)
	record, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
	if err != nil {
		t.Fatal(err)
	}
	want := record.Contents[0].Text
	address, stop := served(t)
	if got := fetched(t, address+"/api/plan", doorPlan); got != want {
		t.Error("HTTP and MCP differ")
	}
	stop()
	out, err := exec.CommandContext(t.Context(), "process", strings.Fields(doorArgs)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != want {
		t.Errorf("the command line differs from HTTP and MCP:\n%.2000s\n\n%.2000s", out, want)
	}
}

// served starts "plimsoll serve" and returns its address; stop ends it as a user does.
func served(t *testing.T) (address string, stop func()) {
	t.Helper()
	s := startServer(t)
	return s.address, func() {
		t.Helper()
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

// process is a server that runs.
type process struct {
	cmd     *exec.Cmd
	address string
	errors  *bufio.Reader
}

// rest is what it prints from now on to its end.
func (p *process) rest(t *testing.T) string {
	t.Helper()
	out, err := io.ReadAll(p.errors)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

// startServer starts "plimsoll serve" with flags.
func startServer(t *testing.T, flags ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "process", append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	errors := bufio.NewReader(pipe)
	line, err := errors.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatal(line)
	}
	return &process{cmd, strings.TrimSuffix(address, "/"), errors}
}

func fetched(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close() //nolint:errcheck // it was read
	var b strings.Builder
	if _, err := bufio.NewReader(w.Body).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
