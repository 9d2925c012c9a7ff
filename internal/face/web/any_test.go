package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/face/web"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// Whatever a plan holds or lacks, it has pages: values of a record are replaced by extreme ones, or are missing.
func TestAnyPlan(t *testing.T) {
	data, err := os.ReadFile("testdata/day.json")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var record any
		if err := json.Unmarshal(data, &record); err != nil {
			t.Fatal(err)
		}
		rate := rapid.Float64Range(0, 0.5).Draw(t, "share that is changed")
		changed, err := json.Marshal(disturb(t, record, rate))
		if err != nil {
			t.Fatal(err)
		}
		p := &opsplan.Response{}
		if json.Unmarshal(changed, p) != nil {
			t.Skip("not a record")
		}
		var html bytes.Buffer
		if err := web.Report(&html, p); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"NaN", "+Inf", "<q>", "ZgotmplZ", "%!"} {
			before, _, _ := strings.Cut(html.String(), `<script type="application/json"`)
			if _, body, _ := strings.Cut(before, "<body>"); strings.Contains(body, bad) {
				at := strings.Index(body, bad)
				t.Errorf("%s in %q", bad, body[max(0, at-80):min(len(body), at+40)])
			}
		}
		if err := web.Markdown(io.Discard, p); err != nil {
			t.Fatal(err)
		}
	})
}

// disturb replaces some values of a record by others of their kind.
func disturb(t *rapid.T, v any, rate float64) any {
	hit := func() bool { return rapid.Float64Range(0, 1).Draw(t, "hit") < rate }
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k == "request" || k == "deployment" || k == "layout" {
				continue // read by other packages
			}
			v[k] = disturb(t, v[k], rate)
		}
		return v
	case []any:
		if hit() {
			return nil
		}
		v = v[:min(len(v), 3)]
		for i := range v {
			v[i] = disturb(t, v[i], rate)
		}
		return v
	case float64:
		if hit() {
			if v == float64(int(v)) {
				return rapid.SampledFrom([]int{0, -1, 1, 1 << 40}).Draw(t, "whole")
			}
			return rapid.SampledFrom([]float64{0, -1, 1e-300, 1e300, 1.7e308, 5e-324, 0.999}).Draw(t, "number")
		}
	case string:
		if hit() {
			return rapid.SampledFrom([]string{"", "<q>x</q>", "ä\u202e", "a. b", strings.Repeat("long ", 50), "\"'`{{.}}"}).Draw(t, "text")
		}
	}
	return v
}
