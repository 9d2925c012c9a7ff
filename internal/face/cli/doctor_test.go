package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
)

// The data in this binary are those of the manifest, all of them; another byte is found.
func TestCheckData(t *testing.T) {
	entries := slices.DeleteFunc(provenance.Shipped(), func(e provenance.Entry) bool {
		return strings.HasSuffix(e.Path, "selection.yaml") // an input of the fit, not embedded
	})
	files := shippedFiles()
	got := checkData(entries, files)
	if want := len(entries); got.Status != "ok" || !strings.HasPrefix(got.Detail, fmt.Sprintf("%d data sets", want)) {
		t.Errorf("want %d data sets, got %+v", want, got)
	}
	files["internal/cost/power"]["coefficients.yaml"] = []byte("changed")
	if got := checkData(entries, files); got.Status != "fail" || !strings.Contains(got.Detail, "internal/cost/power/coefficients.yaml") {
		t.Errorf("got %+v", got)
	}
	if got := checkData(nil, files); got.Status != "fail" {
		t.Errorf("nothing compared: %+v", got)
	}
}
