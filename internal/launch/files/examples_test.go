package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// The files that run "plimsoll serve" itself are what Compose and Kubernetes accept, and run it without rights.
func TestServeExamples(t *testing.T) {
	for _, name := range []string{"compose.yaml", "kubernetes.yaml"} {
		data, err := os.ReadFile(filepath.Join("../../../packaging/serve", name))
		if err != nil {
			t.Fatal(err)
		}
		f := launch.File{Path: name, Data: data}
		for _, reason := range fits(t, f) {
			t.Error(reason)
		}
		for _, doc := range documents(t, f) {
			switch {
			case doc["services"] != nil:
				s := at(t, doc, "services", "plimsoll")
				if s["read_only"] != true || s["user"] != "65532:65532" {
					t.Errorf("compose.yaml: %v", s)
				}
			case doc["kind"] == "Deployment":
				pod := at(t, doc, "spec", "template", "spec")
				if at(t, pod, "securityContext")["runAsNonRoot"] != true {
					t.Error("kubernetes.yaml: root is allowed")
				}
				c, _ := pod["containers"].([]any)[0].(map[string]any)
				if at(t, c, "securityContext")["readOnlyRootFilesystem"] != true || at(t, c, "readinessProbe", "httpGet")["path"] != "/readyz" {
					t.Errorf("kubernetes.yaml: %v", c)
				}
			}
		}
	}
}

// at is an object within a document.
func at(t *testing.T, doc map[string]any, keys ...string) map[string]any {
	t.Helper()
	for _, k := range keys {
		doc, _ = doc[k].(map[string]any)
		if doc == nil {
			t.Fatalf("no %v", keys)
		}
	}
	return doc
}
