package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// deathVariable names the death that a process of the test dies while it serves.
const deathVariable = "PLIMSOLL_TEST_DEATH"

// TestMain lets the test binary be the program, which dies when it reads a line.
func TestMain(m *testing.M) {
	if die := deaths()[os.Getenv(deathVariable)]; die != nil {
		go func() {
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			die()
		}()
		main()
	}
	os.Exit(m.Run())
}

// deaths are errors that a Go program cannot recover from, by their words.
func deaths() map[string]func() {
	return map[string]func(){
		"stack exceeds": func() { fmt.Fprint(os.Stderr, overflow(1)) },
		"out of memory": func() {
			const more = 1 << 46 // bytes; no machine has as much
			fmt.Fprint(os.Stderr, len(make([]byte, more*len(os.Args))))
		},
		"concurrent map": func() {
			m := map[int]int{}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for {
						for i := range 1000 {
							m[i] = i
						}
					}
				})
			}
			all.Wait()
		},
		"panic: unheard": func() { panic("unheard") },
	}
}

// overflow calls itself without an end.
func overflow(n int) int {
	var frame [1 << 10]int                // few calls fill the stack
	frame[n%len(frame)] = overflow(n + 1) //nolint:staticcheck // it must not end
	return frame[0]
}

// TestFatalErrors: a process that the Go runtime ends is not taken for one that was given bad input, which exits with status 2, and it
// leaves no core dump.
func TestFatalErrors(t *testing.T) {
	t.Parallel()
	for words := range deaths() {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			server := exec.CommandContext(t.Context(), os.Args[0], "serve", "--addr", "127.0.0.1:0")
			server.Env = append(os.Environ(), deathVariable+"="+words)
			server.Dir = t.TempDir()
			in, err := server.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			talk, err := server.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(talk)
			if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "listening on") {
				t.Fatalf("it says %q: %v", line, err)
			}
			fmt.Fprintln(in)
			var said strings.Builder
			_, _ = lines.WriteTo(&said)
			err = server.Wait()
			if !strings.Contains(said.String(), words) {
				t.Errorf("it did not die of %s: %.500s", words, said.String())
			}
			if aborted(err) != nil {
				t.Error(aborted(err))
			}
			if left, err := os.ReadDir(server.Dir); err != nil || len(left) > 0 {
				t.Errorf("it left %v: %v", left, err)
			}
		})
	}
}

// aborted reports an end of a process that is not that of SIGABRT; elsewhere than on Unix, one with a status of our own.
func aborted(err error) error {
	end, ok := err.(*exec.ExitError) //nolint:errorlint // Wait returns it itself
	switch {
	case !ok:
		return fmt.Errorf("it ended with %w", err)
	case runtime.GOOS == "windows" && end.ExitCode() > 127:
		return nil
	case end.String() != "signal: aborted" && end.String() != "signal: abort trap":
		return fmt.Errorf("it ended with %w, want signal: aborted", end)
	}
	return nil
}
