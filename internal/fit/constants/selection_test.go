package constants_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
)

const selectionFile = "../../cost/calibrated/selection.yaml"

func selection(t *testing.T) map[string]constants.Choice {
	t.Helper()
	data, err := os.ReadFile(selectionFile)
	if err != nil {
		t.Fatal(err)
	}
	all, err := constants.ReadSelection("selection.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestShippedFollowsTheSelection: what the selection keeps is what is shipped, to the three digits that are written.
func TestShippedFollowsTheSelection(t *testing.T) {
	data, err := os.ReadFile("../../cost/calibrated/coefficients.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var shipped map[string]calibrated.Constants
	if err := yaml.Unmarshal(data, &shipped); err != nil {
		t.Fatal(err)
	}
	chosen := selection(t)
	for generation, c := range shipped {
		choice, ok := chosen[generation]
		if !ok {
			t.Errorf("%s is not in the selection", generation)
			continue
		}
		if got := choice.Take(c); got != c {
			t.Errorf("%s (-shipped +selected):\n%s", generation, cmp.Diff(c, got))
		}
	}
	for generation := range chosen {
		if _, ok := shipped[generation]; !ok {
			t.Errorf("%s is selected and not shipped", generation)
		}
	}
}

func TestTake(t *testing.T) {
	c := selection(t)["blackwell-ultra"]
	if c.Like != "blackwell" || c.Start.GEMM != selection(t)["blackwell"].Start.GEMM || c.Start.Scan.Lanes != 135 {
		t.Errorf("not like blackwell but for its own: %+v", c.Start)
	}
	fit := c.Start
	for _, f := range fit.Forms() {
		for _, p := range f.Parameters {
			*p.Value *= 2
		}
	}
	taken := c.Take(fit)
	start, from, got := c.Start.Forms(), fit.Forms(), taken.Forms()
	for i := range got {
		want := start[i]
		if slices.Contains(c.Fitted, want.Name) {
			want = from[i]
		}
		for k := range want.Parameters {
			if w, g := *want.Parameters[k].Value, *got[i].Parameters[k].Value; w != g {
				t.Errorf("%s %s: want %g, got %g", want.Name, want.Parameters[k].Name, w, g)
			}
		}
	}
}

func TestReadSelectionRefuses(t *testing.T) {
	data, err := os.ReadFile(selectionFile)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"comm.reduce, comm.ring → comm.reduse, comm.ring": `x.yaml: ada: fitted: unknown form "comm.reduse"; nearest: comm.reduce`,
		"compute: 0.72 → compute: 72":                     "start: gemm.wide: compute: must be between 0.02 and 1, got 72",
		"like: hopper → like: hoper":                      "ampere: like: the file has no other generation hoper",
		"like: blackwell → like: blackwell-ultra":         "blackwell-ultra: like: the file has no other generation blackwell-ultra",
		"hopper:\n → hopper:\n  like: ampere\n":           "ampere: like: hopper is itself like ampere",
		"chunk: → chunks:":                                "field chunks not found",
		"ada:\n → ada: 7\nmore:\n":                        "ada:",
	} {
		old, replacement, _ := strings.Cut(change, " → ")
		if !strings.Contains(string(data), old) {
			t.Errorf("no %q to change", old)
		}
		_, err := constants.ReadSelection("x.yaml", []byte(strings.ReplaceAll(string(data), old, replacement)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", change, want, err)
		}
	}
	for _, text := range []string{"", "a: [", "- a"} {
		if _, err := constants.ReadSelection("x.yaml", []byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzReadSelection(f *testing.F) {
	data, err := os.ReadFile(selectionFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("a:\n  like: b\nb:\n  like: a\n"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = constants.ReadSelection("x.yaml", data) })
}
