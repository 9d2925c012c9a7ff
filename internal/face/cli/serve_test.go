package cli_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// got is the status of an address, 0 if nobody answers.
func got(t *testing.T, address, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = w.Body.Close()
	return w.StatusCode
}

// TestServeTeam: a server for a team knows its users, and after SIGTERM says that it is not ready while it still answers.
func TestServeTeam(t *testing.T) {
	const token = "ann-0123456789abcdef"
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("# who\n\nann "+token+"\nbob bob-0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "--users", users, "--drain", "2s", "--log", "json")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/api/engines": 401} {
		if code := got(t, s.address+path, ""); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code := got(t, s.address+"/api/engines", token); code != http.StatusOK {
		t.Errorf("with a token: %d", code)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	seen := false
	for start := time.Now(); !seen && time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		seen = got(t, s.address+"/readyz", "") == http.StatusServiceUnavailable
	}
	if !seen || got(t, s.address+"/api/engines", token) != http.StatusOK {
		t.Error("while it drains it is ready, or does not answer")
	}
	rest := s.rest(t)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if !strings.Contains(rest, `"path":"/api/engines","status":200`) || !strings.Contains(rest, `"user":"ann"`) || strings.Contains(rest, token) {
		t.Errorf("log: %s", rest)
	}
}
